"""Upstream's store for SQLite, opened."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

import aiosqlite
from langgraph.store.sqlite.aio import AsyncSqliteStore

from langgraph_once.checkpoint import BUSY_TIMEOUT_S, Backend, not_opened, prepare
from langgraph_once.config import CheckpointConfig
from langgraph_once.errors import ConfigError
from langgraph_once.store.sealing import (
    Puts,
    Queries,
    by_path,
    set_up,
    with_embeddings_of_values,
)

FIELD: Final = by_path
"""How a filter of upstream's store names a field."""

# Upstream records a migration after it made the table: another process may be between the two.
_RACES = (sqlite3.IntegrityError, sqlite3.OperationalError)


class _SqliteStore(AsyncSqliteStore):
    def _prepare_batch_PUT_queries(self, put_ops: Puts) -> Queries:  # noqa: N802  # upstream's
        return with_embeddings_of_values(super()._prepare_batch_PUT_queries, put_ops)


def check_rows(
    backend: Backend,
    *,
    config: CheckpointConfig,  # noqa: ARG001  # of servers
    index: Any,
) -> None:
    """Find out whether a database can have the store. Nothing is made in it.

    Raises:
        ConfigError: Vectors, which this Python's SQLite cannot have.
        StorageError: The database cannot be opened or written.
    """
    backend.check()
    _check_vectors(index)


def _check_vectors(index: Any) -> None:
    if index and not hasattr(sqlite3.Connection, "enable_load_extension"):
        raise ConfigError(
            "langgraph.json: store.index",
            "the SQLite of this Python loads no extensions, which vectors need; take another "
            "Python, or PostgreSQL",
        )


@asynccontextmanager
async def open_rows(
    backend: Backend,
    *,
    config: CheckpointConfig,  # noqa: ARG001  # of servers
    index: Any,
    ttl: Any,
) -> AsyncIterator[AsyncSqliteStore]:
    """Open a database file, with the store's tables made where they are missing.

    Raises:
        ConfigError: Vectors, which this Python's SQLite cannot have.
        StorageError: It cannot be opened or written.
    """
    _check_vectors(index)
    async with AsyncExitStack() as stack:
        try:
            file = await asyncio.to_thread(prepare, backend.name)
            conn = await stack.enter_async_context(
                aiosqlite.connect(file, isolation_level=None, timeout=BUSY_TIMEOUT_S)
            )
            # Else the vectors of an item stay when it is deleted.
            await conn.execute("PRAGMA foreign_keys = ON")
            store = _SqliteStore(conn, index=index, ttl=ttl)
            await set_up(store.setup, _RACES)
        except (OSError, sqlite3.Error) as error:
            raise not_opened(backend.name, error) from error
        yield store
