"""From an error of SQLite to one line: what happened, and what to do."""

from __future__ import annotations

import os
import sqlite3
from typing import Final

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
