"""What tests of the platform share."""

import pytest

from langgraph_once.platform.health import graph_health


@pytest.fixture(autouse=True)
def dev_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process is a `langgraph dev`."""
    monkeypatch.setenv("LANGSMITH_LANGGRAPH_API_VARIANT", "local_dev")


@pytest.fixture(autouse=True)
def no_factory_has_failed() -> None:
    """What is remembered of factories is the process's, and other tests have some that fail."""
    graph_health._failures.clear()
