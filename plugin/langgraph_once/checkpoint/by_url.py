"""From a path or a URL to the database that it names, whichever that is."""

from __future__ import annotations

from typing import Any, Final

from langgraph.checkpoint.serde.base import SerializerProtocol

from langgraph_once.checkpoint.backend import Backend, Opening
from langgraph_once.checkpoint.postgres.backend import PostgresBackend
from langgraph_once.checkpoint.sqlite.backend import SqliteBackend
from langgraph_once.config import CheckpointConfig

BACKENDS: Final[list[type[Backend]]] = [PostgresBackend, SqliteBackend]
"""All kinds of databases; the first that takes an address has it."""


def kind_of(database: str) -> type[Backend]:
    """Return the kind of database that a path or URL looks like."""
    return next(kind for kind in BACKENDS if kind.takes(database))


def backend_of(database: str) -> Backend:
    """Return the database that a path or URL names.

    Raises:
        ConfigError: A URL of a database that is not known.
    """
    return kind_of(database)(database)


def open_saver(
    database: str,
    *,
    config: CheckpointConfig,
    serde: SerializerProtocol | None = None,
    makes_tables: bool = True,
) -> Opening[Any]:
    """Open the database that a path or URL names, and close it at the end.

    Args:
        database: A path of SQLite, "sqlite:///path" or "postgresql://user@host/database".
        config: How it is opened.
        serde: Turns values into bytes and back; `OnceSerializer()` by default.
        makes_tables: Whether tables that are missing are made. If not, upstream's must be there,
            and without ours the saver can delete only.

    Raises:
        ConfigError: A URL of another database.
        StorageError: On entering: the database cannot be opened or written.
    """
    return backend_of(database).open(config=config, serde=serde, makes_tables=makes_tables)
