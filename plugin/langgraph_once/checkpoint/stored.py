"""What the rows of a checkpoint say, whichever database they are of.

A checkpoint's id is a UUID of version 6: ids are ordered by the time in them. Errors of tasks are
text, as LangGraph's own savers give them back. Values are decoded when somebody looks at them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any, Final, Literal, NamedTuple, Self, TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    Checkpoint,
    CheckpointTuple,
    DeltaChannelHistory,
    PendingWrite,
    writes_sort_key,
)
from langgraph.checkpoint.serde.types import ERROR

from langgraph_once.checkpoint.pieces import Cell, PieceManifest
from langgraph_once.checkpoint.values import Unpacked, Values
from langgraph_once.errors import SerdeError, printable
from langgraph_once.serde import BoundTo, OpaqueStr, UnstoredError

Holds: TypeAlias = Literal["checkpoint", "value", "write", "ledger", "metadata"]
_UUID_EPOCH_TICKS: Final = 0x01B21DD213814000
"""Of 100 ns, from the first day of UUIDs to that of Unix."""
_TICKS: Final = 10_000_000
"""In a second."""


def bound(
    holds: Holds, thread_id: str, key: Iterable[str | int | None], channel: str | None = None
) -> BoundTo:
    """What a cell is bound to: what it is, and the row that it stands in.

    Args:
        holds: What it is.
        thread_id: Of the row.
        key: What names the row in its thread, in the order of `CellTable.key`.
        channel: That it is a value of.
    """
    return (holds, thread_id, *key, channel)


class CellTable(NamedTuple):
    """A table whose rows have a cell each."""

    holds: Holds
    name: str
    key: tuple[str, ...]
    """Columns that, with the thread, name a row; the second is the checkpoint, where it has one."""
    data: str
    """The column of the bytes; that of the tag is `type`."""
    channel: str = "NULL"
    """An expression."""

    def bound_to(self, thread_id: str, at: CellAt) -> BoundTo:
        """What the cell of a row is bound to."""
        return bound(self.holds, thread_id, at.key, at.channel)


class CellAt(NamedTuple):
    """A row with a cell, whose bytes were not read."""

    tag: str
    channel: str | None
    """None for a checkpoint that holds all, and for a ledger."""
    key: tuple[Any, ...]


class CellBatch(NamedTuple):
    """Cells of one table, as many as are read at once."""

    table: CellTable
    at: list[CellAt]


class CheckpointRef(NamedTuple):
    """Where a checkpoint is."""

    thread_id: str
    checkpoint_ns: str
    checkpoint_id: str | None = None
    """None for the latest."""

    @classmethod
    def of_thread(cls, thread_id: str, checkpoint_ns: str) -> CheckpointRef:
        """Where the ledger of a thread is; no checkpoint has an empty id."""
        return cls(thread_id, checkpoint_ns, "")

    @classmethod
    def of(cls, config: RunnableConfig) -> CheckpointRef:
        """The place that a config names; what is None there stays so, as no row has it."""
        at = config["configurable"]
        id_ = at.get("checkpoint_id") or None  # upstream's savers take an empty one for none
        return cls(_text(at["thread_id"]), _text(at.get("checkpoint_ns", "")), _text(id_))

    def config(self) -> RunnableConfig:
        """The config that names the place."""
        return {"configurable": self._asdict()}


def _text(value: Any) -> Any:
    return None if value is None else str(value)


class Naming:
    """Adds to a `SerdeError` what could not be read, and of which checkpoint.

    Args:
        place: The checkpoint.
        what: The words that say what; there are many values, so they are joined for an error only.
    """

    __slots__ = ("_place", "_what")

    def __init__(self, place: CheckpointRef, *what: object) -> None:
        self._place, self._what = place, what

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, SerdeError):
            thread_id, checkpoint_ns, id_ = self._place
            at = f"checkpoint {id_} of thread {thread_id!r}, namespace {checkpoint_ns!r}"
            error.add_note(printable(f"in {' '.join(map(str, self._what))} of {at}"))


class StoredWrite(NamedTuple):
    """A pending write."""

    task_path: str
    task_id: str
    position: int
    channel: str
    value: Unpacked

    def order(self) -> tuple[str, str, int]:
        """By which writes of one step are sorted."""
        return writes_sort_key(self.task_path, self.task_id, self.position)


class Several(tuple[Unpacked, ...]):
    """Values that are decoded to one list."""

    __slots__ = ()


class StoredCheckpoint(NamedTuple):
    """A checkpoint with its writes, nothing of it decoded that was cut."""

    place: CheckpointRef
    parent_id: str | None
    checkpoint: dict[str, Any]
    """Without `channel_values`."""
    values: Mapping[str, Any]
    """By channel: `Unpacked`, `Several` of them, or the value itself."""
    metadata: dict[str, Any]
    writes: list[StoredWrite]

    @property
    def versions(self) -> Mapping[str, Any]:
        """By channel; none where a checkpoint was put by hand without them."""
        found: Mapping[str, Any] = self.checkpoint.get("channel_versions", {})
        return found

    def as_tuple(self, values: Any, writes: list[tuple[str, str, Any]]) -> CheckpointTuple:
        """The checkpoint as LangGraph has it, with these values and writes."""
        place, parent_id = self.place, self.parent_id
        parent = place._replace(checkpoint_id=parent_id).config() if parent_id else None
        checkpoint: Any = {**self.checkpoint, "channel_values": values}
        metadata: Any = self.metadata
        return CheckpointTuple(place.config(), checkpoint, metadata, parent, writes)

    def unpacked(self) -> Iterator[Unpacked]:
        """All values that are still to be decoded."""
        for value in self.values.values():
            if isinstance(value, Unpacked):
                yield value
            elif isinstance(value, Several):
                yield from value
        yield from (write.value for write in self.writes)


def first_id_at(moment: datetime) -> str:
    """Return the smallest id that a checkpoint of this time may have."""
    ticks = int(moment.timestamp() * _TICKS) + _UUID_EPOCH_TICKS
    return f"{ticks >> 28:08x}-{ticks >> 12 & 0xFFFF:04x}-6{ticks & 0xFFF:03x}"


def moment_of(id_: str) -> datetime | None:
    """Return when a checkpoint was made; None if its id has no time, or one of no calendar."""
    try:
        high, middle, low, *_ = id_.split("-")
        ticks = (int(high, 16) << 28) + (int(middle, 16) << 12) + int(low[1:], 16)
        return datetime.fromtimestamp((ticks - _UUID_EPOCH_TICKS) / _TICKS, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def as_stored(channel: str, value: Any) -> Any:
    """Return a write as it is stored and read: an exception a task failed with becomes text.

    LangGraph's serializer writes the `repr` of exceptions. `StateSnapshot.tasks[].error` and the
    API's threads hold what a saver returns, and their readers expect text. Rows that hold an
    exception were written by versions up to 0.2. An exception in another channel stays one.

    Args:
        channel: What was written to.
        value: What was written, or read.
    """
    if channel != ERROR:
        return value
    match value:
        case UnstoredError(type_name=name, text=text):
            return f"{_class_name(name)}({text!r})"
        case BaseException():
            return _repr(value)
        case OpaqueStr():  # an exception whose class is gone
            return str(value)
    return value


def _class_name(type_name: str) -> str:
    return type_name.rpartition(":")[2].rpartition(".")[2]


def _repr(error: BaseException) -> str:
    try:
        return repr(error)
    except Exception:  # code of the exception's class
        return f"{type(error).__name__}()"


class LazyValues(Mapping[str, Any]):
    """The values of channels, each decoded when it is read for the first time.

    Args:
        names: The channels.
        decode: Gives the value of a channel. What it raises, reading the value raises.
    """

    def __init__(self, names: Iterable[str], decode: Callable[[str], Any]) -> None:
        self._names = dict.fromkeys(names)
        self._decode = decode
        self._known: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            if name not in self._names:
                raise KeyError(name)
            self._known[name] = self._decode(name)
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        shown = (
            f"{name!r}: {self._known[name]!r}" if name in self._known else f"{name!r}: …"
            for name in self._names
        )
        return f"{{{', '.join(shown)}}}"

    def copy(self) -> dict[str, Any]:
        """A plain dict."""
        return {name: self[name] for name in self._names}


class ListedCheckpoint(CheckpointTuple):
    """A checkpoint of a list, as every saver gives it; it is decoded when someone asks for it.

    So a list of which only the configs are read takes no time for the values. Whoever has the
    checkpoint has all of it: C code that goes around the methods of a dict, as the serializers of
    other savers do, finds plain values.
    """

    _writes: Callable[[], list[PendingWrite]] | None = None

    @classmethod
    def of(cls, found: CheckpointTuple, writes: Callable[[], list[PendingWrite]]) -> Self:
        """Make one.

        Args:
            found: The checkpoint with `LazyValues`, and without writes.
            writes: Decodes those.
        """
        made = cls(*found)
        made._writes = writes
        return made

    @property
    def undecoded(self) -> CheckpointTuple:
        """The checkpoint, of which only those channels are decoded that are looked at."""
        checkpoint: Any = tuple.__getitem__(self, 1)
        return CheckpointTuple(
            self.config, checkpoint, self.metadata, self.parent_config, self.pending_writes
        )

    @cached_property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint, with all that can be decoded of its channels."""
        found: Any = tuple.__getitem__(self, 1)
        decoded = found["channel_values"]
        with suppress(SerdeError):  # reading the channel says why
            decoded = decoded.copy()
        checkpoint: Any = {**found, "channel_values": decoded}
        return checkpoint  # type: ignore[no-any-return]  # as it was stored

    @cached_property
    def pending_writes(self) -> list[PendingWrite] | None:
        """What tasks wrote on it."""
        raw: Any = tuple.__getitem__(self, 4)
        return self._writes() if self._writes else raw

    def __iter__(self) -> Iterator[Any]:
        yield from (self.config, self.checkpoint, self.metadata)
        yield from (self.parent_config, self.pending_writes)

    def __getitem__(self, at: Any) -> Any:
        return tuple(self)[at]

    def __eq__(self, other: object) -> bool:
        return tuple(self) == other

    __hash__ = None  # type: ignore[assignment]  # as of every tuple that holds a dict

    def __reduce__(self) -> tuple[Any, ...]:
        return CheckpointTuple, tuple(self)


