"""From a path or a URL to a saver, whichever database it names."""

from __future__ import annotations

import re
from typing import Any, Protocol

from langgraph.checkpoint.serde.base import SerializerProtocol

from langgraph_once.checkpoint.opening import Opening
from langgraph_once.checkpoint.sqlite.file import ask_sqlite, check_sqlite_path, claim_sqlite
from langgraph_once.checkpoint.sqlite.saver import open_sqlite_saver, open_sqlite_to_read
from langgraph_once.config import CheckpointConfig
from langgraph_once.errors import ConfigError

__all__ = [
    "Claim",
    "ask_database",
    "check_database",
    "claim_database",
    "database_kind",
    "is_postgres",
    "open_saver",
    "open_to_read",
    "sqlite_path",
]

_SQLITE = "sqlite:///"
_LIBPQ = re.compile(r"(^|\s)(host|hostaddr|dbname|user|password|service)\s*=")
_POSTGRES = ("postgresql://", "postgres://")
_ALMOST_A_URL = re.compile(r"[a-z][a-z0-9+.-]+:/|(postgres|postgresql|sqlite)(:|//)", re.IGNORECASE)
"""A drive of Windows has one letter."""


class Claim(Protocol):
    """What nobody else has until it is closed."""

    def close(self) -> object:
        """Give it up."""


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
    if not is_postgres(database):
        return open_sqlite_saver(
            sqlite_path(database),
            serde=serde,
            store_once=config.stores_once,
            makes_tables=makes_tables,
        )
    from langgraph_once.checkpoint.postgres.saver import open_postgres_saver

    return open_postgres_saver(
        database,
        serde=serde,
        store_once=config.stores_once,
        max_size=config.pool_max_size,
        statement_timeout_s=config.statement_timeout_s or None,
        schema=config.schema or None,
        is_pooler=config.transaction_pooler,
        makes_tables=makes_tables,
    )


def open_to_read(
    database: str, *, config: CheckpointConfig, serde: SerializerProtocol
) -> Opening[Any]:
    """Open a database that is not changed, not even to make tables that are missing.

    Args:
        database: As `open_saver` takes it.
        config: How it is opened.
        serde: Reads what is stored.

    Raises:
        ConfigError: A URL of another database.
        StorageError: On entering: the database is not there, or cannot be read.
    """
    if not is_postgres(database):
        return open_sqlite_to_read(sqlite_path(database), serde=serde)
    from langgraph_once.checkpoint.postgres.saver import open_postgres_to_read

    return open_postgres_to_read(database, serde=serde, schema=config.schema or None)


def check_database(database: str) -> None:
    """Prove that a database can be used. Nothing is made in it, and no file is left behind.

    A PostgreSQL must answer; what the saver may do there, it finds out when it is opened. A file of
    SQLite must be one that can be opened and written, or be made.

    Raises:
        ConfigError: A URL of another database.
        StorageError: It cannot be used.
    """
    if is_postgres(database):
        ask_database(database)
    else:
        check_sqlite_path(sqlite_path(database))


def ask_database(database: str) -> None:
    """Ask a database that a saver has opened whether it answers, by a connection of its own.

    Raises:
        StorageError: It does not.
    """
    if is_postgres(database):
        from langgraph_once.checkpoint.postgres.saver import ask_postgres

        ask_postgres(database)
    elif (path := sqlite_path(database)) != ":memory:":
        ask_sqlite(path)


def claim_database(database: str, *, schema: str = "") -> Claim | None:
    """Claim a database for what one process does at a time; None if another has the claim.

    Args:
        database: As `open_saver` takes it.
        schema: As `CheckpointConfig` has it.

    Raises:
        StorageError: It cannot be claimed.
    """
    if not is_postgres(database):
        return claim_sqlite(sqlite_path(database))
    from langgraph_once.checkpoint.postgres.saver import claim_postgres

    return claim_postgres(database, schema or None)


def is_postgres(database: str) -> bool:
    """Whether a path or URL names a PostgreSQL."""
    return database.startswith(_POSTGRES)


def database_kind(database: str) -> str:
    """The product that a path or URL names."""
    return "PostgreSQL" if is_postgres(database) else "SQLite"


def sqlite_path(database: str) -> str:
    """The path of a file of SQLite, or ":memory:".

    Raises:
        ConfigError: A URL of another database.
    """
    if "://" not in database:
        if _LIBPQ.search(database):
            problem = "write the database of PostgreSQL as postgresql://user@host/database"
            raise ConfigError("ONCE_DATABASE_URL", problem)
        if found := _ALMOST_A_URL.match(database):  # as a path, it would name a new file
            problem = (
                f"a URL has `://` after its scheme, this begins with {found[0]!r}; write "
                "sqlite:///path or postgresql://user@host/database"
            )
            raise ConfigError("ONCE_DATABASE_URL", problem)
        return database
    if not database.startswith(_SQLITE):
        scheme = database.partition("://")[0]
        raise ConfigError(
            "ONCE_DATABASE_URL",
            f"{scheme!r} is no database that is known; write sqlite:///path or postgresql://…",
        )
    return database.removeprefix(_SQLITE)
