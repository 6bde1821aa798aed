"""Runs statements on a SQLite database, and makes the tables."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator
from typing import Final, TypeVar

from langgraph_once.checkpoint.database import Ask, Engine, Program, Row, drive
from langgraph_once.checkpoint.failures import kind, storage_error
from langgraph_once.checkpoint.sqlite_tables import SCHEMA, VERSION

__all__ = ["SqliteEngine"]

T = TypeVar("T")

_NAMES: Final = """
SELECT name FROM sqlite_master UNION ALL
SELECT 'writes.' || name FROM pragma_table_info('writes') UNION ALL
SELECT 'checkpoints.' || name FROM pragma_table_info('checkpoints')
"""


class SqliteEngine(Engine):
    """Runs programs on one connection, one at a time.

    Args:
        conn: The connection, which other threads may use (`check_same_thread=False`).
        path: How the database is named in errors.
    """

    def __init__(self, conn: sqlite3.Connection, path: str | os.PathLike[str]) -> None:
        super().__init__(workers=1)
        conn.isolation_level = None  # transactions begin where we say it
        self.conn = conn
        self.name = os.fspath(path)
        self._lock = threading.RLock()
        self._is_set_up = False

    def run(self, program: Program[T], *, writes: bool) -> T:
        """Run a program in one transaction, which an error undoes.

        Raises:
            StorageError: The database cannot do it.
        """
        with self._lock, self._told():
            if not self._is_set_up:
                self._set_up()
            return self._run(program, writes=writes)

    def close(self) -> None:
        """Close the connection, once the program under way is done."""
        super().close()
        with self._lock:
            self.conn.close()

    def set_up(self) -> None:
        """Make what is missing in the database; every program does this first."""
        with self._lock, self._told():
            self._set_up()

    def _set_up(self) -> None:
        if missing := self._run(_missing(), writes=False):
            try:
                self._run(_make(), writes=True)
            except sqlite3.OperationalError as error:
                # What upstream wrote can be read where nothing can be added.
                if kind(error) != sqlite3.SQLITE_READONLY or "checkpoints" in missing:
                    raise
        self._is_set_up = True

    def _run(self, program: Program[T], *, writes: bool) -> T:
        # Not deferred: a transaction that reads first and writes later cannot wait for another
        # writer, it fails at once.
        self.conn.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
        try:
            result = drive(program, self._ask)
            self.conn.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self.conn.execute("ROLLBACK")
            raise
        return result

    def _ask(self, asked: Ask) -> list[Row]:
        if asked.is_many:
            self.conn.executemany(asked.sql, asked.values)
            return []
        return self.conn.execute(asked.sql, asked.values).fetchall()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Say which database it is, and what can be done."""
        try:
            yield
        except (sqlite3.OperationalError, sqlite3.DatabaseError) as error:
            if isinstance(error, sqlite3.ProgrammingError):  # it is closed
                raise
            raise storage_error(self.name, error) from error


def _missing() -> Program[list[str]]:
    names = {name for (name,) in (yield Ask(_NAMES))}
    if "once_schema" in names:
        ((version,),) = yield Ask("SELECT version FROM once_schema")
        if version > VERSION:
            raise sqlite3.DatabaseError(f"a newer langgraph-once made it (schema {version})")
    return [name for name in SCHEMA if name not in names]


def _make() -> Program[None]:
    for name in (yield from _missing()):
        yield Ask(SCHEMA[name])
