"""`store.path` in `langgraph.json`: long-term memory in SQLite or PostgreSQL, encrypted at rest.

"store": {
  "path": "langgraph_once.platform.store.store",
  "index": {"embed": "openai:text-embedding-3-small", "dims": 1536},
  "ttl": {"default_ttl": 10080, "sweep_interval_minutes": 60},
  "once": {"path": "data/store.sqlite"}
}

`index` and `ttl` are the server's own; it leaves it to a store of another path to obey them.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from langgraph.store.base import BaseStore

from langgraph_once.checkpoint import kind_of
from langgraph_once.manifest import Manifest
from langgraph_once.platform.startup import (
    check_store,
    serializer_for,
    store_database,
    user_mistakes_stop_the_server,
)
from langgraph_once.settings import load_settings
from langgraph_once.store import open_store

logger = logging.getLogger(__name__)


@asynccontextmanager
async def store() -> AsyncIterator[BaseStore]:
    """Yield the store that the settings ask for; the server enters it once per event loop."""
    async with AsyncExitStack() as stack:
        with user_mistakes_stop_the_server():
            manifest = Manifest.from_environment(os.environ)
            settings = load_settings(manifest)
            check_store(settings, manifest)
            database = store_database(settings)
            opened = await stack.enter_async_context(
                open_store(
                    database,
                    serde=serializer_for(settings),
                    config=settings.checkpoint,
                    index=await asyncio.to_thread(_index, manifest.store_option("index")),
                    ttl=manifest.store_option("ttl"),
                )
            )
            is_encrypted = bool(settings.serde.encryption_keys)
            kept = "encrypted" if is_encrypted else "not encrypted"
            kind = kind_of(database).kind
            logger.info("The store is kept in %s, %s, its values %s", kind, opened.name, kept)
        yield opened


def _index(index: Any) -> Any:
    """`store.index`, with what its `embed` names, as the server finds it."""
    if not index:
        return None
    from langgraph_api.graph import resolve_embeddings

    return {**index, "embed": resolve_embeddings(index)}