_LEDGER: Final = "ledger"


class FoundCheckpoints:
    """Checkpoints that were read, and the pieces that they share.

    Args:
        values: Decodes them.
        thread_id: The thread that goes on from what is found, if one does.
    """

    def __init__(self, values: Values, thread_id: str | None = None) -> None:
        self.checkpoints: list[StoredCheckpoint] = []
        self.assembly = values.assembly_with_memory(thread_id)
        self._values = values

    def manifests(self) -> list[PieceManifest]:
        """Those of all values that were cut."""
        found = (value for stored in self.checkpoints for value in stored.unpacked())
        return [value.manifest for value in found if value.manifest is not None]

    def decoded(self, value: Any, place: CheckpointRef, *what: object) -> Any:
        """A value of a checkpoint.

        Raises:
            SerdeError: It cannot be decoded; the note says which one.
        """
        if isinstance(value, Several):
            return [self.decoded(each, place, *what) for each in value]
        if not isinstance(value, Unpacked):
            return value
        with Naming(place, *what):
            return self._values.value(value, self.assembly)

    def add_ledger(self, place: CheckpointRef, cell: Cell) -> None:
        """Take the ledger of a checkpoint, as the only value that is found of it."""
        at = bound("ledger", place.thread_id, place[1:])
        values = {_LEDGER: self._values.unpacked_if_sound(cell, at)}
        self.checkpoints.append(StoredCheckpoint(place, None, {}, values, {}, []))

    def ledger(self) -> bytes:
        """The ledger that was found."""
        (stored,) = self.checkpoints
        data: bytes = self.decoded(stored.values[_LEDGER], stored.place, "the ledger")
        return data

    def tuples(self) -> Iterator[CheckpointTuple]:
        """The checkpoints as LangGraph has them.

        Raises:
            SerdeError: A value cannot be decoded.
        """
        return (
            stored.as_tuple(self._values_of(stored).copy(), self._writes(stored))
            for stored in self.checkpoints
        )

    def listed(self) -> Iterator[ListedCheckpoint]:
        """The checkpoints, each decoded when someone asks for it."""
        for stored in self.checkpoints:
            found = stored.as_tuple(self._values_of(stored), [])
            yield ListedCheckpoint.of(found, partial(self._writes, stored))

    def _values_of(self, stored: StoredCheckpoint) -> LazyValues:
        def channel(name: str) -> Any:
            return self.decoded(stored.values[name], stored.place, f"channel {name!r}")

        return LazyValues(stored.values, channel)

    def _writes(self, stored: StoredCheckpoint) -> list[PendingWrite]:
        return [
            (write.task_id, write.channel, as_stored(write.channel, self._write(write, stored)))
            for write in stored.writes
        ]

    def _write(self, write: StoredWrite, stored: StoredCheckpoint) -> Any:
        return self.decoded(write.value, stored.place, "write", write[:4])


