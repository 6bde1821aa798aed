"""What all tests of agents need."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest
from langgraph.warnings import LangGraphDeprecatedSinceV10

from tests.agents.provider import Provider, serving

with warnings.catch_warnings():
    warnings.simplefilter("ignore", LangGraphDeprecatedSinceV10)
    import trustcall  # noqa: F401  # it imports by a name that LangGraph gives up


@pytest.fixture(scope="session")
def provider() -> Iterator[Provider]:
    """A provider of models on this machine."""
    with serving() as running:
        yield running
