"""One thread, read whole: of what it consists, what it would take, what rules would free."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

from langgraph_once.checkpoint.database import Program, Statement
from langgraph_once.checkpoint.moving.cells import ReadCell, Source
from langgraph_once.checkpoint.moving.migrate import entering, reading
from langgraph_once.checkpoint.pieces.piece_manifest import CutValue
from langgraph_once.checkpoint.pieces.values import Values
from langgraph_once.checkpoint.pruning import dropped_of
from langgraph_once.errors import SerdeError, StorageError
from langgraph_once.serde import OnceSerializer
from langgraph_once.survey.kinds import HEAD, MEDIA, channel_name, channels_in, kind_of, media_bytes
from langgraph_once.survey.sizes import ThreadSize, tables_in
from langgraph_once.survey.snapshot import Snapshot

__all__ = ["KEPT", "Measured", "Scale"]

KEPT: Final = (1, 20)
"""How many checkpoints of each namespace rules keep."""
_WRITES: Final = "(pending writes)"
_OTHERS: Final = "(others)"
_MOST_CHANNELS: Final = 200
_SHORT: Final = 127
"""From so many bytes on PostgreSQL takes four, not one, to say how many."""
_PIECES: Final = "SELECT digest, length(data) FROM once_pieces WHERE thread_id = ?"
_VALUES: Final = """
SELECT checkpoint_ns, version, channel, COALESCE(pg_column_size(blob), 0) FROM checkpoint_blobs
WHERE thread_id = ?
"""
_READ_BY: Final = """
SELECT checkpoint_ns, version.value, version.key, checkpoint_id FROM checkpoints
CROSS JOIN LATERAL jsonb_each_text(checkpoint -> 'channel_versions') version WHERE thread_id = ?
"""


@dataclass
class Measured:
    """What was found in a thread.

    Attributes:
        after: Bytes that `migrate --to once1` would leave.
        pieces: How many new rows of ours there would be.
        channels: Bytes by channel, before they are compressed.
        kinds: Likewise, by kind of value.
        freed: Bytes that a rule would free, by how many checkpoints it keeps.
        orphans: Bytes of values that no checkpoint has any more.
        unread: Values that could not be read, by the reason.
    """

    before: int
    after: int = 0
    pieces: int = 0
    channels: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    freed: dict[int, int] = field(default_factory=dict)
    orphans: int = 0
    unread: Counter[str] = field(default_factory=Counter)


class Scale:
    """Weighs threads of a database.

    Args:
        snapshot: The database.
        serde: How values would be written, and are read.
        store_once: Whether long values would be cut.
    """

    def __init__(self, snapshot: Snapshot, serde: OnceSerializer, *, store_once: bool) -> None:
        # It is only weighed: of an object whose class is not here, the bytes are.
        lenient = replace(serde.config, on_unavailable="opaque", on_unknown="opaque")
        serde = serde.with_config(lenient)
        self._snapshot = snapshot
        self._target = entering(serde, store_once=store_once).target
        self._source = Source(snapshot.saver(serde), Values(reading(serde)))

    def weigh(self, thread_id: str, size: ThreadSize) -> Measured:
        """Read a thread, and encode it anew.

        Raises:
            StorageError: The database cannot be read.
        """
        found = Measured(size.bytes)
        rows, fixed = self._rows(thread_id)
        pieces = self._pieces(thread_id)
        stored = len(pieces)
        found.freed, found.orphans = self._freed(thread_id, rows, pieces)
        for read in self._source.cells(thread_id):
            found.after += self._new_bytes(read, pieces, found)
        found.after += fixed + sum(pieces.values())
        found.pieces = len(pieces) - stored
        found.channels = _bounded(found.channels)
        if found.unread:  # as `migrate` does: such a thread is left as it is
            found.after = size.bytes
        return found

    def _new_bytes(self, read: ReadCell, pieces: dict[bytes, int], found: Measured) -> int:
        """How long a row would be; `pieces` takes those that it would have."""
        target, is_checkpoint = self._target, read.table.holds == "checkpoint"
        cuts: list[CutValue] = []
        try:
            checkpoint, values, broken = read.decoded()
            for error in broken.values():
                raise error
            self._tell(read, values, found)
            if target.is_as_now(read.cell, read.bound_to, is_checkpoint=is_checkpoint):
                new = read.cell
            elif checkpoint is None:
                new = target.cell(values[read.at.channel], cuts, read.bound_to)
            else:
                new = target.channels(checkpoint, values, cuts, read.bound_to)
        except Exception as error:
            found.unread[type(error).__name__] += 1
            return 0
        for cut in cuts:
            for name, data in cut.pieces.items():
                if name not in pieces:
                    pieces[name] = self._bytes(len(target.piece(data).data))
        return self._bytes(len(new.data))

    def _bytes(self, length: int) -> int:
        """What so many bytes take; PostgreSQL says before them how many they are."""
        if not self._snapshot.is_postgres:
            return length
        return length + (1 if length < _SHORT else 4)

    def _tell(self, read: ReadCell, values: Mapping[Any, Any], found: Measured) -> None:
        """Take note of what a row holds."""
        for name, length in _channels(read).items():
            channel = _WRITES if read.table.holds == "write" else channel_name(str(name))
            found.channels[channel] += length
            if name not in values:
                found.kinds[HEAD] += length
                continue
            media = min(length, media_bytes(values[name]))
            found.kinds[kind_of(values[name])] += length - media
            found.kinds[MEDIA] += media

    def _rows(self, thread_id: str) -> tuple[Counter[tuple[str, str]], int]:
        """Bytes by checkpoint, with all that is on it; and how many stay as they are."""
        sizes: Counter[tuple[str, str]] = Counter()
        fixed = 0
        for table in tables_in(self._snapshot):
            if table.newest != "checkpoint_id":
                continue
            statement = (
                f"SELECT checkpoint_ns, checkpoint_id, {table.size}, {table.fixed} "
                f"FROM {table.name} WHERE thread_id = ?"
            )
            for ns, id_, size, stays in self._snapshot.ask(Statement(statement, [thread_id])):
                sizes[ns, id_] += size
                fixed += stays
        return sizes, fixed

    def _pieces(self, thread_id: str) -> dict[bytes, int]:
        if not self._source.has_own:
            return {}
        rows = self._snapshot.ask(Statement(_PIECES, [thread_id]))
        return {bytes(digest): self._bytes(length) for digest, length in rows}

    def _freed(
        self, thread_id: str, rows: Mapping[tuple[str, str], int], pieces: Mapping[bytes, int]
    ) -> tuple[dict[int, int], int]:
        """What rules would free, and values that no checkpoint has."""
        values: dict[tuple[str, str, str], int] = {}
        read_by: dict[tuple[str, str, str], set[str]] = {}
        if self._snapshot.is_postgres:
            found = self._snapshot.ask(Statement(_VALUES, [thread_id]))
            values = {tuple(key): size for *key, size in found}
            for *by, id_ in self._snapshot.ask(Statement(_READ_BY, [thread_id])):
                read_by.setdefault(tuple(by), set()).add(id_)
        freed = {}
        for count in KEPT:
            gone = self._gone(thread_id, count)
            freed[count] = sum(size for place, size in rows.items() if place in gone)
            for key, size in values.items():
                if all((key[0], id_) in gone for id_ in read_by.get(key, ())):
                    freed[count] += size
                    gone.add(key)
            freed[count] += sum(pieces.values()) - self._kept_pieces(thread_id, gone, pieces)
        return freed, sum(size for key, size in values.items() if key not in read_by)

    def _gone(self, thread_id: str, count: int) -> set[tuple[str, ...]]:
        """The checkpoints that a rule deletes; none of a thread that cannot be told."""
        try:
            dropped = self._source.run(dropped_of(self._source.tables, thread_id, count, None))
        except StorageError:
            raise
        except Exception:  # of a damaged row, which is counted where it is read
            return set()
        return {(ns, id_) for ns, ids in dropped.items() for id_ in ids}

    def _kept_pieces(
        self, thread_id: str, gone: set[tuple[str, ...]], pieces: Mapping[bytes, int]
    ) -> int:
        """Bytes of the pieces that a thread has without some of its checkpoints."""
        if not pieces:
            return 0
        return self._source.run(self._all_of(thread_id, gone, pieces))

    def _all_of(
        self, thread_id: str, gone: set[tuple[str, ...]], pieces: Mapping[bytes, int]
    ) -> Program[int]:
        tables = self._source.tables
        cells = yield from tables.manifest_cells(thread_id)
        assembly = tables.values.assembly(groups_only=True)
        try:
            manifests = [
                manifest
                for cell, bound_to in cells
                # A value is of several checkpoints: its row is named by all of its key.
                if tuple(bound_to[2:5] if bound_to[0] == "value" else bound_to[2:4]) not in gone
                for manifest in tables.values.manifests(cell, bound_to)
            ]
            yield from tables.collect(thread_id, manifests, assembly)
            kept = assembly.all_of(manifests)
        except SerdeError:
            return sum(pieces.values())
        return sum(pieces.get(name, 0) for name in kept)


def _bounded(channels: Counter[str]) -> Counter[str]:
    """The largest of them: a row may name any number."""
    most = Counter(dict(channels.most_common(_MOST_CHANNELS)))
    if len(most) < len(channels):
        most[_OTHERS] = channels.total() - most.total()
    return most


def _channels(read: ReadCell) -> dict[Any, int]:
    """Bytes by channel, before anything is cut or compressed."""
    encoded = [*read.encoded()]
    if read.table.holds == "checkpoint":
        channel, tag, data = encoded[0]
        if len(encoded) == 1 and channel is None and tag == "msgpack":
            with suppress(ValueError):
                return dict(channels_in(data))
        return {HEAD if name is None else name: len(each) for name, _, each in encoded}
    return {channel: len(data) for channel, _, data in encoded}
