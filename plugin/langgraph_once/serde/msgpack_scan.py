"""Reading msgpack only as far as to know how many values it holds, or where it ends."""

from __future__ import annotations

import functools
import re
from typing import Final

__all__ = ["count_values", "depth", "end_of_value", "may_nest"]

_FIXED: Final[dict[int, int]] = {
    **dict.fromkeys((*range(0xA1), 0xC0, 0xC1, 0xC2, 0xC3, *range(0xE0, 0x100)), 1),
    **{0xA0 + n: 1 + n for n in range(1, 32)},
    **dict.fromkeys((0xCC, 0xD0), 2),
    **dict.fromkeys((0xCD, 0xD1, 0xDC, 0xDE), 3),
    **dict.fromkeys((0xCA, 0xCE, 0xD2, 0xDD, 0xDF), 5),
    **dict.fromkeys((0xCB, 0xCF, 0xD3), 9),
    **{0xD4 + n: 2 + 2**n for n in range(5)},
}
"""The length of what this byte starts, where it alone tells; of containers, of the head."""

_SIZED: Final = {
    0xC4: (1, 0),
    0xC5: (2, 0),
    0xC6: (4, 0),
    0xC7: (1, 1),
    0xC8: (2, 1),
    0xC9: (4, 1),
    0xD9: (1, 0),
    0xDA: (2, 0),
    0xDB: (4, 0),
}
"""Strings, bytes and extensions: width of the length that follows, further bytes of head."""

_COUNTED: Final = {0xDC: (2, 1), 0xDD: (4, 1), 0xDE: (2, 2), 0xDF: (4, 2)}
"""Large arrays and maps: width of the count that follows, values for each that it counts."""

_CONTAINER_STARTS: Final = bytes([*range(0x81, 0x90), *range(0x91, 0xA0), *range(0xDC, 0xE0)])
"""What starts an array or a map that is not empty; text may hold these bytes too."""


def count_values(data: bytes, max_values: int) -> int:
    """Return how many values `data` holds; a number above `max_values` may be too small.

    Extensions count as one value, whatever they hold. Values are matched thousands at a time,
    as the loop may have to run through a blob that was made to be slow.
    """
    count, at, size = 0, 0, len(data)
    while at < size and count <= max_values:
        for step, run in _runs():
            while count <= max_values and (found := run.match(data, at)):
                count, at = count + step, found.end()
        if at < size:  # something long, or cut off
            count, at = count + 1, at + _length(data, at)
    return count


def end_of_value(data: bytes, max_values: int) -> int:
    """Return where the first value of `data` ends.

    Returns:
        -1 where that is beyond the end of `data`, or after more than `max_values` values.
    """
    needed, at = 1, 0
    for _ in range(max_values):
        if not needed or at >= len(data):
            break
        needed += _children(data, at) - 1
        at += _length(data, at)
    return at if not needed and at <= len(data) else -1


def may_nest(data: bytes) -> int:
    """Return a bound on how deep `data` nests, extensions included: it may be far too high."""
    return len(data) - len(data.translate(None, _CONTAINER_STARTS))


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


def _length(data: bytes, at: int) -> int:
    first = data[at]
    if first in _FIXED:
        return _FIXED[first]
    width, more = _SIZED[first]
    return 1 + width + more + int.from_bytes(data[at + 1 : at + 1 + width])


def _children(data: bytes, at: int) -> int:
    """Return how many values follow inside the container at `at`."""
    first = data[at]
    if first in _COUNTED:
        width, each = _COUNTED[first]
        return int.from_bytes(data[at + 1 : at + 1 + width]) * each
    if first >> 4 == 0x8:
        return (first & 15) * 2
    return first & 15 if first >> 4 == 0x9 else 0


@functools.cache
def _runs() -> tuple[tuple[int, re.Pattern[bytes]], ...]:
    """Return patterns of so many values, none of them longer than some 260 bytes."""
    by_length: dict[int, bytes] = {}
    for first, length in sorted(_FIXED.items()):
        by_length[length] = by_length.get(length, b"") + b"\\x%02x" % first
    fixed = [b"[%s].{%d}" % (firsts, n - 1) for n, firsts in sorted(by_length.items())]
    sized = [
        b"\\x%02x\\x00{%d}(?:%s)" % (first, width - 1, _HELD[more])
        for first, (width, more) in _SIZED.items()
    ]
    one = b"(?:%s)" % b"|".join((*fixed, *sized))
    return tuple((n, re.compile(b"%s{%d}+" % (one, n), re.DOTALL)) for n in (4096, 256, 16, 1))


_HELD: Final = [b"|".join(b"\\x%02x.{%d}" % (n, n + more) for n in range(256)) for more in (0, 1)]
"""A length below 256 and what it announces, without and with the type of an extension."""
