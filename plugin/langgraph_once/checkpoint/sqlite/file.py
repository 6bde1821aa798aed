"""A path, made ready for many writers; or one line that says why it is not."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from pathlib import Path

from langgraph_once.checkpoint.sqlite.failures import failed, kind, with_advice
from langgraph_once.errors import StorageError

__all__ = [
    "BUSY_TIMEOUT_S",
    "ask_sqlite",
    "check_sqlite_path",
    "claim_sqlite",
    "not_opened",
    "prepare",
    "read_only",
    "text",
]

BUSY_TIMEOUT_S = 30.0
"""How long a writer waits for another one; each holds the database for milliseconds."""

_IN_MEMORY = ":memory:"

# Rolled back: it proves that the file and the journal beside it can be written, which opening
# alone does not.
_PROVE_WRITABLE = ("BEGIN IMMEDIATE", "CREATE TABLE once_probe (x)", "ROLLBACK")


def check_sqlite_path(path: str | os.PathLike[str]) -> None:
    """Prove that `open_sqlite_saver` would succeed, and leave no trace.

    Args:
        path: The database file, or ":memory:".

    Raises:
        StorageError: The file cannot be opened or written.
    """
    if os.fspath(path) == _IN_MEMORY:
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


def ask_sqlite(path: str | os.PathLike[str]) -> None:
    """Read a database that is there.

    Raises:
        StorageError: It is not there, or cannot be read.
    """
    file = Path(path).expanduser().absolute()
    try:
        with contextlib.closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as conn:
            conn.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        raise not_opened(path, error) from error


def claim_sqlite(path: str | os.PathLike[str]) -> sqlite3.Connection | None:
    """Claim a database for what one process does at a time, until what is returned is closed.

    A file beside the database holds the claim, and stays: the database itself can be written on.

    Returns:
        None if another process, or another event loop of this one, has the claim.

    Raises:
        StorageError: The file cannot be made.
    """
    beside = _IN_MEMORY
    if os.fspath(path) != _IN_MEMORY:
        file = Path(path).expanduser().absolute()
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


def prepare(path: str | os.PathLike[str]) -> str:
    """Make a database file ready for many writers; name it as SQLite takes it."""
    if os.fspath(path) == _IN_MEMORY:
        return _IN_MEMORY
    file = Path(path).expanduser().absolute()
    give_up = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            _run(file, *_PROVE_WRITABLE, "PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            # SQLite does not wait for other connections when it changes the journal mode:
            # several that open a new file at once must try again.
            if kind(error) != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                raise
            time.sleep(0.01)
        else:
            return str(file)


def read_only(file: Path) -> str:
    """The address under which SQLite opens a file and leaves it as it is."""
    # Of a database in WAL mode that nobody has open, SQLite would make the two files beside it to
    # read it, and leave them there, as those of whoever ran this. Where they are, it only reads.
    in_use = file.with_name(f"{file.name}-wal").exists()
    return f"{file.as_uri()}?mode=ro{'' if in_use else '&immutable=1'}"


def text(data: bytes) -> str:
    """Text that may be damaged."""
    return data.decode(errors="replace")


def _run(file: Path, *script: str) -> None:
    if file.is_dir():
        raise IsADirectoryError(None, "it is a folder; name a file in it", str(file))
    file.parent.mkdir(parents=True, exist_ok=True)
    # SQLite makes its other files with the same mode. Why it cannot be made SQLite tells better.
    with contextlib.suppress(OSError):
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    with contextlib.closing(sqlite3.connect(file, timeout=BUSY_TIMEOUT_S)) as conn:
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
