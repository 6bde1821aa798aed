"""A database that is read whole: all of its cells, some at a time, and what is wrong with one.

`transfer` copies threads into another database, of the same kind or not; the source is only read.
A thread is copied whole, in one transaction. What is there already is passed over: whoever is
killed goes on where he was.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeVar

from langgraph_once.checkpoint.database import Program, run_all
from langgraph_once.checkpoint.pieces import Assembly, Cell, CutValue
from langgraph_once.checkpoint.saver import OnceSaver
from langgraph_once.checkpoint.stored import (
    CellAt,
    CellBatch,
    CellTable,
    CheckpointRef,
    FoundCheckpoints,
    StoredCheckpoint,
    bound,
)
from langgraph_once.checkpoint.tables import NewCheckpoint, Query
from langgraph_once.checkpoint.threads import Threads
from langgraph_once.checkpoint.values import Unpacked, Values
from langgraph_once.errors import OnceError, SerdeError, StorageError, printable
from langgraph_once.serde import BoundTo, OnceSerializer, Tag

T = TypeVar("T")

AT_ONCE: Final = 16
"""How many cells are read at once: each may be large."""
_PAGE: Final = 20
"""How many checkpoints are in memory, with all that is on them."""

_LANGGRAPH: Final = Tag("msgpack")
# A value may settle after a round or two, as a tuple in a tuple does; or never.
_ROUNDS: Final = 4

Progress = Callable[[int, int], None]
"""Is told how many threads are done, of how many."""


class Trouble(NamedTuple):
    """What is wrong with a value, and where it is. It quotes no value."""

    thread_id: str
    checkpoint_ns: str | None = None
    checkpoint_id: str | None = None
    channel: str | None = None
    problem: str = ""

    def __str__(self) -> str:
        at = [f"thread {self.thread_id!r}"]
        if self.checkpoint_ns:
            at.append(f"namespace {self.checkpoint_ns!r}")
        if self.checkpoint_id is not None:
            at.append(f"checkpoint {self.checkpoint_id}")
        if self.channel is not None:
            at.append(f"channel {self.channel!r}")
        return printable(f"{', '.join(at)}: {self.problem}")


class ReadCell(NamedTuple):
    """A cell that is there to be decoded."""

    table: CellTable
    at: CellAt
    cell: Cell
    bound_to: BoundTo
    values: Values
    assembly: Assembly

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

    def misread(self, serde: OnceSerializer) -> list[str | None]:
        """The channels, None for a checkpoint, of LangGraph's rows that are not read as written.

        A model whose validator does not take its own dump is read as another value. Of that,
        written and read again, comes a third one.

        Args:
            serde: Reads rows, and writes them as LangGraph does.
        """
        return [
            channel
            for channel, tag, data in self.encoded()
            if tag == _LANGGRAPH.codec and not _is_kept(serde, data)
        ]

    def decoded(self) -> DecodedCell:
        """What it says; what cannot be decoded of it is named."""
        checkpoint, values, broken = None, {}, {}
        try:
            opened = self.values.unpacked(self.cell, self.bound_to)
            parts: dict[Any, Any] = {self.at.channel: opened}
            if self.table.holds == "checkpoint":
                checkpoint, parts = self.values.parts(opened)
        except Exception as error:
            return DecodedCell(None, {}, {self.at.channel: error})
        for channel, part in parts.items():
            try:
                is_cell = isinstance(part, Unpacked)
                values[channel] = self.values.value(part, self.assembly) if is_cell else part
            except Exception as error:
                broken[channel] = error
        return DecodedCell(checkpoint, values, broken)


def _is_kept(serde: OnceSerializer, data: bytes) -> bool:
    """Whether reading and writing a row of LangGraph's leads to a row that was there before.

    The first time, a set may get another order; and where items share a place in its table, an
    order may lead to another one and back.
    """
    seen = [data]
    try:
        for _ in range(_ROUNDS):
            again = serde.encoded(serde.decoded(_LANGGRAPH, seen[-1]))[1]
            if again in seen:
                return True
            seen.append(again)
    except SerdeError:
        pass
    return False


class DecodedCell(NamedTuple):
    """What a cell says."""

    checkpoint: dict[str, Any] | None
    """Without its channels; None if it is none."""
    values: dict[Any, Any]
    """By channel."""
    broken: dict[str | None, Exception]
    """Why others cannot be decoded."""


class Source:
    """A database that is read whole.

    Args:
        saver: The database.
        values: How cells are read; as the saver does if None.

    Attributes:
        has_own: Whether our tables are there.

    Raises:
        StorageError: It cannot be read, here or by a method.
    """

    def __init__(self, saver: OnceSaver, values: Values | None = None) -> None:
        self._engine = saver.engine
        self.threads = saver.threads if values is None else Threads(saver.tables_with(values))
        self.tables = self.threads.tables
        self.has_own = self.run(self.tables.has_own())

    def run(self, program: Program[T]) -> T:
        """Run a program that only reads."""
        return self._engine.run(program, writes=False)

    def thread_ids(self) -> list[str]:
        """The threads, sorted."""
        return self.run(self.tables.thread_ids())

    def each_thread(self, progress: Progress | None) -> Iterator[str]:
        """The threads, sorted; how far one is with them is told."""
        ids = self.thread_ids()
        return told(ids, len(ids), progress)

    def batches(
        self,
        thread_id: str,
        *,
        ledgers: bool = True,
        without: Container[str] = ("empty",),
    ) -> Program[list[CellBatch]]:
        """Where the cells of a thread are, those with some tags left out; `open` reads a batch."""
        return self.tables.cell_batches(
            thread_id, AT_ONCE, without, ledgers=ledgers and self.has_own
        )

    def cells(self, thread_id: str) -> Iterator[ReadCell]:
        """All values and writes of a thread. Those stored while this runs may be among them."""
        for batch in self.run(self.batches(thread_id, ledgers=False)):
            yield from self.run(self.open(thread_id, batch))

    def open(
        self, thread_id: str, batch: CellBatch, *, locks: bool = False
    ) -> Program[list[ReadCell]]:
        """Read cells, and the pieces of their values."""
        table, values = batch.table, self.threads.values
        found = yield from self.tables.cells(table, thread_id, batch.at, locks=locks)
        assembly = values.assembly()
        # Nobody deleted these meanwhile.
        there = [
            ReadCell(table, at, found[at.key], table.bound_to(thread_id, at), values, assembly)
            for at in batch.at
            if at.key in found
        ]
        manifests = []
        for one in there:
            try:
                manifests += values.manifests(one.cell, one.bound_to)
            except Exception:  # noqa: S112 - it is told when it is decoded
                continue
        if manifests:
            yield from self.tables.collect(thread_id, manifests, assembly)
        return there

    def trouble(
        self, thread_id: str, read: ReadCell, channel: str | None, error: Exception
    ) -> Program[Trouble]:
        """What is wrong with a cell, and on which checkpoint."""
        id_ = yield from self.tables.checkpoint_of(read.table, thread_id, read.at)
        return Trouble(thread_id, read.at.key[0], id_, channel, why(error))


def told(each: Iterable[T], total: int, progress: Progress | None) -> Iterator[T]:
    """Each of them; when the next is asked for, that the one before is done is told."""
    for count, one in enumerate(each, 1):
        yield one
        if progress is not None:
            progress(count, total)


def why(error: Exception) -> str:
    """What an error says, without a value: only ours are known to have none."""
    return str(error) if isinstance(error, OnceError) else type(error).__name__


@dataclass
class Transfer:
    """What was copied."""

    threads: int = 0
    checkpoints: int = 0
    skipped: int = 0
    """Threads that were there whole."""
    troubles: list[Trouble] = field(default_factory=list)
    """Why threads were not copied."""


def transfer(source: OnceSaver, target: OnceSaver, *, progress: Progress | None = None) -> Transfer:
    """Copy all threads: checkpoints, writes and ledgers.

    Args:
        source: Is only read; a server may be using it. What it stores after a thread was copied
            is copied by the next call.
        target: Where the threads are to be.
        progress: Is told how far it is.

    Raises:
        StorageError: A database cannot do it; what was copied stays.
    """
    done = Transfer()
    reader, writer = Source(source), Source(target)
    for thread_id in reader.each_thread(progress):
        copy = _Copy(reader, writer, thread_id)
        try:
            missing = copy.missing()
            if missing:
                target.engine.run(copy.put(missing), writes=True)
        except (SerdeError, StorageError, TypeError, ValueError) as error:
            writer.run(writer.tables.has_own())  # does it answer?
            reason = "; ".join((why(error), *getattr(error, "__notes__", ())))
            done.troubles.append(Trouble(thread_id, problem=reason))
        else:
            done.threads += bool(missing)
            done.skipped += not missing
            done.checkpoints += len(missing)
    return done


class _Copy:
    """Copies a thread."""

    def __init__(self, source: Source, target: Source, thread_id: str) -> None:
        self._source = source
        self._target = target
        self._writer = target.threads
        self._id = thread_id
        self._stored: set[tuple[str, str, str]] = set()

    def missing(self) -> set[CheckpointRef]:
        """The checkpoints that the target lacks, or that have more there than here.

        Raises:
            StorageError: It has others: both went on.
        """
        here = self._source.run(_contents(self._source, self._id))
        there = self._target.run(_contents(self._target, self._id))
        if there.keys() - here.keys():
            raise StorageError(
                "the other database has checkpoints of it that are not here; delete the thread in "
                "one of the two",
                path="",
            )
        return {
            place for place, rows in here.items() if place not in there or not rows <= there[place]
        }

    def put(self, missing: set[CheckpointRef]) -> Program[None]:
        """Store checkpoints of the source, with all that is on them."""
        source, threads = self._source, self._source.threads
        yield from run_all(self._writer.tables.lock(self._id, alone=True))
        runs = source.run(source.tables.runs(self._id)) if source.has_own else {}
        config: Any = {"configurable": {"thread_id": self._id}}
        for page in threads.pages(Query(config), size=_PAGE):
            found = source.run(page)
            for stored in found.checkpoints:
                if stored.place in missing:
                    yield from self._put(found, stored, runs)
        graphs = (
            {CheckpointRef.of_thread(*place[:2]) for place in missing} if source.has_own else set()
        )
        for place in sorted(graphs):
            ledger = source.run(threads.load_stream_state(place))
            if ledger is not None:
                yield from self._writer.save_stream_state(place, ledger.ledger())

    def _put(
        self, found: FoundCheckpoints, stored: StoredCheckpoint, runs: dict[tuple[Any, ...], str]
    ) -> Program[None]:
        place = stored.place
        values = {
            name: found.decoded(value, place, f"channel {name!r}")
            for name, value in stored.values.items()
        }
        versions = stored.versions
        known = values.keys() & versions.keys()
        keys = {name: (place.checkpoint_ns, name, str(versions[name])) for name in known}
        news = {name: versions[name] for name, key in keys.items() if key not in self._stored}
        self._stored.update(keys.values())
        checkpoint: Any = {**stored.checkpoint, "channel_values": values}
        run_id = runs.get(place[1:], stored.metadata.get("run_id"))
        new = NewCheckpoint(place, stored.parent_id, checkpoint, stored.metadata, news, run_id)
        cuts: list[CutValue] = []
        statements = self._writer.tables.put(new, cuts)
        for write in stored.writes:
            path, task_id, position, channel, value = write
            key = (*place[1:], task_id, position)
            decoded = found.decoded(value, place, "write", write[:4])
            bound_to = bound("write", self._id, key, channel)
            cell = self._writer.values.cell(decoded, cuts, bound_to)
            row = (task_id, position, path, channel, *cell)
            put_writes = self._writer.tables.put_writes
            statements.append(put_writes(place, [row], runs.get(key), replaces=True))
        yield from self._writer.store(self._id, cuts, statements)


def _contents(source: Source, thread_id: str) -> Program[dict[CheckpointRef, set[tuple[Any, ...]]]]:
    """The checkpoints of a thread, each with the keys of what is on it."""
    places = yield from source.tables.places(thread_id)
    found: dict[CheckpointRef, set[tuple[Any, ...]]] = {place: set() for place in places}
    for table, some in (yield from source.batches(thread_id)):
        for at in some:
            place = CheckpointRef(thread_id, *at.key[:2])
            if table.holds in ("write", "ledger") and place in found:
                found[place].add((table.holds, *at.key[2:]))
    return found
