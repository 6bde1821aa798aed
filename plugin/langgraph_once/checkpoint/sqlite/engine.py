"""Runs statements on a SQLite database, and makes the tables."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from typing import Final, TypeVar

from langgraph_once.checkpoint.database import (
    MOST_DROPS,
    EmptyDatabaseError,
    Engine,
    NewerSchemaError,
    Program,
    Row,
    RunningProgram,
    Statement,
)
from langgraph_once.checkpoint.sqlite.file import (
    PatientConnection,
    failed,
    is_known,
    kind,
    with_advice,
)
from langgraph_once.checkpoint.sqlite.tables import SCHEMA, VERSION, with_task_path

T = TypeVar("T")

_NAMES: Final = """
SELECT name FROM sqlite_master UNION ALL
SELECT 'writes.' || name FROM pragma_table_info('writes', 'main') UNION ALL
SELECT 'checkpoints.' || name FROM pragma_table_info('checkpoints', 'main')
"""


_DONE: Final[Row] = (True,)
_READ: Final = {"checkpoints", "writes"}
_FORGET_VIEW: Final = "DROP VIEW IF EXISTS temp.writes"


class SqliteEngine(Engine):
    """Runs programs on one connection, one at a time.

    Args:
        conn: The connection, which other threads may use (`check_same_thread=False`).
        path: How the database is named in errors; as it is opened if None.
        makes_tables: Whether missing tables are made. If not, upstream's tables must exist.
    """

    def __init__(
        self,
        conn: sqlite3.Connection,
        path: str | os.PathLike[str] | None,
        *,
        makes_tables: bool = True,
    ) -> None:
        opened = {name: file for _, name, file in conn.execute("PRAGMA database_list")}
        super().__init__(os.fspath(path or opened["main"] or ":memory:"), workers=1)
        conn.isolation_level = None  # transactions begin where we say it
        self.conn = conn
        self._lock = threading.RLock()
        self._makes_tables = makes_tables
        self._is_set_up = False
        self._named_errors = _NamedErrors(self.name)

    def run(self, program: Program[T], *, writes: bool) -> T:
        """Run a program in one transaction, which an error undoes.

        Raises:
            StorageError: The database cannot do it.
        """
        asked_at = time.monotonic()
        with self._lock, self._named_errors:
            if isinstance(self.conn, PatientConnection):
                self.conn.asked_at = asked_at
            if not self._is_set_up:
                self._set_up(writes=writes)
            running = RunningProgram(program)
            for _ in range(MOST_DROPS):
                try:
                    return self._run(running, writes=writes)
                except sqlite3.OperationalError as error:
                    if running.is_answered or not _is_of_ours(error):
                        raise
                    self._set_up(writes=writes)
            return self._run(running, writes=writes)

    def close(self) -> None:
        """Close the connection, once the program under way is done.

        For one that nobody waits for any more, as its caller was cancelled, this does not either.
        """
        super().close()
        if self._left:
            threading.Thread(target=self._close, name="once-closing", daemon=True).start()
        else:
            self._close()

    def _close(self) -> None:
        with self._lock:
            self.conn.close()

    def set_up(self) -> None:
        """Make what is missing in the database; every program does this first."""
        with self._lock, self._named_errors:
            self._set_up(writes=True)

    def _set_up(self, *, writes: bool) -> None:
        missing = self._run(RunningProgram(_missing()), writes=False)
        if missing and not self._makes_tables:
            if not _READ.isdisjoint(missing):
                raise EmptyDatabaseError(self.name)
        elif missing:
            self.conn.execute(_FORGET_VIEW)
            try:
                self._run(RunningProgram(_make()), writes=True)
            except sqlite3.OperationalError as error:
                # What upstream wrote can be read where nothing can be added, or not now.
                is_closed = kind(error) in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_BUSY)
                if writes or not is_closed:
                    raise
                if not _READ.isdisjoint(missing):
                    if kind(error) == sqlite3.SQLITE_READONLY:
                        raise EmptyDatabaseError(self.name) from error
                    raise
                with_task_path(self.conn)
                return
        self._is_set_up = True

    def _run(self, running: RunningProgram[T], *, writes: bool) -> T:
        conn = self.conn
        has_begun = False

        def execute(statement: Statement) -> list[Row]:
            nonlocal has_begun
            if not has_begun:
                # One statement is a transaction itself, where the user of the connection has none.
                if statement.is_try and not conn.in_transaction:
                    rows = conn.execute(statement.sql, statement.values)
                    return rows.fetchall() if statement.has_rows else [_DONE]
                # Not deferred: a transaction that reads first and writes later cannot wait for
                # another writer, it fails at once.
                conn.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
                has_begun = True
            if statement.is_many:
                conn.executemany(statement.sql, statement.values)
                return []
            return conn.execute(statement.sql, statement.values).fetchall()

        try:
            result = running.resume(execute)
            if has_begun:
                conn.execute("COMMIT")
        except BaseException:
            if has_begun:
                with contextlib.suppress(sqlite3.Error):
                    conn.execute("ROLLBACK")
            raise
        return result


class _NamedErrors:
    """Says of an error of SQLite which database it is, and what can be done."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, sqlite3.Error) and is_known(error):
            raise failed(self._name, "use", with_advice(error)) from error
        if isinstance(error, NewerSchemaError):
            why = f"a newer langgraph-once made its tables ({error}); install that or a newer one"
            raise failed(self._name, "use", why) from error


def _is_of_ours(error: sqlite3.Error) -> bool:
    """Whether it may be one of our tables or columns that is not there."""
    return kind(error) == sqlite3.SQLITE_ERROR and "once_" in str(error)


def _missing() -> Program[list[str]]:
    names = {name for (name,) in (yield Statement(_NAMES))}
    if "once_schema" in names:
        ((version,),) = yield Statement("SELECT version FROM once_schema")
        if version > VERSION:
            raise NewerSchemaError(f"schema {version}")
    return [name for name in SCHEMA if name not in names]


def _make() -> Program[None]:
    for name in (yield from _missing()):
        yield Statement(SCHEMA[name])
