"""From a path or a URL to a store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from typing import Any, Final

from langgraph_once.checkpoint.backend import Backend
from langgraph_once.checkpoint.by_url import backend_of
from langgraph_once.config import CheckpointConfig, StoreConfig
from langgraph_once.errors import ConfigError
from langgraph_once.serde import OnceSerializer
from langgraph_once.store.once_store import OnceStore
from langgraph_once.store.sealing import Sealing

_FILE: Final = "store.sqlite"


@asynccontextmanager
async def open_store(
    database: str,
    *,
    serde: OnceSerializer,
    config: CheckpointConfig | None = None,
    index: Any = None,
    ttl: Any = None,
) -> AsyncIterator[OnceStore]:
    """Open the store in a database, and close it at the end.

    Expired items are deleted meanwhile, where `ttl` says that there are any.

    Args:
        database: A path of SQLite, "sqlite:///path" or "postgresql://user@host/database".
        serde: Encrypts values, if it has keys.
        config: How PostgreSQL is connected to.
        index: Of upstream's store: which vectors it has, for semantic search.
        ttl: Of upstream's store: when items expire.

    Raises:
        ConfigError: A URL of another database, or settings that do not go together.
        StorageError: The database cannot be opened or written.
    """
    backend, config = backend_of(database), config or CheckpointConfig()
    upstream = _upstream(backend)
    async with AsyncExitStack() as stack:
        opening = upstream.open_rows(backend, config=config, index=index, ttl=ttl)
        rows = await stack.enter_async_context(opening)
        if ttl:
            await rows.start_ttl_sweeper()
            stack.push_async_callback(rows.stop_ttl_sweeper)
        yield OnceStore(rows, Sealing(serde, database), backend.name, field=upstream.FIELD)


def _upstream(backend: Backend) -> Any:
    """The module that opens upstream's store in a database."""
    return import_module(backend.store_module)


def default_database(threads: str) -> str:
    """Where the store is, beside the database of threads: a file of the same folder, or in it.

    Args:
        threads: A path or a URL.
    """
    if backend_of(threads).file is None:
        return threads
    folder = max(threads.rfind("/"), threads.rfind("\\")) + 1
    return threads[:folder] + _FILE


def check_place(database: str, *, config: CheckpointConfig, index: Any) -> None:
    """Prove that a database can have the store. Nothing is made in it, and no file is left behind.

    Args:
        database: As `open_store`.
        config: As `open_store`.
        index: As `open_store`.

    Raises:
        ConfigError: A URL of another database, or settings that it cannot obey.
        StorageError: It cannot be used.
    """
    backend = backend_of(database)
    _upstream(backend).check_rows(backend, config=config, index=index)


def check_index(index: Any, config: StoreConfig, *, must_encrypt: bool) -> None:
    """Refuse vectors, which are not encrypted, where everything must be.

    Args:
        index: As `open_store`.
        config: Whether they are allowed all the same.
        must_encrypt: Whether everything must be encrypted.

    Raises:
        ConfigError: They are not.
    """
    if index and must_encrypt and not config.allow_vectors:
        raise ConfigError(
            "langgraph.json: store.index",
            "the vectors of values are stored unencrypted, and tell something of them, which "
            "`encryption` forbids; remove the index, or allow it: "
            "ONCE_STORE__ALLOW_VECTORS=true",
        )
