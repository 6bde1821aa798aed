"""Every stored value of a database. Nothing is written; a server may be using it."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from langgraph_once.checkpoint.pieces.collect import Cell
from langgraph_once.checkpoint.pieces.values import Values
from langgraph_once.checkpoint.sqlite.failures import failed, with_advice
from langgraph_once.serde.layers.tag import Codec, Tag

__all__ = ["StoredRow", "read_only", "stored_rows", "text"]

_TABLES: Final = {
    "checkpoints": "SELECT thread_id, NULL, type, checkpoint FROM checkpoints",
    "writes": "SELECT thread_id, channel, type, value FROM writes",
}
"""`metadata` is JSON, which no reader makes objects of."""


class StoredRow(NamedTuple):
    """A value as it is stored."""

    thread_id: str
    channel: str | None
    """Of a pending write; None for a checkpoint, which holds all channels."""
    tag: Any
    data: Any
    load: Callable[[Iterable[bytes]], list[tuple[bytes, str, bytes]]]
    """Pieces of the thread, by their digests."""

    def opened(self, values: Values) -> Iterator[tuple[str | None, Codec, bytes]]:
        """What codecs wrote, and for which channel: None for a checkpoint that holds all.

        Raises:
            SerdeError: It cannot be opened, or a piece is missing.
        """
        for channel, part in values.raw(values.unpacked(Cell(self.tag, self.data))):
            data, codec = part.data, part.tag
            if part.manifest is not None:
                assembly = values.assembly()
                while wanted := assembly.wanted([part.manifest]):
                    if not assembly.add(self.load(wanted)):
                        break
                data, codec = assembly.joined(part.manifest), part.manifest.codec
            yield channel or self.channel, Tag.parse(codec).codec, data


def stored_rows(path: str | os.PathLike[str]) -> Iterator[StoredRow]:
    """Yield every checkpoint and pending write, in the order in which they were stored.

    Args:
        path: The database file; where there is none, there are no rows.

    Raises:
        StorageError: It is no database, or changed in the middle.
    """
    file = Path(path).expanduser().absolute()
    if not file.is_file():
        return
    try:
        with contextlib.closing(sqlite3.connect(read_only(file), uri=True)) as conn:
            conn.text_factory = text
            known = {name for (name,) in conn.execute("SELECT name FROM sqlite_master")}
            for table, statement in _TABLES.items():
                if table in known:
                    for thread_id, channel, tag, data in conn.execute(statement):
                        load = partial(_pieces, conn, thread_id)
                        yield StoredRow(thread_id, channel, tag, data, load)
    except sqlite3.Error as error:
        raise failed(path, "read", with_advice(error)) from error


def _pieces(conn: sqlite3.Connection, thread_id: str, digests: Iterable[bytes]) -> list[Any]:
    sql = "SELECT digest, type, data FROM once_pieces WHERE thread_id = ? AND digest = ?"
    return [row for digest in digests for row in conn.execute(sql, (thread_id, digest))]


def read_only(file: Path) -> str:
    """The address under which SQLite opens a file and leaves it as it is."""
    # Of a database in WAL mode that nobody has open, SQLite would make the two files beside it to
    # read it, and leave them there, as those of whoever ran this. Where they are, it only reads.
    in_use = file.with_name(f"{file.name}-wal").exists()
    return f"{file.as_uri()}?mode=ro{'' if in_use else '&immutable=1'}"


def text(data: bytes) -> str:
    """Text that may be damaged."""
    return data.decode(errors="replace")
