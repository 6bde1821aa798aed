"""LangGraph's msgpack, read only as far as to know what it takes, or where it ends."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from langgraph.checkpoint.serde.jsonplus import (
    EXT_CONSTRUCTOR_KW_ARGS,
    EXT_PYDANTIC_V1,
    EXT_PYDANTIC_V2,
)

from langgraph_once.serde.bounds.msgpack_headers import HEADERS, Kind, starts_of
from langgraph_once.serde.bounds.weight import Weights

__all__ = ["WEIGHTS", "depth", "end_of_value", "keys_of_large_maps", "may_nest", "most_open_bytes"]

WEIGHTS: Final = Weights(
    {EXT_CONSTRUCTOR_KW_ARGS: 30, EXT_PYDANTIC_V1: 40, EXT_PYDANTIC_V2: 40}, others=20, nested=None
)
"""What reading takes."""

_CONTAINERS: Final = (Kind.ARRAY, Kind.MAP)

_FIXED: Final[dict[int, int]] = {
    first: 1 + width + (0 if kind in _CONTAINERS else size) + (kind is Kind.EXT)
    for first, (kind, width, size) in enumerate(HEADERS)
    if kind in _CONTAINERS or not width
}
"""The length of what this byte starts, where it alone tells; of containers, of the head."""

_SIZED: Final = {
    first: (width, int(kind is Kind.EXT))
    for first, (kind, width, _) in enumerate(HEADERS)
    if width and kind not in _CONTAINERS
}
"""Strings, bytes and extensions: width of the length that follows, further bytes of head."""

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

_EXTENSIONS: Final = starts_of(Kind.EXT)

_FEW_HEADERS: Final = 256

_MAX_DEPTH: Final = 2000
"""ormsgpack does not follow containers in containers as far as that."""


def end_of_value(data: bytes, max_values: int, start: int = 0) -> int:
    """Return where the value at `start` ends.

    Returns:
        -1 where that is beyond the end of `data`, or after more than `max_values` values.
    """
    needed, at = 1, start
    for _ in range(max_values):
        if not needed or at >= len(data):
            break
        needed += _children(data, at) - 1
        at += _length(data, at)
    return at if not needed and at <= len(data) else -1


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
        size = _length(data, at)
        if data[at] in _EXTENSIONS:
            body = at + 2 + _SIZED.get(data[at], (0, 0))[0]
            found.append((body, at + size - body))
            at = body
        else:
            at += size
    return None


def depth(data: bytes, max_depth: int) -> int:
    """Return how deep the values of `data` nest; a number above `max_depth` may be too small.

    Extensions count as one level, whatever they hold.
    """
    open_children: list[int] = []
    deepest = at = 0
    while at < len(data) and deepest <= max_depth:
        children = _children(data, at)
        at += _length(data, at)
        if children:
            open_children.append(children)
            deepest = max(deepest, len(open_children))
            continue
        while open_children:
            open_children[-1] -= 1
            if open_children[-1]:
                break
            open_children.pop()
    return deepest


def keys_of_large_maps(data: bytes, few: int) -> list[list[tuple[int, bytes]]]:
    """Return what tells the keys of each map of more than `few` keys that starts in `data`.

    Extensions are not looked into.

    Returns:
        For each map, parts of it: how many values follow each other, from a key on, and their
        bytes. A part of one value is a key that is an array; other single keys are left out.
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
        children = _children(data, at)
        large_map = data[at] in (0xDE, 0xDF) and children > 2 * few
        at += _length(data, at)
        if left > 1:
            still_open.append((left - 1, parts))
        if large_map:
            found.append([])
        if children:
            still_open.append((children, found[-1] if large_map else None))
    return found


def _after_scalars(data: bytes, at: int, left: int) -> tuple[int, int]:
    """Return where the first container is, and how many of `left` values begin there."""
    for step, run in _runs(_CONTAINER_STARTS):
        while step <= left and (found := run.match(data, at)):
            at, left = found.end(), left - step
    return at, left


def _after_keys(data: bytes, at: int, left: int, parts: list[tuple[int, bytes]]) -> tuple[int, int]:
    """Return where a value of a map begins, after a key, and how many of `left` values do there."""
    step, run = _pairs()
    while step <= left and (found := run.match(data, at)):
        parts.append((step, found[0]))
        at, left = found.end(), left - step
    if not left or at >= len(data):
        return at, left
    end = end_of_value(data, len(data), at)
    if data[at] in _ARRAY_STARTS:
        parts.append((1, data[at:end]))
    return end, left - 1


def _length(data: bytes, at: int) -> int:
    first = data[at]
    if first in _FIXED:
        return _FIXED[first]
    width, more = _SIZED[first]
    return 1 + width + more + int.from_bytes(data[at + 1 : at + 1 + width])


def _children(data: bytes, at: int) -> int:
    """Return how many values follow inside the container at `at`."""
    kind, width, size = HEADERS[data[at]]
    if kind not in _CONTAINERS:
        return 0
    count = int.from_bytes(data[at + 1 : at + 1 + width]) if width else size
    return count if kind is Kind.ARRAY else 2 * count


@functools.cache
def _runs(without: bytes) -> tuple[tuple[int, re.Pattern[bytes]], ...]:
    """Return patterns of so many values, none of them longer than some 260 bytes.

    Args:
        without: The first bytes of values that break a run.
    """
    one = _short_value(without)
    return tuple((n, re.compile(b"%s{%d}+" % (one, n), re.DOTALL)) for n in (4096, 256, 16, 1))


@functools.cache
def _pairs() -> tuple[int, re.Pattern[bytes]]:
    """Return a pattern of so many keys and values, of which keys may be short arrays."""
    one = _short_value(_CONTAINER_STARTS)
    key = b"(?:%s|\\x91%s|\\x92%s{2}|\\x93%s{3})" % (one, one, one, one)
    return 256, re.compile(b"(?:%s%s){128}+" % (key, one), re.DOTALL)


def _short_value(without: bytes) -> bytes:
    """Return the pattern of a value of up to some 260 bytes."""
    by_length: dict[int, bytes] = {}
    for first, length in sorted(_FIXED.items()):
        if first not in without:
            by_length[length] = by_length.get(length, b"") + b"\\x%02x" % first
    fixed = [b"[%s].{%d}" % (firsts, n - 1) for n, firsts in sorted(by_length.items())]
    sized = [
        b"\\x%02x\\x00{%d}(?:%s)" % (first, width - 1, _HELD[more])
        for first, (width, more) in _SIZED.items()
    ]
    return b"(?:%s)" % b"|".join((*fixed, *sized))


_HELD: Final = [b"|".join(b"\\x%02x.{%d}" % (n, n + more) for n in range(256)) for more in (0, 1)]
"""A length below 256 and what it announces, without and with the type of an extension."""
