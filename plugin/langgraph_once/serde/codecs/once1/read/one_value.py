"""The value that a blob without a table is."""

from __future__ import annotations

from typing import Any, Final

import ormsgpack

from langgraph_once.serde.bounds.msgpack_headers import Kind
from langgraph_once.serde.codecs.once1.format.layout import unpack_one
from langgraph_once.serde.codecs.once1.format.scan import read_token

__all__ = ["read_one"]

_LARGE_BYTES: Final = 256 * 1024
_FEW_HEADERS: Final = 16
_LONG_PART_BYTES: Final = 8 * 1024


def read_one(content: bytes, ext_hook: Any) -> Any:
    """Return what `unpack_one` does. A large value of few long parts is not copied for that.

    Raises:
        ValueError: The bytes are more than one value, or less.
    """
    if len(content) >= _LARGE_BYTES and _is_surely_one(content):
        return ormsgpack.unpackb(content, ext_hook=ext_hook)
    return unpack_one(content, ext_hook)


def _is_surely_one(content: bytes) -> bool:
    """Whether it is one value and no more; False, too, if its parts are too short to go through."""
    at, seen, left = 0, 0, 1
    try:
        while left and seen <= _FEW_HEADERS + at // _LONG_PART_BYTES:
            token = read_token(content, at)
            if token.kind in (Kind.ARRAY, Kind.MAP):
                at = token.body
                left += token.size * token.kind
            else:
                at = token.body + token.size
            left -= 1
            seen += 1
    except ValueError:  # `unpack_one` tells what is wrong
        return False
    return not left and at == len(content)