class History:
    """What delta channels are rebuilt from: for each, the nearest ancestor that stores it, and the
    writes on those that come after it and on that one."""

    def __init__(self, values: Values, channels: Sequence[str]) -> None:
        self.found = FoundCheckpoints(values)
        self.paths: dict[str, list[CheckpointRef]] = {channel: [] for channel in channels}
        self.seeds: dict[str, StoredCheckpoint] = {}
        self.writes: dict[CheckpointRef, list[StoredWrite]] = {}
        self._has_begun = False

    def is_end(self, stored: StoredCheckpoint) -> bool:
        """Take the next checkpoint of the path, the target first, which is not an ancestor."""
        if self._has_begun:
            for channel, path in self.paths.items():
                if channel not in self.seeds:
                    path.append(stored.place)
                    if channel in stored.values:
                        self.seeds[channel] = stored
        self._has_begun = True
        return len(self.seeds) == len(self.paths)

    def manifests(self) -> list[PieceManifest]:
        """Those of the values that `decoded` decodes."""
        seeds = (stored.values[channel] for channel, stored in self.seeds.items())
        writes = (write.value for each in self.writes.values() for write in each)
        values = (value for value in (*seeds, *writes) if isinstance(value, Unpacked))
        return [value.manifest for value in values if value.manifest is not None]

    def decoded(self) -> dict[str, DeltaChannelHistory]:
        """The history as LangGraph has it."""
        history: dict[str, DeltaChannelHistory] = {}
        for channel, path in self.paths.items():
            history[channel] = {
                "writes": [
                    (write.task_id, channel, self.found.decoded(write.value, place, "a write"))
                    for place in reversed(path)
                    for write in self.writes.get(place, ())
                    if write.channel == channel
                ]
            }
            if (stored := self.seeds.get(channel)) is not None:
                value, place = stored.values[channel], stored.place
                history[channel]["seed"] = self.found.decoded(value, place, f"channel {channel!r}")
        return history
