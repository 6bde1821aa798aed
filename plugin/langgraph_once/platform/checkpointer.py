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
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from langgraph.checkpoint.base import BaseCheckpointSaver

from langgraph_once import extensions
from langgraph_once.checkpoint import OnceSaver, kind_of, open_saver, stock_wrote
from langgraph_once.errors import StorageError
from langgraph_once.platform.startup import (
    check_extensions,
    hand_on_delta_history,
    serializer_for,
    user_mistakes_stop_the_server,
)
from langgraph_once.platform.targets import types_in_graphs
from langgraph_once.settings import Settings, load_settings, unknown_variables

logger = logging.getLogger(__name__)


@asynccontextmanager
async def saver() -> AsyncIterator[BaseCheckpointSaver[str]]:
    """Yield the saver that the settings ask for; the server enters it once per event loop."""
    hand_on_delta_history()
    async with AsyncExitStack() as stack:
        with user_mistakes_stop_the_server():
            settings = load_settings()
            await asyncio.to_thread(check_extensions, settings)  # there may be no app that asks
            serializer = serializer_for(settings)
            types = await asyncio.to_thread(types_in_graphs)
            opened = await stack.enter_async_context(
                open_saver(
                    settings.database,
                    config=settings.checkpoint,
                    serde=serializer.with_msgpack_allowlist(types),
                )
            )
            for serving in await asyncio.to_thread(extensions.present, "serving"):
                await stack.enter_async_context(serving(opened, settings))
            kind = kind_of(settings.database).kind
            logger.info("Threads are kept in %s, %s", kind, opened.name)
            _tell_of_misspelt_variables()
        telling = asyncio.create_task(_tell_of_stock_writer(opened, settings))
        yield opened
        await telling


def _tell_of_misspelt_variables() -> None:
    """Log what was meant for us: a misspelt encryption key would leave values readable."""
    for name, near in unknown_variables().items():
        if "__" in name and near is not None:
            logger.warning("%s is no setting, and has no effect; did you mean %s?", name, near)


async def _tell_of_stock_writer(saver: OnceSaver, settings: Settings) -> None:
    """Log that LangGraph's saver writes beside ours; the start does not wait for it."""
    with suppress(StorageError):  # it was only asked for
        if found := await asyncio.to_thread(stock_wrote, saver):
            level = logging.INFO if settings.serde.compatible else logging.WARNING
            logger.log(level, "%s: %s", saver.name, found)
