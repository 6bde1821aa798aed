"""What tests of remote runs share."""

from __future__ import annotations

import pytest

from tests.unit_tests.remote.clients import Client


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def client(request: pytest.FixtureRequest) -> Client:
    """Both kinds of clients, one after the other."""
    return Client(request.param)
