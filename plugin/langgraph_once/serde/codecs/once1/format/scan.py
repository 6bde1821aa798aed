"""The bytes of format `once1`, looked through without building anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from langgraph_once.serde.bounds.msgpack_headers import (
    HEADERS,
    Kind,
    Token,
    after_value,
    deepest,
    next_header,
    read_token,
    starts_of,
)
from langgraph_once.serde.bounds.weight import Weights
from langgraph_once.serde.codecs.once1.format.layout import REF_PREFIX, VALUES_IN, Ext

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "FIRST_OF_EXT",
    "VALUES_BEFORE",
    "WEIGHTS",
    "after",
    "holds_nothing",
    "is_deeper_than",
    "lead_bytes",
    "next_opening",
    "ref_positions",
    "split",
]


VALUES_BEFORE: Final = 2
"""How many values describe the list or the map that `MODELS` and `TREE` stand for, before that."""

_MOST_LEAD_BYTES: Final = 4096
"""Of the entries of a table that are taken for what changes: they are stored with each manifest."""

WEIGHTS: Final = Weights(
    {
        Ext.TUPLE: 8,
        **dict.fromkeys((Ext.MAP, Ext.SET, Ext.FROZENSET), 20),
        **dict.fromkeys((Ext.ADAPTER, Ext.CLASS, Ext.FUNCTION), 20),
        **dict.fromkeys((Ext.MODEL, Ext.MODELS, Ext.HEAD, Ext.TREE), 20),
        **dict.fromkeys((Ext.FAMILY, Ext.VERSIONED, Ext.RECORD), 30),
    },
    others=20,
    nested=VALUES_IN,
)
"""What reading takes."""


def after(token: Token) -> int:
    """Return where the next header is: inside, where the content is msgpack."""
    return token.body if token.code in VALUES_IN else token.end


def lead_bytes(data: bytes, at: int = 0) -> int:
    """Return where the bytes end that are others whenever the value at `at` gets longer.

    Raises:
        ValueError: The bytes are damaged.
    """
    top = read_token(data, at)
    at = top.body
    if top.kind is Kind.ARRAY and top.size:
        first = read_token(data, at)
        return first.body + first.size if first.code == Ext.HEAD else at
    if top.code == Ext.TABLE:
        return _lead_of_last(data, at)
    if top.code in (Ext.MODELS, Ext.TREE):
        at = read_token(data, at).body
        for _ in range(VALUES_BEFORE):
            at = after_value(data, at)
        return read_token(data, at).body
    return read_token(data, at).body if top.code == Ext.TUPLE else at


def _lead_of_last(data: bytes, at: int) -> int:
    """`lead_bytes` of the last entry of a table, if those before it are short."""
    last = begin = at
    while at < len(data):
        token = read_token(data, at)
        last, at = token.body, token.body + token.size
    return lead_bytes(data, last) if last - begin <= _MOST_LEAD_BYTES else begin


def split(data: bytes) -> list[bytes | memoryview]:
    """Return the entries of a blob; the blob itself where it has no table.

    Raises:
        ValueError: The bytes are damaged.
    """
    top = read_token(data, 0)
    if top.code != Ext.TABLE:
        return [data]
    if top.body + top.size != len(data) or not top.size:
        raise ValueError("an empty table, or bytes after it")
    view = memoryview(data)
    entries: list[bytes | memoryview] = []
    at = top.body
    while at < len(data):
        token = read_token(data, at)
        if data[at] not in (0xC4, 0xC5, 0xC6):
            raise ValueError("an entry of the table is not a bin")
        at = token.body + token.size
        entries.append(view[token.body : at])
    return entries


def holds_nothing(data: bytes | memoryview) -> bool:
    """Whether `data` is one text or the bytes of one buffer, in which no other value stands."""
    top = read_token(data, 0)
    is_leaf = top.kind in (Kind.SCALAR, Kind.EXT) and top.code not in VALUES_IN
    return is_leaf and top.body + top.size == len(data)


def next_opening(data: bytes, at: int) -> int:
    """Return where the next extension or array is, from the header at `at` on.

    Arrays that begin with anything but an extension are passed over, where one byte tells.

    Raises:
        ValueError: The last header is cut off.
    """
    end = len(data)
    steps, ext = _PLAIN_STEPS, FIRST_OF_EXT
    try:
        while at < end:
            first = data[at]
            step = steps[first]
            if step:
                at += step
            elif first in ext or first in _FIRST_OF_ARRAY:
                if first > _FIXARRAY_15 or data[at + 1 : at + 2] in _EXT_BYTES:
                    return at
                at += 1
            elif first == _TEXT:  # the most frequent by far
                at += 2 + data[at + 1]
            else:
                at = next_header(data, at, VALUES_IN)[0]
    except IndexError:
        raise ValueError("the msgpack is cut off") from None
    return end


def is_deeper_than(data: bytes, limit: int) -> bool:
    """Whether containers and extensions stand in each other more than `limit` deep."""
    # Text holds no such bytes, so most data is let through at the speed of C.
    if len(data.translate(None, _NO_HEADERS)) <= limit:
        return False
    return deepest(data, limit, VALUES_IN)[0] > limit


def ref_positions(data: bytes) -> Iterator[int]:
    """Yield where in `data` the index of each `REF` begins."""
    at = 0
    while at < len(data):
        token = read_token(data, at)
        if token.code == Ext.REF and data[at : token.body] == REF_PREFIX:
            yield token.body
        at = after(token)


_FIXARRAY_15: Final = 0x9F
_TEXT: Final = 0xD9
_FIRST_OF_ARRAY: Final = starts_of(Kind.ARRAY)
_PLAIN_STEPS: Final = [
    0 if width or kind in (Kind.EXT, Kind.ARRAY) else 1 if kind is not Kind.SCALAR else 1 + size
    for kind, width, size in HEADERS
]
"""How far the next header is, where the first byte tells, and it is no array's."""

FIRST_OF_EXT: Final = starts_of(Kind.EXT)
"""The bytes that an extension begins with."""
_EXT_BYTES: Final = frozenset(bytes([b]) for b in FIRST_OF_EXT)

_NO_HEADERS: Final = bytes(sorted(starts_of(Kind.SCALAR)))
