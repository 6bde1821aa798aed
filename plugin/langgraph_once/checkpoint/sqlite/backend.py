"""SQLite as a `Backend`: a file, or a database in memory. And the saver for it."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from langgraph.checkpoint.serde.base import SerializerProtocol

from langgraph_once.checkpoint.backend import Backend, Claim, Opening
from langgraph_once.checkpoint.database import Execute, Row, Statement
from langgraph_once.checkpoint.saver import OnceSaver
from langgraph_once.checkpoint.sqlite.engine import (
    IN_MEMORY,
    SqliteEngine,
    check_sqlite_path,
    connect,
    connect_to_read,
    kind,
    not_opened,
    prepare,
)
from langgraph_once.checkpoint.sqlite.tables import SqliteTables
from langgraph_once.config import CheckpointConfig
from langgraph_once.errors import ConfigError


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
        makes_tables: Whether tables that are missing are made. Without ours it can delete only.

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


_SQLITE: Final = "sqlite:///"
_LIBPQ: Final = re.compile(r"(^|\s)(host|hostaddr|dbname|user|password|service)\s*=")
_ALMOST_A_URL: Final = re.compile(
    r"[a-z][a-z0-9+.-]+:/|(postgres|postgresql|sqlite)(:|//)", re.IGNORECASE
)
"""A drive of Windows has one letter."""


class SqliteBackend(Backend):
    """A database of SQLite.

    Attributes:
        path: Of its file, or ":memory:".
    """

    kind = "SQLite"
    store_module = "langgraph_once.store.sqlite"
    item_label = "substr(prefix, 1, instr(prefix || '.', '.') - 1)"
    item_bytes = "length(CAST(value AS BLOB))"
    tables = SqliteTables

    def __init__(self, database: str) -> None:
        super().__init__(database)
        self.path = _path(database)

    @classmethod
    def takes(cls, database: str) -> bool:  # noqa: ARG003  # all are
        """Take any: what names no other database is a path, or an error."""
        return True

    @property
    def name(self) -> str:
        """Its path."""
        return self.path

    @property
    def file(self) -> Path | None:
        """Its file."""
        return None if self.path == IN_MEMORY else Path(self.path).expanduser()

    def open(
        self, *, config: CheckpointConfig, serde: SerializerProtocol | None, makes_tables: bool
    ) -> Opening[Any]:
        """Open it, and close it at the end."""
        return open_sqlite_saver(
            self.path, serde=serde, store_once=config.store_once, makes_tables=makes_tables
        )

    def open_to_read(self, *, config: CheckpointConfig, serde: SerializerProtocol) -> Opening[Any]:
        """Open its file without a change; a server may be using it.

        Raises:
            StorageError: On entering: there is no such file, or it cannot be read. On leaving:
                nobody had it open at first, and then someone wrote to it.
        """

        def opened() -> OnceSqliteSaver:
            return OnceSqliteSaver(connect_to_read(self.path), serde=serde, path=self.path)

        return Opening(opened, sets_up=False)

    @contextmanager
    def snapshot(self, schema: str) -> Iterator[Execute]:
        """Open its file to read, in one transaction."""
        with closing(connect_to_read(self.path)) as conn:
            conn.isolation_level = None

            def execute(statement: Statement) -> list[Row]:
                try:
                    return conn.execute(statement.sql, statement.values).fetchall()
                except sqlite3.Error as error:
                    raise not_opened(self.path, error) from error

            execute(Statement("BEGIN"))
            yield execute

    @contextmanager
    def connect(self, schema: str) -> Iterator[Callable[..., Any]]:
        """Open its file, if it is there."""
        try:
            uri = f"{Path(self.path).expanduser().absolute().as_uri()}?mode=rw"
            conn = connect(uri, uri=True, isolation_level=None)
            with closing(conn):
                yield conn.execute
        except sqlite3.Error as error:
            raise not_opened(self.path, error) from error

    def check(self) -> None:
        """Prove that its file can be opened and written, or be made."""
        check_sqlite_path(self.path)

    def ask(self) -> None:
        """Read it; one in memory is asked nothing."""
        if self.file is None:
            return
        try:
            uri = f"{self.file.absolute().as_uri()}?mode=ro"
            with closing(sqlite3.connect(uri, uri=True)) as conn:
                conn.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.Error as error:
            raise not_opened(self.path, error) from error

    def claim(self, schema: str) -> Claim | None:
        """Claim it by a file beside it, which stays: the database itself can be written on."""
        beside = IN_MEMORY
        if self.file is not None:
            file = self.file.absolute()
            beside = str(file.with_name(f"{file.name}-retention"))
        try:
            conn = sqlite3.connect(beside, timeout=0, isolation_level=None, check_same_thread=False)
            try:
                conn.execute("BEGIN EXCLUSIVE")
            except BaseException:
                conn.close()
                raise
        except sqlite3.Error as error:
            if kind(error) == sqlite3.SQLITE_BUSY:
                return None
            raise not_opened(beside, error) from error
        return conn


def _path(database: str) -> str:
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
