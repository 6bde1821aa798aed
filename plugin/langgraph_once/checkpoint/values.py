"""Values of channels to what a row holds of them, and back.

A short value stands in the row. A long one is cut into pieces, and its manifest stands there. A
checkpoint whose channels stand in one row is packed so that each can be read alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import ormsgpack
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

from langgraph_once.checkpoint.cut import Cutter, Piece
from langgraph_once.checkpoint.pieces import Assembly, Cell, CutValue, PieceManifest, Recent
from langgraph_once.errors import EncodeError, PayloadError, SerdeError, SizeLimitError
from langgraph_once.metrics import storage
from langgraph_once.serde import BoundTo, OnceSerializer, Tag, has_checksum, lead_bytes

if TYPE_CHECKING:
    from langgraph.checkpoint.serde.base import SerializerProtocol

MIN_CUT_BYTES: Final = 26 * 1024
"""Shorter values stand whole in their row: to cut one takes as long as to write ten of these."""
_SHORT_ROW_BYTES: Final = 4 * 1024
"""In a short thread, shorter rows are not compressed: compression would take a fifth of a step.
Longer rows are compressed: they take most of the disk that chats of some turns need."""

_MOST_OF_A_ROW: Final = 1_000_000_000
"""Bytes of the channels of one row, joined: SQLite holds so many in a row if nothing is cut."""

_BYTES: Final = Tag("bytes")
_PIECES: Final = Tag("pieces")
_CHANNELS: Final = Tag("channels")
_VERSION: Final = 1
READABLE: Final = frozenset(
    {
        "source",
        "step",
        "parents",
        "run_attempt",
        "counters_since_delta_snapshot",
        "run_id",
        "thread_id",
        "graph_id",
        "assistant_id",
    }
)
"""What servers and savers look for in rows; ids and counts, none of which a user has typed."""

_OF_PIECES: Final[BoundTo] = ("piece",)
"""What pieces are bound to: no value. Which one it is, its digest tells, which stands in values."""
_AS_IS: Final = frozenset({"once2", "null", "bytes", "bytearray"})
"""What codec `once2` writes."""


class Unpacked(NamedTuple):
    """What a cell says, before it is decoded: bytes of a codec, or what they consist of."""

    tag: str
    data: bytes
    is_sealed: bool
    """Whether one of our keys sealed it: then the classes that it names are known."""
    manifest: PieceManifest | None = None
    beside: tuple[PieceManifest, ...] = ()
    """The manifests of its row, this one among them, where there are several."""
    unopened: tuple[Cell, BoundTo] | None = None
    """The cell, if it could not be opened; why is told when it is decoded."""


class Values:
    """Reads and writes cells with a serializer.

    Args:
        serde: Encodes, compresses and encrypts.
        store_once: Whether long values are cut. What is cut is read in any case.
        packs_short: Whether rows of a short thread are compressed. A thread is short as long as
            none of its values was cut a moment ago.

    Attributes:
        stores_once: Whether long values are cut, which only what `OnceSerializer` writes is.
        encrypts: Whether the serializer encrypts: then no value may stand beside it.
        readable_metadata: What of metadata is not encrypted; all if None.
        requires_sealed_metadata: Whether metadata must not be read that are not encrypted.
    """

    def __init__(
        self, serde: SerializerProtocol, *, store_once: bool = True, packs_short: bool = True
    ) -> None:
        self._serde: Any = _Other(serde)
        self._tag: Callable[[str], Any] = _Label
        self._max_bytes = self._most_of_row = 0
        self.stores_once = False
        keys = [b""]
        if isinstance(serde, OnceSerializer):
            self._serde, self._tag, keys = serde, Tag.parse, serde.piece_keys
            self._max_bytes = serde.config.max_decoded_bytes
            self._most_of_row = max(self._max_bytes, _MOST_OF_A_ROW)
            self.stores_once = store_once and not serde.config.compatible
        self.readable_metadata: frozenset[str] | None = None
        self.requires_sealed_metadata = False
        if isinstance(serde, OnceSerializer) and keys[0]:
            named = frozenset(serde.config.readable_metadata)
            self.readable_metadata = None if "*" in named else READABLE | named
            self.requires_sealed_metadata = (
                serde.config.encryption == "bound" and self.readable_metadata is not None
            )
        self.encrypts = bool(keys[0]) or isinstance(serde, EncryptedSerializer)
        is_plain = isinstance(serde, OnceSerializer) and not self.encrypts
        self._null = Cell("null", b"") if is_plain else None
        self._cutter = Cutter(keys)
        self._recent = Recent(self._cutter, self._check_cut)
        self._packs_short = packs_short

    def cell(self, value: Any, cuts: list[CutValue], bound_to: BoundTo) -> Cell:
        """What stands in the row of a value that has one to itself.

        Args:
            value: The value.
            cuts: Takes what was cut.
            bound_to: The row.
        """
        if value is None and self._null is not None:  # as every second write is
            return self._null
        return self._wrapped(*self._encoded(value, cuts, bound_to), bound_to)

    def channels(
        self,
        checkpoint: Mapping[str, Any],
        values: Mapping[str, Any],
        cuts: list[CutValue],
        bound_to: BoundTo,
    ) -> Cell:
        """What stands in the row of a checkpoint that has its channels in it.

        Args:
            checkpoint: Without `channel_values`.
            values: Those.
            cuts: Takes what was cut.
            bound_to: The row.

        Raises:
            EncodeError: Reading would refuse it.
        """
        if not self.stores_once:
            tag, data = self._serde.encoded({**checkpoint, "channel_values": values})
            size = len(data)
            storage.encoded_bytes += size
            return self._wrapped(tag, data, bound_to)
        head = self._serde.encoded(checkpoint)
        of_row: list[CutValue] = []
        parts = {name: self._encoded(value, of_row, bound_to) for name, value in values.items()}
        parts = self._in_one_row(parts, of_row, cuts)
        size = len(head[1])
        storage.encoded_bytes += size
        return self._packed((head[0].text, head[1]), parts, bound_to)

    def recoded(
        self,
        opened: Unpacked,
        joined: Callable[[PieceManifest], bytes],
        cuts: list[CutValue],
        bound_to: BoundTo,
    ) -> Cell:
        """What stands in a row for bytes of codecs, which stay as they are; nothing is decoded.

        Args:
            opened: What a cell says.
            joined: Gives the bytes of what is in pieces.
            cuts: Takes what was cut.
            bound_to: The row.
        """

        of_row: list[CutValue] = []

        def part(each: Unpacked, cuts: list[CutValue]) -> tuple[Tag, bytes]:
            if each.manifest is None:
                tag, data = self._tag(each.tag), each.data
            else:
                tag, data = self._tag(each.manifest.codec), joined(each.manifest)
            return self._cut(tag, data, cuts, bound_to) if tag.codec == "once2" else (tag, data)

        if opened.tag != "channels":
            return self._wrapped(*part(opened, cuts), bound_to)
        head, opened_parts = _channels(opened)
        parts = {name: part(each, of_row) for name, each in opened_parts.items()}
        parts = self._in_one_row(parts, of_row, cuts)
        return self._packed((head.tag, head.data), parts, bound_to)

    def _packed(
        self, head: tuple[str, bytes], parts: Mapping[str, tuple[Tag, bytes]], bound_to: BoundTo
    ) -> Cell:
        pairs = {name: (tag.text, data) for name, (tag, data) in parts.items()}
        return self._wrapped(_CHANNELS, ormsgpack.packb([_VERSION, head, pairs]), bound_to)

    def sealed(self, data: bytes, bound_to: BoundTo) -> Cell:
        """What stands for bytes: they are compressed and encrypted, never cut."""
        size = len(data)
        storage.encoded_bytes += size
        return self._wrapped(_BYTES, data, bound_to)

    def opened(self, cell: Cell, bound_to: BoundTo) -> bytes:
        """What `sealed` was given.

        Raises:
            SerdeError: It cannot be opened.
        """
        data: bytes = self._serde.unwrapped(cell, bound_to)[1]
        return data

    def piece(self, data: Piece) -> Cell:
        """What stands in the row of a piece."""
        cell = self._piece(data)
        size = len(cell.data)
        storage.new_pieces += 1
        storage.stored_bytes += size
        return cell

    def _piece(self, data: Piece) -> Cell:
        return Cell(*self._serde.wrapped(_BYTES, data, _OF_PIECES, is_piece=True))

    def unpacked(self, cell: Cell, bound_to: BoundTo) -> Unpacked:
        """Open the cell of a row; what it holds is not decoded yet.

        Raises:
            SerdeError: It cannot be opened.
        """
        tag, data = self._serde.unwrapped(cell, bound_to)
        return _unpacked(tag.codec, data, is_sealed=_is_sealed(tag))

    def unpacked_if_sound(self, cell: Cell, bound_to: BoundTo) -> Unpacked:
        """`unpacked`, but what cannot be opened raises its error when it is decoded."""
        try:
            return self.unpacked(cell, bound_to)
        except SerdeError:
            return Unpacked(cell.tag, b"", is_sealed=False, unopened=(cell, bound_to))

    def moved(self, cell: Cell, source: BoundTo, target: BoundTo) -> Cell | None:
        """A cell of one row for another; None if it is the same. Nothing is decoded.

        Raises:
            SerdeError: It cannot be opened.
        """
        moved = self._serde.moved(cell, source, target)
        return moved and Cell(*moved)

    def parts(self, opened: Unpacked) -> tuple[dict[str, Any], dict[str, Any]]:
        """The checkpoint of what `channels` packed, and its channels, each still to be decoded.

        Rows of other savers hold both in one, and their channels are values.

        Raises:
            SerdeError: It is damaged.
        """
        if opened.tag != "channels":
            checkpoint = dict(self._decoded(opened))
            return checkpoint, checkpoint.pop("channel_values", {})
        head, parts = _channels(opened)
        return self._decoded(head), parts

    def raw(self, opened: Unpacked) -> Iterator[tuple[str | None, Unpacked]]:
        """What there is to decode in a cell: channels of a checkpoint by their names."""
        if opened.tag != "channels":
            yield None, opened
            return
        head, parts = _channels(opened)
        yield None, head
        yield from parts.items()

    def is_as_now(self, cell: Cell, bound_to: BoundTo, *, is_checkpoint: bool) -> bool:
        """Whether a cell is encrypted, cut and written as `cell` or `channels` would do it.

        Raises:
            SerdeError: It cannot be opened.
        """
        if not self._serde.is_sealed_as_now(cell):
            return False
        opened = self.unpacked(cell, bound_to)
        if is_checkpoint and (opened.tag == "channels") != self.stores_once:
            return False
        return all(
            self.stores_once
            if part.manifest is not None
            else part.tag in _AS_IS
            and not (
                self.stores_once
                and len(part.data) >= MIN_CUT_BYTES
                and (channel is not None or not is_checkpoint)
            )
            for channel, part in self.raw(opened)
        )

    def piece_in(self, cell: Cell) -> bytes:
        """What `piece` stored."""
        data: bytes = self._serde.unwrapped_bytes(cell, _OF_PIECES)
        return data

    def is_sealed_as_now(self, cell: Cell) -> bool:
        """Whether a cell is encrypted and bound as those that are written now.

        Raises:
            SerdeError: Its tag is not known.
        """
        return bool(self._serde.is_sealed_as_now(cell))

    def manifests(self, cell: Cell, bound_to: BoundTo) -> list[PieceManifest]:
        """Those in a cell; nothing of it is decoded.

        Raises:
            SerdeError: It cannot be opened.
        """
        opened = self.unpacked(cell, bound_to)
        if opened.manifest is not None:
            return [opened.manifest]
        if opened.tag != "channels":
            return []
        _, parts = _channels(opened)
        return [part.manifest for part in parts.values() if part.manifest is not None]

    def _opened_piece(self, cell: Cell) -> tuple[bytes, bool]:
        """What `piece` stored, and whether it is certainly that: zstd looked at its checksum."""
        is_sure = not self.encrypts and cell.tag == "bytes.zstd" and has_checksum(cell.data)
        return self.piece_in(cell), is_sure

    def assembly(self, *, groups_only: bool = False) -> Assembly:
        """Puts cut values together, or tells all of their pieces: every one is read.

        Args:
            groups_only: Whether it is only asked which pieces there are.
        """
        return Assembly(
            lambda cell: (self.piece_in(cell), False), self._cutter, groups_only=groups_only
        )

    def assembly_with_memory(self, thread_id: str | None = None) -> Assembly:
        """Puts cut values together; no pieces are read of those that are remembered.

        Args:
            thread_id: The thread that goes on from these values: they are remembered. If None,
                nobody does.
        """
        assembly = Assembly(
            self._opened_piece,
            self._cutter,
            remembered=self._recent.whole,
        )
        if thread_id is not None:
            assembly.remember = partial(self._recent.keep, thread_id)
        return assembly

    def remembers(self, thread_id: object) -> bool:
        """Whether values of a thread that were cut were read or written a moment ago."""
        return thread_id in self._recent.by_thread

    def value(self, opened: Unpacked, assembly: Assembly) -> Any:
        """Decode what a cell says.

        Raises:
            SerdeError: It cannot be decoded, or a piece is missing.
        """
        if opened.unopened is not None:
            opened = self.unpacked(*opened.unopened)
        manifest = opened.manifest
        if manifest is None:
            return self._decoded(opened)
        if manifest.size > self._max_bytes:
            allowed = f"`max_decoded_bytes` allows {self._max_bytes}"
            raise SizeLimitError(f"it has {manifest.size} bytes; {allowed}", tag=opened.tag)
        if opened.beside:
            unknown = assembly.unremembered(opened.beside)
            self._check_row(unknown, assembly.sizes_of(unknown))
        tag = self._tag(manifest.codec)
        check_size = partial(self._serde.check_expanded, tag, manifest.size)
        check = partial(self._serde.check_joined, tag)
        joined = assembly.joined(manifest, check, check_size)
        return self._decoded(opened._replace(tag=manifest.codec, data=joined))

    def _decoded(self, opened: Unpacked) -> Any:
        tag = self._tag(opened.tag)
        return self._serde.decoded(tag.under("aesgcm") if opened.is_sealed else tag, opened.data)

    def _encoded(self, value: Any, cuts: list[CutValue], bound_to: BoundTo) -> tuple[Tag, bytes]:
        tag, data = self._serde.encoded(value)
        size = len(data)
        storage.encoded_bytes += size
        return self._cut(tag, data, cuts, bound_to) if size >= MIN_CUT_BYTES else (tag, data)

    def _cut(
        self, tag: Tag, data: bytes, cuts: list[CutValue], bound_to: BoundTo
    ) -> tuple[Tag, bytes]:
        if not self.stores_once or not MIN_CUT_BYTES <= len(data) <= self._max_bytes:
            return tag, data  # a larger one would not be joined again
        lead = lead_bytes(data) if tag.codec == "once2" else 0
        thread_id = bound_to[1]
        try:
            cut = self._recent.split(thread_id, tag.text, data, lead_bytes=lead)
        except SizeLimitError:  # so few bytes would not be read
            return tag, data
        cuts.append(cut)
        storage.cut_values += 1
        return _PIECES, cut.manifest.to_bytes()

    def _check_cut(self, cut: CutValue) -> int:
        tag, data = self._tag(cut.manifest.codec), cut.cut.data
        self._serde.check_joined(tag, data, self._least_sizes(cut))
        if cut.is_first:  # most values are written once: none asks what may come to them
            return 0
        more: int = self._serde.most_to_add(tag, data)
        return more

    def _in_one_row(
        self, parts: dict[str, tuple[Tag, bytes]], of_row: list[CutValue], cuts: list[CutValue]
    ) -> dict[str, tuple[Tag, bytes]]:
        """Return the parts of a row: whole, where reading would refuse what pieces become there.

        Args:
            parts: By channel.
            of_row: Those of them that were cut, in their order.
            cuts: Takes what stays so.
        """
        if len(of_row) < 2 or self._may_share_row(of_row):  # one was looked at when it was cut
            cuts += of_row
            return parts
        rest = iter(of_row)
        return {
            name: self._uncut(next(rest)) if part[0] is _PIECES else part
            for name, part in parts.items()
        }

    def _uncut(self, cut: CutValue) -> tuple[Tag, bytes]:
        return self._tag(cut.manifest.codec), cut.cut.data

    def _may_share_row(self, cuts: Sequence[CutValue]) -> bool:
        """Whether reading lets these values stand in one row, in pieces.

        Raises:
            EncodeError: It would not let them stand there whole, either.
        """
        manifests = [cut.manifest for cut in cuts]
        try:
            self._check_row(manifests, self._least_sizes(*cuts))
        except SizeLimitError as error:
            if _size_of(manifests) > self._most_of_row:
                raise EncodeError(f"the checkpoint is not written: {error}") from error
            return False
        return True

    def _check_row(self, manifests: Iterable[PieceManifest], sizes: Iterable[int]) -> None:
        """Look at how long the values of one row will be, before they are joined.

        Raises:
            SizeLimitError: Too long, or longer than so few bytes may become.
        """
        size = _size_of(manifests)
        if size > self._most_of_row:
            raise SizeLimitError(
                f"the channels of one row have {size:,} bytes together, more than "
                f"{self._most_of_row:,}; raise `max_decoded_bytes` above that number to allow it",
                limit_bytes=self._most_of_row,
                tag=_CHANNELS.text,
            )
        self._serde.check_expanded(_CHANNELS, size, sizes, at_most=self._most_of_row)

    def _least_sizes(self, *cuts: CutValue) -> Iterator[int]:
        pieces = {name: piece for cut in cuts for name, piece in cut.pieces.items()}
        for piece in pieces.values():
            # Those that are stored already may be shorter than they would be now.
            yield len(self._piece(piece).data) // 2

    def _wrapped(self, tag: Tag, data: bytes, bound_to: BoundTo) -> Cell:
        packs = (
            self._packs_short
            or len(data) >= _SHORT_ROW_BYTES
            or bound_to[1] in self._recent.by_thread
        )
        cell = Cell(*self._serde.wrapped(tag, data, bound_to, packs=packs))
        size = len(cell.data)
        storage.stored_bytes += size
        return cell


def _size_of(manifests: Iterable[PieceManifest]) -> int:
    return sum(manifest.size for manifest in manifests)


class _Label(NamedTuple):
    text: str

    @property
    def codec(self) -> str:
        return self.text


def _is_sealed(tag: Tag | _Label) -> bool:
    return isinstance(tag, Tag) and "aesgcm" in tag.layers


def _channels(opened: Unpacked) -> tuple[Unpacked, dict[str, Unpacked]]:
    try:
        version, head, parts = ormsgpack.unpackb(opened.data)
        if version != _VERSION:
            raise PayloadError("a newer version wrote the checkpoint", tag=opened.tag)
        is_sealed = opened.is_sealed
        opened_head = _unpacked(*head, is_sealed=is_sealed)
        parts = {name: _unpacked(*part, is_sealed=is_sealed) for name, part in parts.items()}
        manifests = tuple(part.manifest for part in parts.values() if part.manifest is not None)
        if len(manifests) > 1:
            parts = {name: part._replace(beside=manifests) for name, part in parts.items()}
        return opened_head, parts
    except (ValueError, TypeError, AttributeError) as error:
        raise PayloadError("the checkpoint is damaged", tag=opened.tag) from error


def _unpacked(codec: str, data: bytes, *, is_sealed: bool) -> Unpacked:
    manifest = PieceManifest.from_bytes(data) if codec == "pieces" else None
    return Unpacked(codec, data, is_sealed, manifest)


class _Other:
    """Another serializer than ours, in the words of ours: it does all at once."""

    def __init__(self, serde: SerializerProtocol) -> None:
        self._serde = serde

    def encoded(self, value: Any) -> tuple[_Label, bytes]:
        tag, data = self._serde.dumps_typed(value)
        return _Label(tag), data

    def wrapped(self, tag: _Label, data: bytes, _: BoundTo, *, packs: bool) -> tuple[str, bytes]:
        return tag.text, data

    def moved(self, *_: object) -> None:
        return None

    def is_sealed_as_now(self, cell: tuple[str, bytes]) -> bool:
        return False

    def unwrapped(self, cell: tuple[str, bytes], _: BoundTo) -> tuple[_Label, bytes]:
        return _Label(cell[0]), cell[1]

    def unwrapped_bytes(self, cell: tuple[str, bytes], _: BoundTo) -> bytes:
        return cell[1]

    def decoded(self, tag: _Label, data: bytes) -> Any:
        return self._serde.loads_typed((tag.text, data))
