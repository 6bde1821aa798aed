"""What we use of psycopg, and of upstream's package for PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final, TypeAlias

from langgraph_once.checkpoint.database import Execute, Row, Statement
from langgraph_once.extras import install_command

try:
    import psycopg
    import psycopg_pool
    from langgraph.checkpoint.postgres.base import MIGRATIONS
    from psycopg.pq import TransactionStatus
    from psycopg.rows import tuple_row
except ImportError as error:
    raise ImportError(f"PostgreSQL needs an extra: {install_command('postgres')}") from error

__all__ = [
    "UPSTREAM",
    "Connection",
    "Pool",
    "execute_on",
    "is_idle",
    "psycopg",
    "psycopg_pool",
    "transaction",
]

# Those that are changed within a transaction.
_CHANGED: Final = ("search_path", "statement_timeout", "jit")
_SETTINGS: Final = Statement(
    "SELECT " + ", ".join(f"current_setting('{name}')" for name in _CHANGED)
)
_SET: Final = "SELECT " + ", ".join(f"set_config('{name}', ?, true)" for name in _CHANGED)

Connection: TypeAlias = psycopg.Connection[Any]
Pool: TypeAlias = psycopg_pool.ConnectionPool[Any]

UPSTREAM: Final = tuple(MIGRATIONS)
"""Upstream's migrations."""


def execute_on(conn: Connection, *, prepares: bool | None = None) -> Execute:
    """What executes statements on a connection, whatever its own cursors are like.

    Args:
        conn: The connection.
        prepares: Whether each is prepared at its first use, where the connection prepares any; if
            None, once it was used often.
    """
    silent = _cursor(conn)

    def execute(statement: Statement) -> list[Row]:
        if statement.is_try:  # it would undo the transaction that it is in
            return []
        cursor = _cursor(conn) if statement.has_rows else silent
        sql = _as_psycopg(statement.sql)
        if statement.is_many:
            cursor.executemany(sql, statement.values)
        else:
            cursor.execute(sql, statement.values or None, prepare=prepares)
        return cursor.fetchall() if statement.has_rows else []

    return execute


@contextmanager
def transaction(conn: Connection) -> Iterator[None]:
    """A transaction; within one of the user's a part of it, which leaves its settings as they are.

    An error undoes it.
    """
    with conn.transaction():
        (before,) = execute_on(conn)(_SETTINGS)
        yield
        execute_on(conn)(Statement(_SET, before))


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
