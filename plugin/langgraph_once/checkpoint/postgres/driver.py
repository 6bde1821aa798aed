"""What we use of psycopg, and of upstream's package for PostgreSQL."""

from __future__ import annotations

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

__all__ = ["UPSTREAM", "Connection", "Pool", "ask", "is_idle", "psycopg", "psycopg_pool"]

Connection: TypeAlias = psycopg.Connection[Any]
Pool: TypeAlias = psycopg_pool.ConnectionPool[Any]

UPSTREAM: Final = tuple(MIGRATIONS)
"""Upstream's migrations."""


def ask(conn: Connection, asked: Ask) -> list[Row]:
    """Ask on a connection, whatever its own cursors are like."""
    cursor = psycopg.Cursor(conn, row_factory=tuple_row)
    cursor.format = psycopg.pq.Format.BINARY
    if asked.is_many:
        cursor.executemany(_as_psycopg(asked.sql), asked.values)
    else:
        cursor.execute(_as_psycopg(asked.sql), asked.values or None)
    return cursor.fetchall() if asked.has_rows else []


def is_idle(conn: Connection) -> bool:
    """Whether a connection is in no transaction."""
    return conn.info.transaction_status == TransactionStatus.IDLE


@lru_cache(maxsize=512)
def _as_psycopg(sql: str) -> Any:
    if "%" in sql:
        raise ValueError("statements have no percent signs, which the driver takes for values")
    # Arrays are sent in binary: as text, each byte of a digest would be two.
    return sql.replace("ANY(?)", "ANY(%b)").replace("?::bytea[]", "%b").replace("?", "%s")
