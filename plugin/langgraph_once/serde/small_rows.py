"""What a small row may become: a kilobyte of zstd can say all that `max_decoded_objects` allows.

Values that compress that well are stored as they are, so nothing is refused at writing.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from langgraph_once.errors import SerdeError, SizeLimitError
from langgraph_once.serde.codecs.langgraph.read.json_rows import check_weight

if TYPE_CHECKING:
    from langgraph_once.serde.codecs.langgraph.read.msgpack_rows import MsgpackDecoder
    from langgraph_once.serde.codecs.once1 import Decoder
    from langgraph_once.serde.layers.tag import Tag

__all__ = ["SmallRows"]

_SHARE: Final = 22
"""Of the units that a value may take, a small row may take one in so many: two seconds of 2**28."""

_JSON_SHARE: Final = 5
"""JSON counts its signs, in texts too, and takes less for each."""

_SMALL_BYTES: Final = 1024 * 1024
_MOST_UNITS_OF_A_BYTE: Final = 13
"""Of an extension of three bytes, in both codecs."""


class SmallRows:
    """Bounds what rows below a megabyte may hold."""

    def __init__(
        self, limit: int, decoders: Callable[[int], tuple[Decoder, MsgpackDecoder]]
    ) -> None:
        """Take the units that any value may take, and what makes decoders that allow so many."""
        once1, msgpack = decoders(limit // _SHARE)
        self._limit = limit
        self._free_bytes = limit // _SHARE // _MOST_UNITS_OF_A_BYTE
        self._checks: dict[str, Callable[[bytes, str], object]] = {
            "once1": partial(once1.check, patterns=False),
            "msgpack": partial(msgpack.check, patterns=False),
            "json": partial(check_weight, limit=limit // _JSON_SHARE),
        }

    def check(self, tag: Tag, data: bytes, stored_bytes: int) -> None:
        """Look at what came out of a compressed row.

        Raises:
            SizeLimitError: It is more than a row of so few bytes may hold.
        """
        check = self._checks.get(tag.codec)
        if check is None or stored_bytes >= _SMALL_BYTES or len(data) <= self._free_bytes:
            return
        try:
            with suppress(ValueError):  # damaged, as reading will tell
                check(data, tag.text)
        except SizeLimitError as error:
            raise SizeLimitError(
                f"a compressed row of {stored_bytes:,} bytes holds a value of {len(data):,} bytes "
                f"that takes too large a part of `max_decoded_objects` ({self._limit:,}); raise it "
                "if you trust what wrote the row",
                limit_objects=self._limit,
                tag=tag.text,
            ) from error
        except SerdeError:  # as reading will tell
            return

    def may_hold(self, tag: Tag, data: bytes, stored_bytes: int) -> bool:
        """Whether `data` is read when it is stored in so many bytes."""
        try:
            self.check(tag, data, stored_bytes)
        except SizeLimitError:
            return False
        return True
