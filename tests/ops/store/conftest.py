"""The databases are those of the store's own tests."""
