"""What was read of threads: checkpoints and the pieces that they share, and what they say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from langgraph.checkpoint.base import CheckpointTuple, DeltaChannelHistory, PendingWrite

from langgraph_once.checkpoint.lazy_values import LazyValues, ListedCheckpoint
from langgraph_once.checkpoint.pieces.collect import Cell
from langgraph_once.checkpoint.pieces.piece_manifest import PieceManifest
from langgraph_once.checkpoint.pieces.values import Unpacked, Values
from langgraph_once.checkpoint.stored import (
    CheckpointRef,
    Naming,
    Several,
    StoredCheckpoint,
    StoredWrite,
    bound,
)
from langgraph_once.checkpoint.task_errors import as_stored

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
