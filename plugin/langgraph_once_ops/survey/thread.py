"""One thread, read whole: of what it consists, what it would take, what rules would free."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

from langgraph_once.checkpoint import CutValue, Program, ReadCell, Source, Values, entering, reading
from langgraph_once.config import RetentionConfig
from langgraph_once.errors import StorageError
from langgraph_once.serde import OnceSerializer
from langgraph_once_ops.retention import ThreadRows, Weight, outgoing, read_rows, weigh
from langgraph_once_ops.survey.kinds import (
    HEAD,
    MEDIA,
    channel_name,
    channels_in,
    kind_of,
    media_bytes,
)
from langgraph_once_ops.survey.sizes import ThreadSize
from langgraph_once_ops.survey.snapshot import Snapshot

KEPT: Final = (1, 20)
"""How many checkpoints of each namespace rules keep."""
_WRITES: Final = "(pending writes)"
_OTHERS: Final = "(others)"
_MOST_CHANNELS: Final = 200


@dataclass
class Measured:
    """What was found in a thread.

    Attributes:
        after: Bytes that `migrate --to once2` would leave.
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
        lenient = replace(serde.config, on_unavailable="opaque")
        serde = serde.with_config(lenient)
        self._stored_bytes = snapshot.tables.stored_bytes
        self._target = entering(serde, store_once=store_once).target
        self._source = Source(snapshot.saver(serde), Values(reading(serde)))
        self._source.run(self._source.tables.leave_out_missing())

    def weigh(self, thread_id: str, size: ThreadSize) -> Measured:
        """Read a thread, and encode it anew.

        Raises:
            StorageError: The database cannot be read.
        """
        found = Measured(size.bytes)
        rows = self._source.run(read_rows(self._source.tables, thread_id))
        pieces = dict(rows.pieces)
        found.freed = self._freed(thread_id, rows)
        found.orphans = sum(rows.values[key] for key in rows.unread)
        for read in self._source.cells(thread_id):
            found.after += self._new_bytes(read, pieces, found)
        found.after += rows.fixed + sum(pieces.values())
        found.pieces = len(pieces) - len(rows.pieces)
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
                    pieces[name] = self._stored_bytes(len(target.piece(data).data))
        return self._stored_bytes(len(new.data))

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

    def _freed(self, thread_id: str, rows: ThreadRows) -> dict[int, int]:
        """What rules would free; nothing of a thread that cannot be told."""
        freed = {}
        for count in KEPT:
            rules = RetentionConfig(keep_last=count)
            try:
                freed[count] = self._source.run(self._gone(thread_id, rules, rows)).bytes
            except StorageError:
                raise
            except Exception:  # of a damaged row, which is counted where it is read
                freed[count] = 0
        return freed

    def _gone(self, thread_id: str, rules: RetentionConfig, rows: ThreadRows) -> Program[Weight]:
        tables = self._source.tables
        found = yield from outgoing(tables, thread_id, rules, datetime.now(UTC))
        if not found:
            return Weight()
        return (yield from weigh(tables, thread_id, rows, found.checkpoints))


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
