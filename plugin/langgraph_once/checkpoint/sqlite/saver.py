"""The saver for SQLite."""

from __future__ import annotations

import os
import sqlite3

from langgraph.checkpoint.serde.base import SerializerProtocol

from langgraph_once.checkpoint.opening import Opening
from langgraph_once.checkpoint.saver import OnceSaver
from langgraph_once.checkpoint.sqlite.engine import SqliteEngine
from langgraph_once.checkpoint.sqlite.file import (
    connect,
    connect_to_read,
    not_opened,
    prepare,
)
from langgraph_once.checkpoint.sqlite.tables import SqliteTables


class OnceSqliteSaver(OnceSaver):
    """A checkpointer in a SQLite database, for threads and for event loops.

    It has upstream's two tables: it reads what their savers wrote, and goes on beside them. Rows
    that it writes others cannot read until `langgraph-once migrate` rewrites them; with
    a serializer that is `compatible` it writes what all read.

    Args:
        conn: A connection that all threads may use (`check_same_thread=False`).
        serde: Turns values into bytes and back; `OnceSerializer()` by default.
        store_once: Whether long values are stored in pieces, each piece once for a thread.
        path: How the database is named in errors; as it is opened if None.
        makes_tables: Whether tables that are missing are made. Without ours it can delete only.
    """

    engine: SqliteEngine

    def __init__(
        self,
        conn: sqlite3.Connection,
        *,
        serde: SerializerProtocol | None = None,
        store_once: bool = True,
        path: str | os.PathLike[str] | None = None,
        makes_tables: bool = True,
    ) -> None:
        if not isinstance(conn, sqlite3.Connection):
            raise TypeError(
                f"{type(conn).__name__}: pass a connection of `sqlite3`, made with "
                "`check_same_thread=False`; event loops use it, too, from threads"
            )
        engine = SqliteEngine(conn, path, makes_tables=makes_tables)
        super().__init__(engine, SqliteTables, serde=serde, store_once=store_once)

    @property
    def conn(self) -> sqlite3.Connection:
        """The connection."""
        return self.engine.conn

    @classmethod
    def from_conn_string(cls, conn_string: str) -> Opening[OnceSqliteSaver]:
        """`open_sqlite_saver`, under the name that it has in upstream's savers."""
        return open_sqlite_saver(conn_string)


def open_sqlite_saver(
    path: str | os.PathLike[str],
    *,
    serde: SerializerProtocol | None = None,
    store_once: bool = True,
    makes_tables: bool = True,
) -> Opening[OnceSqliteSaver]:
    """Open a database and close it at the end; make the file and its folder when missing.

    Several event loops, threads and processes may have the same file open.

    Args:
        path: The database file, or ":memory:". `~` is the home folder.
        serde: Turns values into bytes and back; `OnceSerializer()` by default.
        store_once: Whether long values are stored in pieces, each piece once for a thread.
        makes_tables: As `OnceSqliteSaver` takes it.

    Returns:
        A context, of `with` or `async with`. It gives a saver that is ready: its tables exist, and
        the file was proven writable.

    Raises:
        StorageError: On entering: the file cannot be opened or written.
    """

    def opened() -> OnceSqliteSaver:
        try:
            conn = connect(prepare(path))
        except (OSError, sqlite3.Error) as error:
            raise not_opened(path, error) from error
        return OnceSqliteSaver(
            conn, serde=serde, store_once=store_once, path=path, makes_tables=makes_tables
        )

    return Opening(opened)


def open_sqlite_to_read(
    path: str | os.PathLike[str], *, serde: SerializerProtocol
) -> Opening[OnceSqliteSaver]:
    """Open a database that is not changed; a server may be using it.

    Args:
        path: The database file.
        serde: Reads what is stored.

    Raises:
        StorageError: On entering: there is no such file, or it cannot be read. On leaving: nobody
            had it open at first, and then someone wrote to it.
    """

    def opened() -> OnceSqliteSaver:
        return OnceSqliteSaver(connect_to_read(path), serde=serde, path=path)

    return Opening(opened, sets_up=False)
