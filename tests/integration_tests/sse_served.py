"""What the tests of event streams serve, and what they ask."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langgraph_once.platform.sse.encodings import ENCODERS

__all__ = ["ASKED", "ENCODINGS", "MANIFEST", "lockstep_input"]

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


def lockstep_input(folder: Path) -> dict[str, Any]:
    """What the graph `lockstep` is asked."""
    return {**ASKED, "folder": str(folder)}
