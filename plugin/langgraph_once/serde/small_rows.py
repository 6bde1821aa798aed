"""What a small row may become: a kilobyte of zstd can say all that `max_decoded_objects` allows.

Values that compress that well are stored as they are, so nothing is refused at writing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from ormsgpack import unpackb

from langgraph_once.errors import SizeLimitError
from langgraph_once.serde.codecs.langgraph.read.json_rows import check_weight
from langgraph_once.serde.codecs.langgraph.scan import WEIGHTS as MSGPACK_WEIGHTS
from langgraph_once.serde.codecs.langgraph.scan import most_open_bytes
from langgraph_once.serde.codecs.once1.format.scan import WEIGHTS, split

if TYPE_CHECKING:
    from langgraph_once.config import SerdeConfig
    from langgraph_once.serde.bounds.weight import Weights
    from langgraph_once.serde.codecs.langgraph.read.msgpack_rows import MsgpackDecoder
    from langgraph_once.serde.codecs.once1 import Decoder
    from langgraph_once.serde.layers.tag import Tag

__all__ = ["SMALL_BYTES", "SmallRows"]

_SHARE: Final = 56
"""Of the units that a value may take, a small row may take one in so many: of 2**28, as many texts
of one sign as fill 450 MB."""

_JSON_SHARE: Final = 16
"""JSON counts its signs, in texts too, and takes less for each."""

SMALL_BYTES: Final = 1024 * 1024
_MOST_UNITS_OF_A_BYTE: Final = 13
"""Of an extension of three bytes, in both codecs."""

_MOST_LEVELS: Final = 16
"""Deeper, extensions in each other are short, or the reader itself refuses them."""


class SmallRows:
    """Bounds what rows below a megabyte may hold."""

    def __init__(
        self, config: SerdeConfig, decoders: Callable[[int], tuple[Decoder, MsgpackDecoder]]
    ) -> None:
        """Take the bounds of any value, and what makes decoders that allow so many units."""
        self._limit = config.max_decoded_objects
        self._most_bytes = config.max_decoded_bytes
        self._units = self._limit // _SHARE
        self._once1, self._msgpack = decoders(self._units)
        self.free_bytes = self._units // _MOST_UNITS_OF_A_BYTE
        """Values that are no longer are read in any case."""

    def check(self, tag: Tag, data: bytes, stored_bytes: int, *, joined: bool = False) -> None:
        """Look at what came out of a compressed row.

        Args:
            tag: Of the value.
            data: The value.
            stored_bytes: What it was in the database.
            joined: Whether it stands there in pieces. Then nothing is read to see what it takes.

        Raises:
            SizeLimitError: It is more than a row of so few bytes may hold.
        """
        if stored_bytes >= SMALL_BYTES or len(data) <= self.free_bytes:
            return
        try:
            with suppress(ValueError, TypeError, AttributeError):  # damaged, as reading will tell
                self._check(tag.codec, data, tag.text, joined=joined)
        except SizeLimitError as error:
            raise SizeLimitError(
                f"a compressed row of {stored_bytes:,} bytes holds a value of {len(data):,} bytes "
                f"that takes too large a part of `max_decoded_objects` ({self._limit:,}); raise it "
                "if you trust what wrote the row",
                limit_objects=self._limit,
                tag=tag.text,
            ) from error

    def _check(self, codec: str, data: bytes, tag: str, *, joined: bool) -> None:
        is_long = len(data) * _MOST_LEVELS > self._most_bytes
        if is_long and most_open_bytes(data, self._most_bytes) > self._most_bytes:
            raise SizeLimitError("it is large and nested", tag=tag)
        by_codec: dict[str, list[bytes]] = {codec: [data]}
        if codec == "channels":
            _, head, channels = unpackb(data)
            by_codec = {}
            for name, part in (head, *channels.values()):
                by_codec.setdefault(name, []).append(part)
        check_weight(b",".join(by_codec.get("json", ())), tag, limit=self._limit // _JSON_SHARE)
        msgpack, once1 = by_codec.get("msgpack", []), by_codec.get("once1", [])
        self._check_sum(MSGPACK_WEIGHTS, msgpack, tag)
        self._check_sum(WEIGHTS, [entry for part in once1 for entry in split(part)], tag)
        if not joined:
            for part in msgpack:
                self._msgpack.check(part, tag, patterns=True)
            for part in once1:
                self._once1.check(part, tag, patterns=True)

    def _check_sum(self, weights: Weights, parts: Sequence[bytes | memoryview], tag: str) -> None:
        """Check what the channels of one row take together."""
        if weights.exceed(parts, self._units):
            raise SizeLimitError("it takes too much", tag=tag)

    def spare_bytes(self, data: bytes) -> int:
        """Return how many bytes may be added or others before a look finds `data` too large.

        Args:
            data: A value of codec `once1` that stands in pieces.
        """
        short = self._most_bytes // _MOST_LEVELS - len(data)
        return min(short, WEIGHTS.spare_bytes(data, self._units))

    def may_hold(self, tag: Tag, data: bytes, stored_bytes: int, *, joined: bool = False) -> bool:
        """Whether `data` is read when it is stored in so many bytes."""
        try:
            self.check(tag, data, stored_bytes, joined=joined)
        except SizeLimitError:
            return False
        return True
