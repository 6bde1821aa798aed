"""The corpus as a server can serve it: each scenario's graph twice, to be wrapped and as it is.

A server keeps its graphs, and the models of a scenario count their calls: each of these graphs
is for one play.
"""

from __future__ import annotations

from typing import Any

from tests.corpus.scenarios import SCENARIOS

__all__ = ["graph_id"]


def graph_id(name: str, kind: str) -> str:
    """What the graph of a scenario is called here: `kind` is `once` or `stock`."""
    return f"{kind}_{name.replace('-', '_')}"


def _servable(made: Any) -> Any:
    """A graph without its own checkpointer, with which the server would refuse it."""
    return made.copy({"checkpointer": None}) if made.checkpointer else made


globals().update(
    {
        graph_id(scenario.name, kind): _servable(scenario.graph())
        for scenario in SCENARIOS
        for kind in ("once", "stock")
    }
)
