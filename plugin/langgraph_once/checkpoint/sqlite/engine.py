"""Runs statements on a SQLite database, and makes the tables.

A path is made ready for many writers; or one line says why it is not, and what to do.
"""

from __future__ import annotations

import contextlib
import math
import os
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any, Final, TypeVar

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
from langgraph_once.checkpoint.sqlite.tables import SCHEMA, VERSION, with_task_path
from langgraph_once.errors import StorageError

_ADVICE: Final = {
    sqlite3.SQLITE_NOTADB: "it is not a SQLite database; move it away or choose another path",
    sqlite3.SQLITE_READONLY: "it is read-only; make the file and its folder writable",
    sqlite3.SQLITE_CANTOPEN: "make the file and its folder readable and writable",
    sqlite3.SQLITE_BUSY: "another process holds it; stop that process or try again",
    sqlite3.SQLITE_CORRUPT: "it is damaged; restore a backup or choose another path",
    sqlite3.SQLITE_FULL: "make room on its disk (or in its quota) and try again",
    sqlite3.SQLITE_IOERR: "its disk or file system failed; check both and try again",
}


def kind(error: sqlite3.Error) -> int:
    """Return which of SQLite's kinds of errors this is."""
    # The low byte is the kind of error; the rest tells variants apart.
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def is_known(error: object) -> bool:
    """Whether this says something about the database, and not about what was asked of it."""
    return isinstance(error, sqlite3.Error) and kind(error) in _ADVICE


def with_advice(error: sqlite3.Error) -> str:
    """Say what happened and what to do."""
    return f"{error}; {_ADVICE.get(kind(error), 'choose another path')}"


def failed(path: str | os.PathLike[str], verb: str, why: str) -> StorageError:
    """Return the error of a database that cannot be opened, read or used, as `verb` says."""
    name = os.fspath(path)
    return StorageError(f"cannot {verb} the checkpoint database {name!r}: {why}", path=name)


BUSY_TIMEOUT_S = 30.0
"""How long a writer waits for others that take turns; each holds the database for milliseconds."""
HELD_S = 5.0
"""How long it waits for one that holds on, as LangGraph's savers do. Neither a close nor the end of
a run that is interrupted comes before what waits."""
TURN_S: Final = 0.1
"""How long SQLite waits at a time: meanwhile Ctrl-C is not heard."""

IN_MEMORY = ":memory:"
_WAL_AT = 19
"""The byte of the head that says how a database is read: https://sqlite.org/fileformat.html."""
_WAL = b"\x02"

# Rolled back: it proves that the file and the journal beside it can be written, which opening
# alone does not.
_PROVE_WRITABLE = ("BEGIN IMMEDIATE", "CREATE TABLE once_probe (x)", "ROLLBACK")


class PatientConnection(sqlite3.Connection):
    """Waits for other writers in turns, and looks between them whether somebody has written.

    Attributes:
        asked_at: When the operation under way was asked for, by `time.monotonic`. If it waited for
            another of this connection which gave up, it has waited for the same writer.
    """

    asked_at = math.inf
    _gave_up_at = _held_since = 0.0
    _held_version: Any = None

    def execute(self, *given: Any) -> sqlite3.Cursor:
        try:
            return super().execute(*given)
        except sqlite3.OperationalError as error:
            if kind(error) != sqlite3.SQLITE_BUSY:
                raise
            busy = error
        return self._execute_in_turns(busy, *given)

    def _execute_in_turns(self, busy: sqlite3.Error, *given: Any) -> sqlite3.Cursor:
        began = changed = time.monotonic()
        version = None
        if self.asked_at < self._gave_up_at:
            changed, version = max(self.asked_at, self._held_since), self._held_version
        while True:
            now, before, version = time.monotonic(), version, self._version()
            changed = changed if before in (None, version) else now
            if now > began + BUSY_TIMEOUT_S or now > changed + HELD_S:
                self._gave_up_at, self._held_since, self._held_version = now, changed, version
                raise busy
            time.sleep(0.01)  # for a change of the journal mode SQLite does not wait at all
            try:
                return super().execute(*given)
            except sqlite3.OperationalError as error:
                if kind(error) != sqlite3.SQLITE_BUSY:
                    raise
                busy = error

    def _version(self) -> Any:
        try:
            return super().execute("PRAGMA data_version").fetchone()
        except sqlite3.OperationalError:
            return None


def connect(address: str | os.PathLike[str], **options: Any) -> sqlite3.Connection:
    """Connect to a database that others write, for all threads."""
    return sqlite3.connect(
        address, timeout=TURN_S, check_same_thread=False, factory=PatientConnection, **options
    )


def check_sqlite_path(path: str | os.PathLike[str]) -> None:
    """Prove that `open_sqlite_saver` would succeed, and leave no trace.

    Args:
        path: The database file, or ":memory:".

    Raises:
        StorageError: The file cannot be opened or written.
    """
    if os.fspath(path) == IN_MEMORY:
        return
    file = Path(path).expanduser()
    try:
        made = [place for place in (file, *file.parents) if not place.exists()]
        try:
            _run(file, *_PROVE_WRITABLE)
        finally:
            _remove(made)
    except (OSError, sqlite3.Error) as error:
        raise not_opened(path, error) from error


