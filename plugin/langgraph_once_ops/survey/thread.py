"""One thread, read whole: of what it consists, what it would take, what rules would free.

Also of which channels a row consists, and what kinds of values these are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from ormsgpack import OPT_NON_STR_KEYS, Ext, packb, unpackb

from langgraph_once.checkpoint import CutValue, Entering, Program, ReadCell, Source, Values, reading
from langgraph_once.config import RetentionConfig
from langgraph_once.errors import StorageError
from langgraph_once.serde import OnceSerializer, check_keys
from langgraph_once_ops.retention import ThreadRows, Weight, outgoing, read_rows, weigh
from langgraph_once_ops.survey.sizes import Snapshot, ThreadSize

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
        self._target = Entering(serde, store_once=store_once).target
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


HEAD: Final = "(versions)"
"""Stands for what a checkpoint says of itself: versions of channels, and what nodes have seen."""
MEDIA: Final = "images and files in messages"
_TRIGGER: Final = ("branch:", "join:", "start:")
_TRIGGERS: Final = "(triggers of nodes)"
_VALUES: Final = "channel_values"
_MEDIA_TYPES: Final = frozenset(
    {"image", "image_url", "input_image", "audio", "input_audio", "video", "file", "media"}
    | {"document", "video_url"}
)
_MOST_BLOCKS: Final = 100_000


def channels_in(data: bytes) -> dict[str, int]:
    """Bytes of each channel of a checkpoint that upstream's serializer wrote whole.

    Raises:
        ValueError: It is none, or damaged.
    """
    check_keys(data)
    checkpoint = unpackb(data, ext_hook=Ext, option=OPT_NON_STR_KEYS)
    values = checkpoint.get(_VALUES, {}) if isinstance(checkpoint, dict) else None
    if not isinstance(values, dict) or {*map(type, checkpoint)} - {str}:
        raise ValueError("no checkpoint")
    try:
        found = {name: _size(value) for name, value in values.items()}
        return {HEAD: len(data) - _size(values), **found}
    except TypeError as error:  # lists are nested too deep
        raise ValueError("it is nested too deep") from error


def _size(value: Any) -> int:
    return len(packb(value, None, OPT_NON_STR_KEYS))


def channel_name(channel: str) -> str:
    """How a channel is named in the report: those that only trigger nodes are one."""
    return _TRIGGERS if channel.startswith(_TRIGGER) else channel


def kind_of(value: Any) -> str:
    """What kind of value it is, in the words of the report."""
    if isinstance(value, _DeltaSnapshot):
        return kind_of(value.value)
    first = value[0] if isinstance(value, list | tuple) and value else value
    kinds: tuple[tuple[Any, str], ...] = (
        (BaseMessage, "messages"),
        (str, "text"),
        (bytes | bytearray, "bytes"),
        (bool | int | float | None, "numbers and flags"),
    )
    for types, kind in kinds:
        if isinstance(first if kind == "messages" else value, types):
            return kind
    if isinstance(value, dict | list | tuple | set | frozenset):
        return "dicts and lists"
    return "objects of other classes"


def media_bytes(value: Any) -> int:
    """Characters of images and files that stand in the content of messages."""
    if isinstance(value, _DeltaSnapshot):
        value = value.value
    messages = value if isinstance(value, list | tuple) else [value]
    blocks = (
        block
        for message in messages[:_MOST_BLOCKS]
        if isinstance(message, BaseMessage) and isinstance(message.content, list)
        for block in message.content[:_MOST_BLOCKS]
    )
    return sum(
        _text_in(block)
        for block in blocks
        if isinstance(block, dict) and block.get("type") in _MEDIA_TYPES
    )


def _text_in(block: Mapping[Any, Any]) -> int:
    """Of a block, and of the dicts that are its values: deeper, there is no media."""
    inside = [each for each in block.values() if isinstance(each, dict)]
    return sum(
        len(each)
        for part in (block, *inside)
        for each in part.values()
        if isinstance(each, str | bytes)
    )
