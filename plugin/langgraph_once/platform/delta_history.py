"""The server's adapter around savers is made to ask ours for the history of a delta channel.

The adapter is a saver itself, and has the way that all savers have: from one checkpoint to the one
before, each a question of its own. Ours walks once.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import DeltaChannelHistory

__all__ = ["hand_on_delta_history"]

_ADAPTERS: Final = "langgraph_api._checkpointer._adapter"


def hand_on_delta_history() -> None:
    """Do it once for the process, if that is a server: all of its threads are in our saver."""
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
