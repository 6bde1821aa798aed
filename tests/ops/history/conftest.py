"""The databases are those of the checkpoint's unit tests."""

from tests.unit_tests.checkpoint.conftest import database, here, path

__all__ = ["database", "here", "path"]
