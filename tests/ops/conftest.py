"""The databases are those of the checkpoint's tests."""

from tests.integration_tests.checkpoint.conftest import (
    cuts_short_values,
    database,
    here,
    path,
    saver,
    serde,
)

__all__ = ["cuts_short_values", "database", "here", "path", "saver", "serde"]
