"""What all tests of agents need."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.agents.provider import Provider, serving


@pytest.fixture(scope="session")
def provider() -> Iterator[Provider]:
    """A provider of models on this machine."""
    with serving() as running:
        yield running
