"""What the server is made to ask ours, where it has no way of its own (langgraph-api 0.16.7)."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import DeltaChannelHistory

_ADAPTERS: Final = "langgraph_api._checkpointer._adapter"


def hand_on_delta_history() -> None:
    """Make the server's adapter around savers ask ours for the history of a delta channel.

    The adapter is a saver itself, and has the way that all savers have: from one checkpoint to the
    one before, each a question of its own. Ours walks once. This is done once for the process, if
    that is a server: all of its threads are in our saver.
    """
    adapter = getattr(sys.modules.get(_ADAPTERS), "_CustomCheckpointerAdapter", None)
    if adapter is not None and "aget_delta_channel_history" not in vars(adapter):
        adapter.aget_delta_channel_history = _aget_delta_channel_history


async def _aget_delta_channel_history(
    adapter: Any, *, config: RunnableConfig, channels: Sequence[str]
) -> Mapping[str, DeltaChannelHistory]:
    found: Mapping[str, DeltaChannelHistory] = await adapter._inner.aget_delta_channel_history(  # noqa: SLF001  # no other way
        config=config, channels=channels
    )
    return found


_GRAPHS: Final = "langgraph_api.graph"


def hand_on_transformers(graph_id: str, target: str) -> None:
    """Register the v3 transformers that a graph's module exports, if this process is a server.

    The server looks for `stream_transformers` in the module that `path` names, which is ours, once
    for all graphs. Its registry is by graph, so each gets its own. This can go when the server asks
    the graph; `tests/integration_tests/test_v3_transformers.py` notices if it never does.

    Args:
        graph_id: The name of the graph there.
        target: The graph as `package.module:name`, which has been imported.
    """
    known: Any = getattr(sys.modules.get(_GRAPHS), "GRAPH_STREAM_TRANSFORMERS", None)
    made = getattr(sys.modules.get(target.partition(":")[0]), "stream_transformers", None)
    if known is not None and callable(made):
        known[graph_id] = made
