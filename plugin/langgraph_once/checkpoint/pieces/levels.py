"""Bytes in pieces, their digests in groups, the digests of those in groups again.

What is cut a second time, after a change, is cut like the first: only around the change, as the
rest of the pieces and groups is known. So a thread that grows by a message takes the time of that
message, and of comparing bytes, which is a hundredth of cutting and naming them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from langgraph_once.checkpoint.pieces.cut import Cutter

__all__ = ["Cut", "Level", "cut"]

_LEAST_GROUP: Final = 2
_MOST_GROUP: Final = 64
_ENDS_GROUP: Final = 0x03
"""A digest whose last bits these are, all zero, ends a group: one in 4."""
_NEAR: Final = 64
"""Bytes: so near to a change it is not looked for any more."""


class Level(NamedTuple):
    """The pieces of the bytes, or the groups of the digests of the level below."""

    ends: list[int]
    """Where each ends: in bytes, or digests."""
    names: list[bytes]
    """The digest of each."""


class Cut(NamedTuple):
    """Bytes, and how they are cut."""

    body: bytes
    levels: tuple[Level, ...]
    """Pieces come first. Groups do not hold what comes after the last digest that ends one."""

    def open_ends(self) -> Iterator[list[bytes]]:
        """For each level the digests that are in no group."""
        for number, level in enumerate(self.levels):
            above = self.levels[number + 1].ends if number + 1 < len(self.levels) else [0]
            yield level.names[above[-1] :]

    def names(self) -> Iterator[bytes]:
        """The digests of all pieces and groups."""
        for level in self.levels:
            yield from level.names

    def pieces(self) -> dict[bytes, bytes]:
        """All pieces and groups, by digest."""
        found: dict[bytes, bytes] = {}
        below: Sequence[Any] = self.body
        joined: Callable[[Any], bytes] = bytes
        for ends, names in self.levels:
            for name, start, end in zip(names, [0, *ends], ends, strict=False):
                found[name] = joined(below[start:end])
            below, joined = names, b"".join
        return found


class _Same(NamedTuple):
    """How many bytes, or digests, are the same at the beginning, and how many at the end."""

    head: int
    tail: int


def cut(body: bytes, cutter: Cutter, before: Cut | None = None) -> tuple[Cut, dict[bytes, bytes]]:
    """Cut bytes.

    Args:
        body: The bytes.
        cutter: Cuts and names.
        before: Other bytes, like these perhaps. What they share is not cut or named again.

    Returns:
        How they are cut, and the pieces and groups that `before` may not have, by digest.
    """
    if before is None:
        before = Cut(b"", ())
    elif before.body == body:
        return before, {}
    fresh: dict[bytes, bytes] = {}

    def named(piece: bytes) -> bytes:
        name = cutter.digest(piece)
        fresh[name] = piece
        return name

    old, new = _Items.of_bytes(before.body, cutter), _Items.of_bytes(body, cutter)
    same = _same(before.body, body)
    levels: list[Level] = []
    while True:
        at = len(levels)
        was = before.levels[at] if at < len(before.levels) else Level([], [])
        level, same = _resumed(was, same, len(old.items), new, named)
        if not level.ends:
            return Cut(body, tuple(levels)), fresh
        levels.append(level)
        old, new = _Items.of_digests(was.names), _Items.of_digests(level.names)


class _Items(NamedTuple):
    """What is to be cut: bytes, or digests."""

    items: Sequence[Any]
    ends_from: Callable[[int], Iterator[int]]
    """Where pieces end, from one on."""
    joined: Callable[[Any], bytes]

    @classmethod
    def of_bytes(cls, body: bytes, cutter: Cutter) -> _Items:
        return cls(body, lambda start: cutter.ends(body, start), bytes)

    @classmethod
    def of_digests(cls, names: list[bytes]) -> _Items:
        return cls(names, lambda start: _group_ends(names, start), b"".join)


def _resumed(
    was: Level, same: _Same, old_size: int, new: _Items, named: Callable[[bytes], bytes]
) -> tuple[Level, _Same]:
    """Cut what is between the pieces that end before a change and those that begin after it."""
    shift = len(new.items) - old_size
    kept = bisect_left(was.ends, same.head)  # where one ends is told by the byte behind it, too
    at = was.ends[kept - 1] if kept else 0
    rest = len(was.ends)
    ends: list[int] = []
    names: list[bytes] = []
    for end in new.ends_from(at):
        ends.append(end)
        names.append(named(new.joined(new.items[at:end])))
        at = end
        if end - shift >= old_size - same.tail:
            found = bisect_left(was.ends, end - shift, kept)
            if found < len(was.ends) and was.ends[found] == end - shift:
                rest = found + 1
                break
    level = Level(
        was.ends[:kept] + ends + [end + shift for end in was.ends[rest:]],
        was.names[:kept] + names + was.names[rest:],
    )
    return level, _Same(kept, len(was.ends) - rest)


def _group_ends(names: list[bytes], start: int) -> Iterator[int]:
    for end in range(start + 1, len(names) + 1):
        size = end - start
        if size == _MOST_GROUP or (size >= _LEAST_GROUP and not names[end - 1][-1] & _ENDS_GROUP):
            yield end
            start = end


def _same(old: bytes, new: bytes) -> _Same:
    if new.startswith(old):
        return _Same(len(old), 0)
    most = min(len(old), len(new))
    head = _most(most, lambda low, high: old[low:high] == new[low:high])
    ends = len(old), len(new)
    tail = _most(
        most - head,
        lambda low, high: (
            old[ends[0] - high : ends[0] - low] == new[ends[1] - high : ends[1] - low]
        ),
    )
    return _Same(head, tail)


def _most(size: int, is_same: Callable[[int, int], bool]) -> int:
    """About how many bytes are the same, at least."""
    low, high = 0, size
    while high - low > _NEAR:
        middle = (low + high) // 2
        if is_same(low, middle):
            low = middle
        else:
            high = middle
    return low
