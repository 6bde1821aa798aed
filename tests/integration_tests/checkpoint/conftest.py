"""The databases are those of the room's unit tests."""

from tests.unit_tests.checkpoint.conftest import database, path, saver, serde

__all__ = ["database", "path", "saver", "serde"]
