"""All cells of a thread, some at a time: what it takes to read them, and to name them in errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from langgraph_once.checkpoint.database import Program, batches
from langgraph_once.checkpoint.pieces.collect import Assembly, Cell
from langgraph_once.checkpoint.pieces.values import Unpacked, Values
from langgraph_once.checkpoint.saver import OnceSaver
from langgraph_once.checkpoint.stored import CellAt, CellTable
from langgraph_once.checkpoint.threads import Threads
from langgraph_once.errors import OnceError
from langgraph_once.serde.layers.encryption import BoundTo

__all__ = [
    "AT_ONCE",
    "Progress",
    "ReadCell",
    "Trouble",
    "all_threads",
    "open_cells",
    "stored_cells",
    "told",
    "why",
]

T = TypeVar("T")

AT_ONCE: Final = 16
"""How many cells are read at once: each may be large."""

Progress = Callable[[int, int], None]
"""Is told how many threads are done, of how many."""


class Trouble(NamedTuple):
    """What is wrong with a value, and where it is. It quotes no value."""

    thread_id: str
    checkpoint_ns: str | None
    checkpoint_id: str | None
    channel: str | None
    problem: str

    def __str__(self) -> str:
        at = [f"thread {self.thread_id!r}"]
        if self.checkpoint_ns:
            at.append(f"namespace {self.checkpoint_ns!r}")
        if self.checkpoint_id is not None:
            at.append(f"checkpoint {self.checkpoint_id}")
        if self.channel is not None:
            at.append(f"channel {self.channel!r}")
        return f"{', '.join(at)}: {self.problem}"


class ReadCell(NamedTuple):
    """A cell that is there to be decoded."""

    table: CellTable
    at: CellAt
    cell: Cell
    bound_to: BoundTo
    values: Values
    assembly: Assembly

    def parts(self) -> tuple[dict[str, Any] | None, dict[str | None, Any]]:
        """The checkpoint, if it is one, and the values by channel, each still to be decoded.

        Raises:
            SerdeError: It cannot be opened.
        """
        opened = self.values.unpacked(self.cell, self.bound_to)
        if self.table.holds != "checkpoint":
            return None, {self.at.channel: opened}
        checkpoint, parts = self.values.parts(opened)
        return checkpoint, dict(parts.items())

    def encoded(self) -> Iterator[tuple[str | None, str, bytes]]:
        """What codecs wrote: the channel, or None for a checkpoint; the tag; the bytes.

        Raises:
            SerdeError: It cannot be opened, or a piece is missing.
        """
        for channel, part in self.values.raw(self.values.unpacked(self.cell, self.bound_to)):
            tag, data = part.tag, part.data
            if part.manifest is not None:
                tag, data = part.manifest.codec, self.assembly.joined(part.manifest)
            yield channel or self.at.channel, tag, data

    def decoded(self, value: Any) -> Any:
        """One of these values.

        Raises:
            SerdeError: It cannot be decoded.
        """
        return self.values.value(value, self.assembly) if isinstance(value, Unpacked) else value


def all_threads(
    saver: OnceSaver, threads: Threads, progress: Progress | None = None
) -> Iterator[str]:
    """The threads of a database, sorted by their ids.

    Args:
        saver: The database.
        threads: Its programs.
        progress: Is told how far it is.

    Raises:
        StorageError: They cannot be listed.
    """
    ids = saver.engine.run(threads.tables.thread_ids(), writes=False)
    return told(ids, len(ids), progress)


def told(each: Iterable[T], total: int, progress: Progress | None) -> Iterator[T]:
    """Each of them; when the next is asked for, that the one before is done is told."""
    for count, one in enumerate(each, 1):
        yield one
        if progress is not None:
            progress(count, total)


def stored_cells(saver: OnceSaver, threads: Threads, thread_id: str) -> Iterator[ReadCell]:
    """All values and writes of a thread; what is stored or deleted meanwhile may be among them.

    Raises:
        StorageError: They cannot be read.
    """
    for table in threads.tables.cell_tables:
        if table.holds != "ledger":
            at = saver.engine.run(threads.tables.cells_at(table, thread_id), writes=False)
            for some in batches([one for one in at if one.tag != "empty"], AT_ONCE):
                program = open_cells(threads, table, thread_id, some)
                yield from saver.engine.run(program, writes=False)


def open_cells(
    threads: Threads,
    table: CellTable,
    thread_id: str,
    at: Sequence[CellAt],
    *,
    locks: bool = False,
) -> Program[list[ReadCell]]:
    """Read cells, and the pieces of their values."""
    values = threads.values
    found = yield from threads.tables.cells(table, thread_id, at, locks=locks)
    assembly = values.assembly()
    manifests = []
    places = {each.key: table.bound_to(thread_id, each) for each in at}
    for key, cell in found.items():
        try:
            manifests += values.manifests(cell, places[key])
        except Exception:  # noqa: S112 - it is told when it is decoded
            continue
    if manifests:
        yield from threads.tables.collect(thread_id, manifests, assembly)
    return [
        ReadCell(table, each, found[each.key], places[each.key], values, assembly)
        for each in at
        if each.key in found  # nobody deleted it meanwhile
    ]


def why(error: Exception) -> str:
    """What an error says, without a value: only ours are known to have none."""
    return str(error) if isinstance(error, OnceError) else type(error).__name__
