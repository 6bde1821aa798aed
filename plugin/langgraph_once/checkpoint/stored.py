"""What the rows of a checkpoint say, whichever database they are of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple, TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import writes_sort_key

from langgraph_once.checkpoint.pieces.values import Unpacked
from langgraph_once.errors import SerdeError
from langgraph_once.serde.layers.encryption import BoundTo

__all__ = [
    "CellAt",
    "CellTable",
    "Place",
    "Several",
    "StoredCheckpoint",
    "StoredWrite",
    "bound",
    "naming",
]

Holds: TypeAlias = Literal["checkpoint", "value", "write", "ledger", "metadata"]


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


class Place(NamedTuple):
    """Where a checkpoint is."""

    thread_id: str
    checkpoint_ns: str
    checkpoint_id: str | None = None
    """None for the latest."""

    @classmethod
    def of(cls, config: RunnableConfig) -> Place:
        """The place that a config names."""
        at = config["configurable"]
        id_ = at.get("checkpoint_id")
        return cls(str(at["thread_id"]), str(at.get("checkpoint_ns", "")), id_ and str(id_))

    def config(self) -> RunnableConfig:
        """The config that names the place."""
        return {"configurable": self._asdict()}


@contextmanager
def naming(what: str, place: Place) -> Iterator[None]:
    """Add to a `SerdeError` what could not be read, and of which checkpoint."""
    try:
        yield
    except SerdeError as error:
        at = f"checkpoint {place.checkpoint_id} of thread {place.thread_id!r}"
        error.add_note(f"in {what} of {at}, namespace {place.checkpoint_ns!r}")
        raise


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

    place: Place
    parent_id: str | None
    checkpoint: dict[str, Any]
    """Without `channel_values`."""
    values: Mapping[str, Any]
    """By channel: `Unpacked`, `Several` of them, or the value itself."""
    metadata: dict[str, Any]
    writes: list[StoredWrite]

    def unpacked(self) -> Iterator[Unpacked]:
        """All values that are still to be decoded."""
        for value in self.values.values():
            if isinstance(value, Unpacked):
                yield value
            elif isinstance(value, Several):
                yield from value
        yield from (write.value for write in self.writes)
