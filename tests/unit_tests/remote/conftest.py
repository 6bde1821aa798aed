"""What tests of remote runs share."""

from __future__ import annotations

import pytest

from langgraph_once.remote import retries
from tests.unit_tests.remote.clients import Client


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """No waits before a client tries again; a test that is about them sets its own."""
    monkeypatch.setattr(retries, "FIRST_WAIT_S", 0)
    monkeypatch.setattr(retries, "MAX_WAIT_S", 0)


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def client(request: pytest.FixtureRequest) -> Client:
    """Both kinds of clients, one after the other."""
    return Client(request.param)
