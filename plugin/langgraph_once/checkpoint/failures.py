"""What a database cannot do, in words that say which one it is, and what helps."""

from __future__ import annotations

import os
import sqlite3
from typing import Final

from langgraph_once.errors import StorageError

__all__ = ["kind", "storage_error"]

_ADVICE: Final = {
    sqlite3.SQLITE_NOTADB: "it is not a SQLite database; move it away or choose another path",
    sqlite3.SQLITE_READONLY: "it is read-only; make the file and its folder writable",
    sqlite3.SQLITE_CANTOPEN: "make the file and its folder readable and writable",
    sqlite3.SQLITE_BUSY: "another process holds it; stop that process or try again",
    sqlite3.SQLITE_FULL: "the disk is full; make room",
    sqlite3.SQLITE_IOERR: "its disk cannot be read or written; make room, or look at the disk",
    sqlite3.SQLITE_CORRUPT: "it is damaged; restore a backup or choose another path",
}


def storage_error(path: str | os.PathLike[str], error: OSError | sqlite3.Error) -> StorageError:
    """The error to raise from this one."""
    name = os.fspath(path)
    if isinstance(error, sqlite3.Error):
        why = f"{error}; {_ADVICE.get(kind(error), 'choose another path')}"
    elif isinstance(error, IsADirectoryError):
        why = str(error.strerror)
    elif isinstance(error, FileExistsError | NotADirectoryError):
        why = f"{error.filename!r} is not a folder; choose another path"
    else:
        why = f"its folder cannot be made or read ({error.strerror}); choose another path"
    return StorageError(f"cannot use the checkpoint database {name!r}: {why}", path=name)


def kind(error: sqlite3.Error) -> int:
    """Which of SQLite's errors it is."""
    # The low byte is the kind of error; the rest tells variants apart.
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
