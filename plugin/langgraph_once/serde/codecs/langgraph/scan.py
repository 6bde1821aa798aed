"""LangGraph's msgpack, looked through as far as to know what reading it takes.

A map with many keys of one hash takes time in proportion to the square of their number. The
hashes of strings and bytes depend on a secret of the process; those of tuples do not, and arrays
as keys become tuples. ormsgpack makes the dicts, so blobs with large maps are looked through first.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import accumulate
from typing import Any, Final

from langgraph.checkpoint.serde.jsonplus import (
    EXT_CONSTRUCTOR_KW_ARGS,
    EXT_PYDANTIC_V1,
    EXT_PYDANTIC_V2,
)
from ormsgpack import unpackb

from langgraph_once.errors import PayloadError
from langgraph_once.serde.bounds.budget import Budget
from langgraph_once.serde.bounds.hashing import Hashing, are_harmless
from langgraph_once.serde.bounds.msgpack_headers import (
    HEADERS,
    Kind,
    end_of_value,
    next_header,
    read_token,
    starts_of,
)
from langgraph_once.serde.bounds.weight import Weights

__all__ = [
    "WEIGHTS",
    "as_tuple",
    "has_large_maps",
    "keys_of_large_maps",
    "may_nest",
    "most_open_bytes",
    "share_hashes",
    "takes_long",
]

WEIGHTS: Final = Weights(
    {EXT_CONSTRUCTOR_KW_ARGS: 30, EXT_PYDANTIC_V1: 40, EXT_PYDANTIC_V2: 40}, others=20, nested=None
)
"""What reading takes."""

_CONTAINERS: Final = (Kind.ARRAY, Kind.MAP)

_CONTAINER_STARTS: Final = bytes(
    first
    for first, (kind, width, size) in enumerate(HEADERS)
    if kind in _CONTAINERS and (width or size)
)
"""What starts an array or a map that is not empty; text may hold these bytes too."""

_ARRAY_STARTS: Final = bytes(sorted(starts_of(Kind.ARRAY)))

_MOST_BYTES_OF_SHORT: Final = 500 << 16
"""Of those in each other that are no longer than 64 KB: Python writes no more than 500 levels."""

_LONG_EXTENSION: Final = re.compile(rb"(?:\xc8(..)|\xc9(....))[\0-\x07]", re.DOTALL)

_FEW_HEADERS: Final = 256

_MAX_DEPTH: Final = 2000
"""ormsgpack does not follow containers in containers as far as that."""


def may_nest(data: bytes) -> int:
    """Return a bound on how deep `data` nests, extensions included: it may be far too high."""
    return len(data) - len(data.translate(None, _CONTAINER_STARTS))


def most_open_bytes(data: bytes, most: int) -> int:
    """Return a bound on how long extensions in each other are, together; stops below `most`."""
    if len(data) * (1 + data.count(b"\xc9")) + _MOST_BYTES_OF_SHORT <= most:
        return len(data)
    changes: list[tuple[int, int]] = []
    few = _few_extensions(data)
    for start, size in _likely_extensions(data) if few is None else few:
        if size <= len(data) - start:
            changes += (start, size), (start + size, -size)
    changes.sort()
    return len(data) + max(accumulate((change for _, change in changes), initial=0))


def _likely_extensions(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield where the content of what may be a long extension begins, and how long it is."""
    for found in _LONG_EXTENSION.finditer(data):
        yield found.end(), int.from_bytes(found[1] or found[2], "big")


def _few_extensions(data: bytes) -> list[tuple[int, int]] | None:
    """Return the same of all extensions, if `data` ends after few headers: in an array, say."""
    found: list[tuple[int, int]] = []
    at = 0
    for _ in range(_FEW_HEADERS):
        if at >= len(data):
            return found
        token = read_token(data, at)
        if token.kind is Kind.EXT:
            found.append((token.body, token.size))
        at = token.body if token.kind is Kind.EXT else token.end
    return None


def keys_of_large_maps(data: bytes, few: int) -> list[list[tuple[int, bytes]]]:
    """Return what tells the keys of each map of more than `few` keys that starts in `data`.

    Extensions are not looked into.

    Returns:
        For each map, parts of it: how many values follow each other, from a key on, and their
        bytes. A part of one value is a key that is an array. Other keys are left out, most often.
    """
    found: list[list[tuple[int, bytes]]] = []
    # Of each open container: how many values are to come, and the parts if it is a large map.
    still_open: list[tuple[int, list[tuple[int, bytes]] | None]] = [(1, None)]
    at = 0
    while still_open and 0 <= at < len(data) and len(still_open) <= _MAX_DEPTH:
        left, parts = still_open.pop()
        if parts is None:
            at, left = _after_scalars(data, at, left)
        elif left % 2 == 0:
            at, left = _after_keys(data, at, left, parts)
        if not left or not 0 <= at < len(data):
            continue
        first = data[at]
        at, children, _ = next_header(data, at)
        large_map = first in (0xDE, 0xDF) and children > 2 * few
        if left > 1:
            still_open.append((left - 1, parts))
        if large_map:
            found.append([])
        if children:
            still_open.append((children, found[-1] if large_map else None))
    return found


