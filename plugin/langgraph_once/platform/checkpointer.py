"""`checkpointer.path` in `langgraph.json`: threads in SQLite or PostgreSQL, each thing once.

"checkpointer": {
  "path": "langgraph_once.platform.checkpointer.saver",
  "once": {"path": "data/threads.sqlite", "serde": {"compression": "zstd"}}
}
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from langgraph.checkpoint.base import BaseCheckpointSaver

from langgraph_once.checkpoint import open_saver
from langgraph_once.platform.delta_history import hand_on_delta_history
from langgraph_once.platform.startup import serializer_for, user_mistakes_stop_the_server
from langgraph_once.platform.state_types import types_in_graphs
from langgraph_once.settings import load_settings

__all__ = ["saver"]

logger = logging.getLogger(__name__)


@asynccontextmanager
async def saver() -> AsyncIterator[BaseCheckpointSaver[str]]:
    """Yield the saver that the settings ask for; the server enters it once per event loop."""
    hand_on_delta_history()
    async with AsyncExitStack() as stack:
        with user_mistakes_stop_the_server():
            settings = load_settings()
            serializer = serializer_for(settings)
            types = await asyncio.to_thread(types_in_graphs)
            opened = await stack.enter_async_context(
                open_saver(
                    settings.database,
                    config=settings.checkpoint,
                    serde=serializer.with_msgpack_allowlist(types),
                )
            )
            logger.info("Threads are kept in %s", opened.name)
        yield opened
