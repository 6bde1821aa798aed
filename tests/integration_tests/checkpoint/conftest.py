"""The databases are those of the room's unit tests."""

import pytest

from langgraph_once.checkpoint import values
from tests.unit_tests.checkpoint.conftest import database, here, path, saver, serde

__all__ = ["database", "here", "path", "saver", "serde"]


@pytest.fixture
def cuts_short_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values are cut from two kilobytes on, so that a small thread has pieces."""
    monkeypatch.setattr(values, "MIN_CUT_BYTES", 2048)