def _after_scalars(data: bytes, at: int, left: int) -> tuple[int, int]:
    """Return where the first container is, and how many of `left` values begin there."""
    for count, run in _runs():
        while count <= left and (found := run.match(data, at)):
            at, left = found.end(), left - count
    return at, left


def _after_keys(data: bytes, at: int, left: int, parts: list[tuple[int, bytes]]) -> tuple[int, int]:
    """Return where a value of a map begins, after a key, and how many of `left` values do there."""
    count, plain, others = _pairs()
    while count <= left:
        found = plain.match(data, at)
        if found is None:
            found = others.match(data, at)
            if found is None:
                break
            parts.append((count, found[0]))
        at, left = found.end(), left - count
    if not left or at >= len(data):
        return at, left
    end = end_of_value(data, len(data), at)
    if data[at] in _ARRAY_STARTS:
        parts.append((1, data[at:end]))
    return end, left - 1


@functools.cache
def _runs() -> tuple[tuple[int, re.Pattern[bytes]], ...]:
    """Return patterns of so many values."""
    one = _short_value()
    return tuple((n, re.compile(b"%s{%d}+" % (one, n), re.DOTALL)) for n in (4096, 256, 16, 4, 1))


@functools.cache
def _pairs() -> tuple[int, re.Pattern[bytes], re.Pattern[bytes]]:
    """Return patterns of so many keys and values: of none that is an array, and of all.

    Keys and values may be short arrays of what holds no other value.
    """
    one = _short_value()
    any_ = b"(?:%s|\\x91%s|\\x92%s{2}|\\x93%s{3})" % (one, one, one, one)
    plain, others = (re.compile(b"(?:%s%s){128}+" % (key, any_), re.DOTALL) for key in (one, any_))
    return 256, plain, others


def _short_value() -> bytes:
    """Return the pattern of a value of up to some 260 bytes that holds no other.

    Extensions are left out whose length is told, and lengths in more bytes than it takes.
    """
    fixed: dict[int, bytes] = {}
    for first, (kind, width, size) in enumerate(HEADERS):
        if not width and first not in _CONTAINER_STARTS:
            rest = size + (kind is Kind.EXT)
            fixed[rest] = fixed.get(rest, b"") + b"\\x%02x" % first
    runs = (b"[%s].{%d}" % (firsts, rest) for rest, firsts in sorted(fixed.items()))
    told = b"|".join(b"\\x%02x.{%d}" % (n, n) for n in range(256))
    return b"(?:%s|[\\xc4\\xd9](?:%s))" % (b"|".join(runs), told)


_FEW: Final = 511
"""Keys of a map. As many of one hash take milliseconds; `share_hashes` lets 800 pass."""

_LARGE_MAP: Final = re.compile(rb"\xde(?=([\x02-\xff].))|\xdf(?=(....))", re.DOTALL)
"""What may be the head of a map of more keys, and how many."""

_ANY: Final = 1 << 62
"""Nothing occurs twice in msgpack: hashing takes no longer than reading."""

_ARRAY: Final = b"\xdd"
_PAIR: Final = b"\x92"
_NIL: Final = b"\xc0"


def has_large_maps(data: bytes) -> bool:
    """Whether `data`, or an extension in it, may hold a map of more than a few keys."""
    # One that promises more than there is counts: its keys are hashed until they end.
    return any(
        min(int.from_bytes(found[1] or found[2]), (len(data) - found.end()) // 2) > _FEW
        for found in _LARGE_MAP.finditer(data)
    )


def takes_long(data: bytes) -> bool:
    """Whether so many keys of a map share a hash that reading it would take very long."""
    # As it will be read: behind the value, and before the mark, another may stand.
    data = b"".join((_PAIR, data, _NIL))
    try:
        unpackb(data, ext_hook=_skip)  # Without the option for them, arrays are no keys.
    except ValueError:
        return any(share_hashes([*_keys(parts)]) for parts in keys_of_large_maps(data, _FEW))
    return False


def share_hashes(items: Collection[Any]) -> bool:
    """Whether a set of these items would take very long, as so many share a hash."""
    if are_harmless(items):
        return False
    try:
        Hashing(Budget(_ANY, "msgpack")).check(items)
    except PayloadError:
        return True
    return False


def as_tuple(item: Any) -> Any:
    """Return a list as a tuple, and so all the way down; what else there is, as it is."""
    if type(item) is not list:
        return item
    made = tuple(item)
    try:
        hash(made)  # to look for lists takes longer
    except TypeError:
        return tuple(map(as_tuple, item))
    return made


def _keys(parts: list[tuple[int, bytes]]) -> Iterator[Any]:
    """Return the arrays among the keys that parts of a map tell; of others, few share a hash."""
    for count, part in parts:
        with suppress(ValueError, RecursionError):  # ormsgpack will stop there
            keys = unpackb(_ARRAY + count.to_bytes(4) + part, ext_hook=_skip)[::2]
            yield from (as_tuple(key) for key in keys if type(key) is list)


def _skip(_code: int, _content: bytes) -> None:
    """Leave out an extension."""