def prepare(path: str | os.PathLike[str]) -> str:
    """Make a database file ready for many writers; name it as SQLite takes it."""
    if os.fspath(path) == IN_MEMORY:
        return IN_MEMORY
    file = Path(path).expanduser().absolute()
    _run(file, *_PROVE_WRITABLE, "PRAGMA journal_mode=WAL")
    return str(file)


def connect_to_read(path: str | os.PathLike[str]) -> sqlite3.Connection:
    """Connect to a database that is left as it is; others may write.

    Raises:
        StorageError: There is no such file, or it cannot be opened. On closing: it was written to
            in a way that this connection could not see.
    """
    file = Path(path).expanduser().absolute()
    if not file.is_file():
        raise failed(path, "read", "there is no such file")
    try:
        conn = (
            _ReadWithoutLocks(file)
            if _is_idle_wal(file)
            else connect(f"{file.as_uri()}?mode=ro", uri=True)
        )
        try:
            with_task_path(conn)
        except BaseException:
            conn.close()
            raise
    except (OSError, sqlite3.Error) as error:
        raise not_opened(path, error) from error
    conn.text_factory = _text
    return conn


def _is_idle_wal(file: Path) -> bool:
    """Whether a database is in WAL mode, and nobody has it open.

    SQLite would make the two files beside it to read it, and leave them there, as those of whoever
    ran this. Where they are, it only reads.
    """
    try:
        with file.open("rb") as opened:
            head = opened.read(_WAL_AT + 1)
    except OSError:  # SQLite will say why
        return False
    return head[_WAL_AT:] == _WAL and not file.with_name(f"{file.name}-wal").exists()


class _ReadWithoutLocks(sqlite3.Connection):
    """Reads a database that nobody had open; `close` raises if someone wrote to it meanwhile."""

    def __init__(self, file: Path) -> None:
        self._file, self._before = file, _written(file)
        super().__init__(f"{file.as_uri()}?mode=ro&immutable=1", check_same_thread=False, uri=True)

    def close(self) -> None:
        super().close()
        if _written(self._file) != self._before:
            why = "it was written to meanwhile, so what was read may be wrong; run this again"
            raise failed(self._file, "read", why)


def _written(file: Path) -> tuple[int, int]:
    """The time and size of a file: a write changes them, in WAL mode only later (a checkpoint)."""
    found = file.stat()
    return found.st_mtime_ns, found.st_size


def _text(data: bytes) -> str:
    """Text that may be damaged."""
    return data.decode(errors="replace")


def _run(file: Path, *script: str) -> None:
    if file.is_dir():
        raise IsADirectoryError(None, "it is a folder; name a file in it", str(file))
    file.parent.mkdir(parents=True, exist_ok=True)
    # SQLite makes its other files with the same mode. Why it cannot be made SQLite tells better.
    with contextlib.suppress(OSError):
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    with contextlib.closing(connect(file)) as conn:
        for statement in script:
            conn.execute(statement)


def _remove(made: list[Path]) -> None:
    """Remove a file and folders that did not exist before, unless others use them by now."""
    for place in made:
        with contextlib.suppress(OSError):
            if place.is_dir():
                place.rmdir()
            elif place.stat().st_size == 0:
                place.unlink()


def not_opened(path: str | os.PathLike[str], error: OSError | sqlite3.Error) -> StorageError:
    """The error to raise from this one."""
    if isinstance(error, sqlite3.Error):
        why = with_advice(error)
    elif isinstance(error, IsADirectoryError):
        why = str(error.strerror)
    elif isinstance(error, FileExistsError | NotADirectoryError):
        why = f"{error.filename!r} is not a folder; choose another path"
    else:
        why = f"its folder cannot be made or read ({error.strerror}); choose another path"
    return failed(path, "open", why)


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

    def run(self, program: Program[T], *, writes: bool) -> T:
        """Run a program in one transaction, which an error undoes.

        Raises:
            StorageError: The database cannot do it.
        """
        asked_at = time.monotonic()
        try:
            with self._lock:
                if isinstance(self.conn, PatientConnection):
                    self.conn.asked_at = asked_at
                if not self._is_set_up:
                    self._set_up(writes=writes)
                return self._run_where_tables_are(RunningProgram(program), writes=writes)
        except (sqlite3.Error, NewerSchemaError) as error:
            self._tell(error)
            raise

    def _run_where_tables_are(self, running: RunningProgram[T], *, writes: bool) -> T:
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
        try:
            with self._lock:
                self._set_up(writes=True)
        except (sqlite3.Error, NewerSchemaError) as error:
            self._tell(error)
            raise

    def _tell(self, error: sqlite3.Error | NewerSchemaError) -> None:
        """Say which database it is and what can be done, if the error is about the database."""
        if isinstance(error, NewerSchemaError):
            why = f"a newer langgraph-once made its tables ({error}); install that or a newer one"
            raise failed(self.name, "use", why) from error
        if is_known(error):
            raise failed(self.name, "use", with_advice(error)) from error

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
