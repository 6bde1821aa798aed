"""A database as it is at one moment. It is only read: nothing is made, locked or written."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

from langgraph_once.checkpoint.by_url import backend_of
from langgraph_once.checkpoint.database import (
    EmptyDatabaseError,
    Engine,
    Program,
    Row,
    Statement,
    drive,
)
from langgraph_once.checkpoint.saver import OnceSaver
from langgraph_once.checkpoint.sqlite.backend import SqliteBackend
from langgraph_once.checkpoint.sqlite.file import connect_to_read, not_opened
from langgraph_once.checkpoint.sqlite.tables import SqliteTables
from langgraph_once.checkpoint.tables import Tables
from langgraph_once.serde import OnceSerializer

__all__ = ["Snapshot", "open_snapshot"]

T = TypeVar("T")
Execute = Callable[[Statement], list[Row]]

# Of the store none is told that this role may not read: threads are asked for above all.
_PG_NAMES: Final = Statement(
    "SELECT relname::text FROM pg_class WHERE oid IN "
    "(to_regclass('checkpoints'), to_regclass('checkpoint_writes'), "
    "to_regclass('checkpoint_blobs'), to_regclass('once_pieces'), "
    "to_regclass('once_stream_states')) "
    "OR oid = to_regclass('store') AND has_table_privilege(oid, 'SELECT')"
)
_SQLITE_NAMES: Final = Statement("SELECT name FROM sqlite_master WHERE type = 'table'")


class Snapshot(Engine):
    """Runs all programs in one transaction that only reads.

    Args:
        name: How the database is named in errors.
        execute: Executes a statement.
        tables: The statements of this kind of database.
        tells: Makes an error of the driver one of ours.

    Attributes:
        names: Those of the tables that are there.
        has_threads: Whether those of checkpoints are.

    Raises:
        StorageError: It cannot be read, or no saver has made its tables.
    """

    def __init__(
        self,
        name: str,
        execute: Execute,
        tables: type[Tables],
        tells: Callable[[], contextlib.AbstractContextManager[None]],
    ) -> None:
        super().__init__(name, workers=1)
        self.tables = tables
        self._execute = execute
        self._tells = tells
        self.is_postgres = tables is not SqliteTables
        names = _PG_NAMES if self.is_postgres else _SQLITE_NAMES
        self.names = {name for (name,) in self.ask(names)}
        self.has_threads = {"checkpoints", tables.writes_table} <= self.names
        if not self.has_threads and "store" not in self.names:
            raise EmptyDatabaseError(name)

    def ask(self, statement: Statement) -> list[Row]:
        """The rows of a statement."""
        with self._tells():
            return self._execute(statement)

    def run(self, program: Program[T], *, writes: bool) -> T:
        """Run a program that only reads."""
        with self._tells():
            return drive(program, self._execute)

    def set_up(self) -> None:
        """Nothing: what is missing stays missing."""

    def saver(self, serde: OnceSerializer) -> OnceSaver:
        """A saver to read with."""
        return OnceSaver(self, self.tables, serde=serde)


@contextmanager
def open_snapshot(database: str, *, schema: str = "") -> Iterator[Snapshot]:
    """Open a database, and close it at the end; servers may be using it.

    Args:
        database: A path of SQLite, "sqlite:///path" or "postgresql://user@host/database".
        schema: PostgreSQL: where the tables are; where the connection looks if it is empty.

    Raises:
        ConfigError: A URL of another database.
        StorageError: It is not there, or cannot be read. On leaving: nobody had the file of SQLite
            open at first, and then someone wrote to it.
    """
    backend = backend_of(database)
    if isinstance(backend, SqliteBackend):
        opened = _sqlite(backend.path)
    else:
        opened = _postgres(database, schema or None)
    with opened as snapshot:
        yield snapshot
        snapshot.close()


@contextmanager
def _sqlite(path: str) -> Iterator[Snapshot]:

    @contextmanager
    def tells() -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise not_opened(path, error) from error

    with contextlib.closing(connect_to_read(path)) as conn:
        conn.isolation_level = None
        with tells():
            conn.execute("BEGIN")

        def execute(statement: Statement) -> list[Row]:
            return conn.execute(statement.sql, statement.values).fetchall()

        yield Snapshot(path, execute, SqliteTables, tells)


@contextmanager
def _postgres(database: str, schema: str | None) -> Iterator[Snapshot]:
    from langgraph_once.checkpoint.postgres.driver import execute_on, psycopg
    from langgraph_once.checkpoint.postgres.failures import storage_error
    from langgraph_once.checkpoint.postgres.saver import address_of
    from langgraph_once.checkpoint.postgres.schema import enter_schema
    from langgraph_once.checkpoint.postgres.tables import PostgresTables

    name = address_of(database)

    @contextmanager
    def tells() -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise storage_error(name, error) from error

    with tells():
        # Behind a pooler, what is prepared stays in a session that others get next.
        conn = psycopg.connect(database, autocommit=True, prepare_threshold=None)
    with contextlib.closing(conn):
        execute = execute_on(conn)
        with tells():
            execute(Statement("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", has_rows=False))
            enter_schema(execute, schema)
            execute(Statement("SET LOCAL jit = off", has_rows=False))
        yield Snapshot(name, execute, PostgresTables, tells)
