"""Fixtures of the tests of event streams: their server, and what they ask it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from demo.dev_server import DevServer
from langgraph_once.platform.sse.encodings import ENCODERS

__all__ = ["ASKED", "ENCODINGS", "MANIFEST", "lockstep_input", "sse_server"]

GRAPHS = "tests.integration_tests.sse_graphs"
WRAPPED = "langgraph_once.platform.graphs"
ASKED: Any = {"messages": [{"role": "user", "content": "Well?"}]}
ENCODINGS = sorted(ENCODERS)

MANIFEST: dict[str, Any] = {
    "dependencies": ["."],
    "graphs": {
        "lockstep": f"{GRAPHS}:lockstep_graph",
        "resting_plain": f"{GRAPHS}:resting_graph",
        "slow_plain": f"{GRAPHS}:slow_graph",
        "slow": {"path": f"{WRAPPED}:slow", "once": {"target": f"{GRAPHS}:slow_graph"}},
    },
    "checkpointer": {"path": "langgraph_once.platform.checkpointer.saver"},
    "http": {"app": "langgraph_once.platform.app:app"},
}


@pytest.fixture(scope="module")
def sse_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    """A server with our app, and graphs most of which are not wrapped."""
    folder = tmp_path_factory.mktemp("sse")
    config = folder / "langgraph.json"
    config.write_text(json.dumps(MANIFEST))
    with DevServer(config, cwd=folder) as running:
        yield running


def lockstep_input(folder: Path) -> dict[str, Any]:
    """What the graph `lockstep` is asked."""
    return {**ASKED, "folder": str(folder)}
