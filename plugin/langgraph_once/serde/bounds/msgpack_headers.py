"""Walking through msgpack from header to header, without building anything.

The one table of what each first byte begins in this package, and the steps that all share who only
look at bytes: how much, how deep, what stands where.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Final, NamedTuple

__all__ = [
    "HEADERS",
    "Header",
    "Kind",
    "Token",
    "after_value",
    "deepest",
    "end_of_value",
    "is_surely_one",
    "next_header",
    "read_token",
    "starts_of",
    "text_at",
]

_NO_CODES: Final[Mapping[int, int]] = MappingProxyType({})

_LARGE_BYTES: Final = 256 * 1024
_FEW_HEADERS: Final = 16
_LONG_PART_BYTES: Final = 8 * 1024


class Kind(IntEnum):
    """What stands behind a header."""

    SCALAR = 0
    ARRAY = 1
    MAP = 2
    EXT = 3


class Header(NamedTuple):
    """What a first byte tells."""

    kind: Kind
    width: int
    """How many bytes the field behind it has that tells the size."""
    size: int
    """The size where there is no such field: bytes of a scalar or an extension, items, pairs."""


def _headers() -> list[Header]:
    table = [Header(Kind.SCALAR, 0, 0)] * 256
    for low in range(16):
        table[0x80 + low] = Header(Kind.MAP, 0, low)
        table[0x90 + low] = Header(Kind.ARRAY, 0, low)
    for low in range(32):
        table[0xA0 + low] = Header(Kind.SCALAR, 0, low)
    for power in range(3):
        table[0xC4 + power] = table[0xD9 + power] = Header(Kind.SCALAR, 1 << power, 0)
        table[0xC7 + power] = Header(Kind.EXT, 1 << power, 0)
    table[0xCA], table[0xCB] = Header(Kind.SCALAR, 0, 4), Header(Kind.SCALAR, 0, 8)
    for power in range(4):
        table[0xCC + power] = table[0xD0 + power] = Header(Kind.SCALAR, 0, 1 << power)
    for power in range(5):
        table[0xD4 + power] = Header(Kind.EXT, 0, 1 << power)
    table[0xDC], table[0xDD] = Header(Kind.ARRAY, 2, 0), Header(Kind.ARRAY, 4, 0)
    table[0xDE], table[0xDF] = Header(Kind.MAP, 2, 0), Header(Kind.MAP, 4, 0)
    return table


HEADERS: Final = _headers()
"""By the first byte."""


def starts_of(kind: Kind) -> frozenset[int]:
    """Return the first bytes of what is of this kind."""
    return frozenset(first for first, header in enumerate(HEADERS) if header.kind is kind)


class Token(NamedTuple):
    """One header, and where its content begins."""

    kind: Kind
    size: int
    """Bytes of a scalar or an extension, items of an array, pairs of a map."""
    code: int
    """The extension's, else -1."""
    body: int

    @property
    def end(self) -> int:
        """Where the next header is that does not stand in an extension."""
        return self.body if self.kind in (Kind.ARRAY, Kind.MAP) else self.body + self.size


def read_token(data: bytes | memoryview, at: int) -> Token:
    """Return what stands at `at`.

    Raises:
        ValueError: Nothing does, or less than its header promises.
    """
    try:
        kind, width, size = HEADERS[data[at]]
        at += 1
        if width:
            size = int.from_bytes(data[at : at + width], "big")
            at += width
        code = -1
        if kind is Kind.EXT:
            code = data[at]
            at += 1
    except IndexError:
        raise ValueError("the msgpack is cut off") from None
    if size > len(data) - at:  # every item of an array takes a byte, too
        raise ValueError("a header promises more than there is")
    return Token(kind, size, code, at)


def text_at(data: bytes, at: int) -> tuple[str, int]:
    """Return the string at `at`, and where it ends."""
    token = read_token(data, at)
    end = token.body + token.size
    if token.kind is not Kind.SCALAR or not (0xA0 <= data[at] <= 0xBF or 0xD9 <= data[at] <= 0xDB):
        raise ValueError("no name where one belongs")
    return data[token.body : end].decode(), end


def next_header(
    data: bytes | memoryview, at: int, values_in: Mapping[int, int] = _NO_CODES
) -> tuple[int, int, int]:
    """Return where the header behind the one at `at` is, in a third of the time of `read_token`.

    Args:
        data: Msgpack, which may be cut off: then that is beyond its end, or an `IndexError`.
        at: Where a header is.
        values_in: By code, how many values the content of an extension is, where it is looked into.

    Returns:
        That place, how many values stand inside, and where these end if that is told, else -1.
    """
    kind, width, size = HEADERS[data[at]]
    at += 1
    if width:
        size = int.from_bytes(data[at : at + width], "big")
        at += width
    if kind is Kind.SCALAR:
        return at + size, 0, -1
    if kind is not Kind.EXT:
        return at, size * kind, -1
    count = values_in.get(data[at], 0)
    return at + 1 + (0 if count else size), count, at + 1 + size


def end_of_value(data: bytes | memoryview, max_values: int, start: int = 0) -> int:
    """Return where the value at `start` ends.

    Returns:
        -1 where that is beyond the end of `data`, or after more than `max_values` values.
    """
    needed, at = 1, start
    try:
        for _ in range(max_values):
            if not needed:
                break
            at, children, _ = next_header(data, at)
            needed += children - 1
    except IndexError:
        return -1
    return at if not needed and at <= len(data) else -1


def after_value(data: bytes, at: int) -> int:
    """Return where the value at `at` ends.

    Raises:
        ValueError: It is cut off.
    """
    end = end_of_value(data, len(data), at)
    if end < 0:
        raise ValueError("the msgpack is cut off")
    return end


def is_surely_one(data: bytes) -> bool:
    """Whether `data` is one large value of few long parts, and no byte more or less.

    That is told sooner than a copy of it is made.
    """
    size = len(data)
    if size < _LARGE_BYTES:
        return False
    return end_of_value(data, _FEW_HEADERS + size // _LONG_PART_BYTES) == size


def deepest(data: bytes, limit: int, values_in: Mapping[int, int] = _NO_CODES) -> tuple[int, int]:
    """Return how deep containers stand in each other, and how deep extensions; stops at `limit`.

    Raises:
        ValueError: The content of an extension is not as many values as `values_in` says.
    """
    at = most = most_objects = objects = 0
    todo: list[list[int]] = []  # of each that is open: how many values are to come, its end
    while at < len(data) and most <= limit:
        at, count, end = next_header(data, at, values_in)
        if count:
            todo.append([count, end])
            objects += end >= 0
            most, most_objects = max(most, len(todo)), max(most_objects, objects)
            continue
        while todo:
            todo[-1][0] -= 1
            if todo[-1][0]:
                break
            end = todo.pop()[1]
            objects -= end >= 0
            if end not in (-1, at):
                raise ValueError("an extension with the wrong number of values")
    return most, most_objects
