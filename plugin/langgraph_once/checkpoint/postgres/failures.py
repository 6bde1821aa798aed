"""What a PostgreSQL database cannot do, in words that say which one it is, and what helps."""

from __future__ import annotations

import re
from typing import Final

from langgraph_once.checkpoint.database import NewerSchemaError
from langgraph_once.checkpoint.postgres.driver import psycopg, psycopg_pool
from langgraph_once.errors import StorageError

_INCOMPLETE: Final = "its tables are not all there; set up as a role that may make them"
_SHALLOW: Final = "ShallowPostgresSaver made its tables, which keep no history: they are not read"
_SHALLOW_LACKS: Final = re.compile(r"\b(checkpoint_id|version)\b")
"""Columns that the tables of `PostgresSaver` have, and those of `ShallowPostgresSaver` lack."""
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
