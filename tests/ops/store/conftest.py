"""The databases are those of the store's own tests."""

from tests.unit_tests.store.conftest import index, place

__all__ = ["index", "place"]
