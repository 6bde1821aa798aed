"""What we use of psycopg, and of upstream's package for PostgreSQL; and what its errors mean."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final, TypeAlias

from langgraph_once.checkpoint.database import Execute, NewerSchemaError, Row, Statement
from langgraph_once.errors import StorageError
from langgraph_once.floors import install_command

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


_INCOMPLETE: Final = "its tables are not all there; set up as a role that may make them"
_SHALLOW: Final = "ShallowPostgresSaver made its tables, which keep no history: they are not read"
_SHALLOW_LACKS: Final = re.compile(r"\b(checkpoint_id|version)\b")
"""Columns of `PostgresSaver` that the tables of `ShallowPostgresSaver` lack."""
_ADVICE: Final = (
    (
        psycopg_pool.PoolTimeout,
        "none was free, or could be made, in time; does the server run? If so, allow more",
    ),
    (psycopg_pool.PoolClosed, "its saver was closed; open one anew"),
    (NewerSchemaError, "install the version that made it, or a newer one"),
    (
        psycopg.errors.InsufficientPrivilege,
        "GRANT SELECT to read, and INSERT, UPDATE and DELETE to write; set up as the owner",
    ),
    (psycopg.errors.ReadOnlySqlTransaction, "it is read-only; name the primary server"),
    (psycopg.errors.DiskFull, "its disk is full; make room"),
    (psycopg.errors.OutOfMemory, "the server is out of memory; give it more"),
    (psycopg.errors.TooManyConnections, "allow more connections, or make the pools smaller"),
    (psycopg.errors.QueryCanceled, "a statement took too long; raise the statement timeout"),
    (psycopg.errors.LockNotAvailable, "another session holds a lock; try again"),
    (psycopg.errors.DeadlockDetected, "two sessions waited for each other; try again"),
    (psycopg.errors.UndefinedTable, _INCOMPLETE),
    (psycopg.errors.UndefinedColumn, _INCOMPLETE),
    (psycopg.errors.NotNullViolation, "name it in the config: None is the name of nothing"),
    (psycopg.errors.DataCorrupted, "it is damaged; restore a backup"),
    (psycopg.errors.IndexCorrupted, "an index is damaged; REINDEX the database"),
    (
        psycopg.errors.ProgramLimitExceeded,
        "something is too long; shorten ids of threads, namespaces and channels, or metadata",
    ),
    (psycopg.DataError, "it has no form for this value; see the cause"),
)
_NOT_REACHED: Final = "does the server run, and are address, user and password right?"
LOST: Final = "does the server run? Try again, with a new connection"
_CLASSES_OF_CONNECTIONS: Final = ("08", "28", "3D", "57P")
"""How the SQLSTATE begins of an error of connections; many have none."""


def storage_error(
    name: str, error: psycopg.Error | NewerSchemaError, *, of_connection: str = _NOT_REACHED
) -> StorageError:
    """The error to raise from this one.

    Args:
        name: The server and the database; no password.
        error: What the driver raised.
        of_connection: What is advised if it is about the connection.
    """
    advice = next((words for kind, words in _ADVICE if isinstance(error, kind)), None)
    if advice is None:
        advice = of_connection if _is_of_connection(error) else "see the cause"
    # Not the details: they may hold values.
    said = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    if said is None:
        said = "it cannot take this" if _tells_values(error) else str(error).strip()
    if isinstance(error, psycopg.errors.UndefinedColumn) and _SHALLOW_LACKS.search(said):
        advice = _SHALLOW
    line = " ".join(said.split())
    return StorageError(f"cannot use the checkpoint database {name!r}: {line}; {advice}", path=name)


def _is_of_connection(error: Exception) -> bool:
    if not isinstance(error, psycopg.OperationalError):
        return False
    return error.sqlstate is None or error.sqlstate.startswith(_CLASSES_OF_CONNECTIONS)


def _tells_values(error: Exception) -> bool:
    return isinstance(error, psycopg.Error) and not isinstance(error, psycopg.OperationalError)
