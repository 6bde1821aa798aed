"""What the rows of a checkpoint say, whichever database they are of.

A checkpoint's id is a UUID of version 6: ids are ordered by the time in them. Errors of tasks are
text, as LangGraph's own savers give them back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple, writes_sort_key
from langgraph.checkpoint.serde.types import ERROR

from langgraph_once.checkpoint.pieces.values import Unpacked
from langgraph_once.errors import SerdeError
from langgraph_once.redaction import printable
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
