"""What we use of psycopg, and of upstream's package for PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final, TypeAlias

from langgraph_once.checkpoint.database import Ask, Row

try:
    import psycopg
    import psycopg_pool
    from langgraph.checkpoint.postgres.base import MIGRATIONS
    from psycopg.pq import TransactionStatus
    from psycopg.rows import tuple_row
except ImportError as error:
    raise ImportError(
        "PostgreSQL needs more packages: pip install 'langgraph-once[postgres]'"
    ) from error

__all__ = [
    "UPSTREAM",
    "Asking",
    "Connection",
    "Pool",
    "asking",
    "is_idle",
    "psycopg",
    "psycopg_pool",
    "transaction",
]

# Those that are changed within a transaction.
_CHANGED: Final = ("search_path", "statement_timeout", "jit")
_SETTINGS: Final = Ask("SELECT " + ", ".join(f"current_setting('{name}')" for name in _CHANGED))
_SET: Final = "SELECT " + ", ".join(f"set_config('{name}', ?, true)" for name in _CHANGED)

Connection: TypeAlias = psycopg.Connection[Any]
Pool: TypeAlias = psycopg_pool.ConnectionPool[Any]

UPSTREAM: Final = tuple(MIGRATIONS)
"""Upstream's migrations."""


Asking: TypeAlias = Callable[[Ask], list[Row]]


def asking(conn: Connection) -> Asking:
    """What asks on a connection, whatever its own cursors are like."""
    silent = _cursor(conn)

    def ask(asked: Ask) -> list[Row]:
        if asked.is_try:  # it would undo the transaction that it is in
            return []
        cursor = _cursor(conn) if asked.has_rows else silent
        sql = _as_psycopg(asked.sql)
        if asked.is_many:
            cursor.executemany(sql, asked.values)
        else:
            cursor.execute(sql, asked.values or None)
        return cursor.fetchall() if asked.has_rows else []

    return ask


@contextmanager
def transaction(conn: Connection) -> Iterator[None]:
    """A transaction; within one of the user's a part of it, which leaves its settings as they are.

    An error undoes it.
    """
    with conn.transaction():
        (before,) = asking(conn)(_SETTINGS)
        yield
        asking(conn)(Ask(_SET, before))


def _cursor(conn: Connection) -> psycopg.Cursor[Row]:
    cursor = psycopg.Cursor(conn, row_factory=tuple_row)
    cursor.format = psycopg.pq.Format.BINARY
    return cursor


def is_idle(conn: Connection) -> bool:
    """Whether a connection is in no transaction."""
    return conn.info.transaction_status == TransactionStatus.IDLE


@lru_cache(maxsize=512)
def _as_psycopg(sql: str) -> Any:
    if "%" in sql:
        raise ValueError("statements have no percent signs, which the driver takes for values")
    # Arrays are sent in binary: as text, each byte of a digest would be two.
    return sql.replace("ANY(?)", "ANY(%b)").replace("?::bytea[]", "%b").replace("?", "%s")
