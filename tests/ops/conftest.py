"""The databases are those of the checkpoint's tests."""
