"""The v3 transformers that the module of a wrapped graph exports beside it.

langgraph-api 0.16.7 looks for `stream_transformers` in the module that `path` names, which is
ours, once for all graphs. Its registry is by graph, so each gets its own. This can go when the
server asks the graph; `tests/integration_tests/test_v3_transformers.py` notices if it never does.
"""

from __future__ import annotations

import sys
from typing import Any, Final

__all__ = ["hand_on_transformers"]

_GRAPHS: Final = "langgraph_api.graph"


def hand_on_transformers(graph_id: str, target: str) -> None:
    """Register what the module of a graph exports, if this process is a server.

    Args:
        graph_id: The name of the graph there.
        target: The graph as `package.module:name`, which has been imported.
    """
    known: Any = getattr(sys.modules.get(_GRAPHS), "GRAPH_STREAM_TRANSFORMERS", None)
    made = getattr(sys.modules.get(target.partition(":")[0]), "stream_transformers", None)
    if known is not None and callable(made):
        known[graph_id] = made
