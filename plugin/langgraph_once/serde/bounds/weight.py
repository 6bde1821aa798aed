"""What rebuilding a value takes, told by its bytes alone, in the units of `budget`.

The writer asks the same as the reader, so that what is written can be read. Small blobs cannot
take too much and are not asked about. Of others, how often each byte occurs tells enough, as a
rule; only where that leaves it open are the bytes walked through, from header to header.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from langgraph_once.serde.bounds.msgpack_headers import HEADERS, Header, Kind, starts_of

__all__ = ["Weights"]

_OF_A_SCALAR: Final = 1
_OF_AN_ARRAY: Final = 4
_OF_A_MAP: Final = 8

_MIN_EXTENSION_BYTES: Final = 3

_SHORT_RUN: Final = 32
_LARGE: Final = 64 * 1024
_FEW: Final = 256
_EXT8: Final = 0xC7


def _step(header: Header) -> int:
    """Return how far the next header is from this one; 0 if it does not tell.

    What is in an array or a map comes next.
    """
    if header.kind in (Kind.ARRAY, Kind.MAP):
        return 1 + header.width
    return 0 if header.width or header.kind is Kind.EXT else 1 + header.size


_ARRAYS: Final = starts_of(Kind.ARRAY)
_MAPS: Final = starts_of(Kind.MAP)
_EXTENSIONS: Final = starts_of(Kind.EXT)
_SCALAR_STARTS: Final = bytes(starts_of(Kind.SCALAR))
_WIDTHS: Final = [header.width for header in HEADERS]
"""Of the length field, where there is one."""

_BYTE_SIZED: Final = (0xD9, 0xC4)

_STEPS: Final = [*map(_step, HEADERS)]
_COSTS: Final = [
    _OF_AN_ARRAY if b in _ARRAYS else _OF_A_MAP if b in _MAPS else _OF_A_SCALAR for b in range(256)
]
_SCALARS: Final = b"|".join(
    (
        rb"[\x00-\x7f\xc0-\xc3\xe0-\xff]",
        rb"\xcb.{8}|[\xcc\xd0].|[\xcd\xd1]..|[\xca\xce\xd2].{4}|[\xcf\xd3].{8}",
        *(b"\\x%02x.{%d}" % (0xA0 + size, size) for size in range(32)),
    )
)
_RUNS: Final = [
    (count, re.compile(b"(?:%s){%d}+" % (_SCALARS, count), re.DOTALL)) for count in (4096, 256, 16)
]


class Weights:
    """How many units each value takes; `of_extensions` is besides what is in one."""

    def __init__(
        self, of_extensions: Mapping[int, int], *, others: int, nested: Collection[int] | None
    ) -> None:
        """Take what tells one codec from another.

        Args:
            of_extensions: The units of extensions, by code.
            others: The units of all others.
            nested: The extensions whose content is msgpack; None for all.
        """
        self._of = [of_extensions.get(code, others) for code in range(256)]
        self._most = max(self._of)
        self._nested = [nested is None or code in nested for code in range(256)]

    def free_bytes(self, limit: int) -> int:
        """Return how long a blob may be that cannot take more than `limit`."""
        return limit * _MIN_EXTENSION_BYTES // (self._most + _OF_A_MAP)

    def exceed(self, parts: Sequence[bytes | memoryview], limit: int) -> bool:
        """Whether these parts of a blob take more than `limit` units together.

        Raises:
            ValueError: One is cut off.
        """
        if sum(map(len, parts)) <= self.free_bytes(limit) or sum(map(self.most, parts)) <= limit:
            return False
        left = limit
        for part in parts:
            left -= self.units(part, left)
            if left < 0:
                return True
        return False

    def most(self, data: bytes | memoryview) -> int:
        """Return the units of `data`, or more."""
        if len(data) > _LARGE:  # an array or a text, perhaps, that ends after few headers
            at = units = 0
            for _ in range(_FEW):
                if at >= len(data):
                    return units
                at, cost = self._next(data, at)
                units += cost
        return self._bound(data)

    def _next(self, data: bytes | memoryview, at: int) -> tuple[int, int]:
        """Return where the header behind the one at `at` is, and the units of that."""
        try:
            first = data[at]
            step = _STEPS[first]
            return (at + step, _COSTS[first]) if step else self._after(data, at, first)
        except IndexError:
            raise ValueError("the msgpack is cut off") from None

    def spare_bytes(self, data: bytes, limit: int) -> int:
        """Return how many bytes may be added or others before `data` can exceed `limit`.

        Each byte counts as the most that it can be, so it does not matter where they are.
        """
        return (limit - self._bound(data)) // self._most

    def _bound(self, data: bytes | memoryview) -> int:
        """Return what `data` would take if each byte that can be a header was one."""
        others = bytes(data).translate(None, _SCALAR_STARTS)  # few, as a rule
        units = _OF_A_SCALAR * (len(data) - len(others))
        for starts, cost in (
            (_MAPS, _OF_A_MAP),
            (_ARRAYS, _OF_AN_ARRAY),
            (_EXTENSIONS, self._most),
        ):
            units += cost * (len(others) - len(others.translate(None, bytes(starts))))
        return units

    def units(self, data: bytes | memoryview, most: int) -> int:
        """Return the units of `data`; of what is above `most`, any number above it.

        Raises:
            ValueError: It is cut off.
        """
        at, end, left, streak = 0, len(data), most, 0
        steps, costs = _STEPS, _COSTS
        try:
            while at < end and left >= 0:
                first = data[at]
                step = steps[first]
                if step:
                    at += step
                    left -= costs[first]
                    streak += 1
                    if streak == _SHORT_RUN:
                        at, left = _after_scalars(data, at, left)
                        streak = 0
                    continue
                streak = 0
                if first in _BYTE_SIZED:
                    at += 2 + data[at + 1]
                    left -= 1
                    continue
                at, cost = self._after(data, at, first)
                left -= cost
        except IndexError:
            raise ValueError("the msgpack is cut off") from None
        return most - left

    def _after(self, data: bytes | memoryview, at: int, first: int) -> tuple[int, int]:
        """Return where the next header is, and the units of what begins with `first` at `at`."""
        if first == _EXT8:
            code = data[at + 2]
            return at + (3 if self._nested[code] else 3 + data[at + 1]), self._of[code]
        width = _WIDTHS[first]
        body = at + 1 + width
        size = int.from_bytes(data[at + 1 : body], "big") if width else 1 << (first - 0xD4)
        if first not in _EXTENSIONS:
            return body + size, _OF_A_SCALAR
        code = data[body]
        return body + 1 + (0 if self._nested[code] else size), self._of[code]


def _after_scalars(data: bytes | memoryview, at: int, left: int) -> tuple[int, int]:
    """Return what is behind the scalars from `at` on, most of them, and what is left then."""
    for count, run in _RUNS:
        while left >= 0 and (found := run.match(data, at)):
            at = found.end()
            left -= count
    return at, left
