"""Upstream's store for PostgreSQL, opened."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

from langgraph_once.checkpoint import Backend
from langgraph_once.checkpoint.postgres.engine import psycopg, psycopg_pool, storage_error
from langgraph_once.checkpoint.postgres.saver import ask_postgres
from langgraph_once.config import CheckpointConfig
from langgraph_once.errors import ConfigError
from langgraph_once.metrics import pools
from langgraph_once.store.sealing import (
    Puts,
    Queries,
    by_key,
    set_up,
    with_embeddings_of_values,
)

# After `driver`, which says which packages are missing.
from langgraph.store.postgres.aio import AsyncPostgresStore  # isort: skip
from psycopg.rows import dict_row  # isort: skip

FIELD: Final = by_key
"""How a filter of upstream's store names a field."""
_HAS_VECTORS: Final = (
    "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector') "
    "OR EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector')"
)

_RACES = (
    psycopg.errors.UniqueViolation,
    psycopg.errors.DuplicateTable,
    psycopg.errors.DuplicateColumn,
    psycopg.errors.DuplicateObject,
    psycopg.errors.DeadlockDetected,
)


class _PostgresStore(AsyncPostgresStore):
    def _prepare_batch_PUT_queries(self, put_ops: Puts) -> Queries:  # noqa: N802  # upstream's
        return with_embeddings_of_values(super()._prepare_batch_PUT_queries, put_ops)


def check_rows(backend: Backend, *, config: CheckpointConfig, index: Any) -> None:
    """Ask a database whether it can have the store. Nothing is made in it.

    Raises:
        ConfigError: A schema behind a transaction pooler; vectors,
            which it cannot have.
        StorageError: It does not answer.
    """
    if config.transaction_pooler and config.schema:
        raise ConfigError(
            "ONCE_CHECKPOINT__TRANSACTION_POOLER",
            "upstream's store sets no schema for each transaction; set it for the role, as with "
            "ALTER ROLE … SET search_path = …, and not here",
        )
    if not ask_postgres(backend.database, _HAS_VECTORS if index else "SELECT true"):
        raise ConfigError(
            "langgraph.json: store.index",
            "this PostgreSQL has no extension `vector`, which vectors need; install pgvector",
        )


@asynccontextmanager
async def open_rows(
    backend: Backend, *, config: CheckpointConfig, index: Any, ttl: Any
) -> AsyncIterator[AsyncPostgresStore]:
    """Open a pool of connections, with the store's tables made where they are missing.

    Raises:
        ConfigError: A schema behind a transaction pooler; vectors, which it cannot have.
        StorageError: The database cannot be reached or written.
    """

    async with AsyncExitStack() as stack:
        try:
            # The pool would try for long.
            await asyncio.to_thread(check_rows, backend, config=config, index=index)
            pool = _pool(backend.database, config)
            pools.add(pool)
            stack.callback(pools.close, pool)
            await stack.enter_async_context(pool)
            store = _PostgresStore(pool, index=index, ttl=ttl)
            await set_up(lambda: _set_up(store, pool, config.schema), _RACES)
        except psycopg.Error as error:
            raise storage_error(backend.name, error) from error
        yield store


def _pool(url: str, config: CheckpointConfig) -> psycopg_pool.AsyncConnectionPool[Any]:
    async def configure(conn: psycopg.AsyncConnection[Any]) -> None:
        if config.schema:
            # What else was looked at may have the type of vectors.
            await conn.execute(
                "SELECT set_config('search_path', "
                "quote_ident(%s) || ', ' || current_setting('search_path'), false)",
                [config.schema],
            )

    settings: Any = {
        "autocommit": True,
        # Behind a transaction pooler the next transaction has another session: nothing is prepared.
        "prepare_threshold": None if config.transaction_pooler else 0,
        "row_factory": dict_row,
    }
    # Upstream's `from_conn_string` takes no `configure`, which the schema needs.
    return psycopg_pool.AsyncConnectionPool(
        url,
        kwargs=settings,
        min_size=1,
        max_size=config.pool_max_size,
        configure=configure,
        open=False,
        name="langgraph-once-store",
    )


async def _set_up(store: AsyncPostgresStore, pool: Any, schema: str) -> None:
    if schema:
        name = psycopg.sql.Identifier(schema)
        async with pool.connection() as conn:
            await conn.execute(psycopg.sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(name))
    await store.setup()
