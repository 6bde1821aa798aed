"""Bytes are cut where their content says, so that equal stretches become equal pieces.

A value that grew, or changed in the middle, has the pieces of the value before it, but for those
around the change (FastCDC, as backup programs use it). Nothing needs to know what the bytes mean.

Digests of pieces stand in groups, the digests of those in groups again. What is cut a second time,
after a change, is cut only around the change, as the rest of the pieces and groups is known. So a
thread that grows by a message takes the time of that message, and of comparing bytes, which is a
hundredth of cutting and naming them.
"""

from __future__ import annotations

import hmac
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from hashlib import blake2b, sha256
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias

from pyfastcdc import FastCDC

Piece: TypeAlias = bytes | memoryview
"""The bytes of a piece; a new one is a view of its value: to copy 2 MB takes 0.4 ms."""

# 128 bits: no two pieces of a thread share a name by chance, and manifests stay short.
DIGEST_BYTES: Final = 16

_FINE_BYTES: Final = 1024
_MEAN_BYTES: Final = ((256 * 1024, 64 * 1024), (24 * 1024, 16 * 1024), (0, _FINE_BYTES))
"""From how many bytes on that are cut at once, which mean size pieces have.

Each piece is a row and takes some µs, so new bytes are cut coarsely. Where a coarse piece changes
later, it is cut anew, finely: all of it is stored a second time, once.
"""
_SPREAD: Final = 4, 8
"""The smallest piece has a quarter of the mean size, the largest eight times as much."""
_FINE_END_BYTES: Final = 2048
"""How much is cut finely at the end of what is cut coarsely: most values grow there."""
MAX_FINE_BYTES: Final = 8_192
"""The longest piece of the smallest mean size."""


class Cutter:
    """Cuts bytes and names the pieces. Thread-safe.

    Args:
        keys: Under the first, pieces are named and cut, so that who reads the database learns
            nothing from either; empty where nothing is encrypted. Under the others, older pieces
            may have been named.
    """

    def __init__(self, keys: Sequence[bytes] = (b"",)) -> None:
        self._keys = keys
        self._seed = int.from_bytes(keys[0][:8], "big") >> 1  # it takes 63 bits
        self._local = threading.local()  # one of them does one thing at a time

    def digest(self, data: Piece) -> bytes:
        """The name of a piece: `DIGEST_BYTES` that only equal bytes have."""
        return _digest(data, self._keys[0])

    def is_old_name(self, digest: bytes, data: bytes) -> bool:
        """Whether a piece had this name under a key from before."""
        return any(_digest(data, key) == digest for key in self._keys[1:])

    def ends(
        self, data: memoryview, start: int, stop: int, *, finely: bool = False
    ) -> Iterator[int]:
        """Yield where pieces end, in order. Their own bytes tell it, and the one behind each.

        Args:
            data: What is cut.
            start: Where the first begins.
            stop: Where the last ends. How much is between tells how large pieces are.
            finely: They are short in any case.
        """
        size = 0 if finely else stop - start
        mean = next(mean for least, mean in _MEAN_BYTES if size >= least)
        fine_from = start if mean == _FINE_BYTES else stop - _FINE_END_BYTES
        yield from self._ends(data, start, fine_from, mean)
        yield from self._ends(data, fine_from, stop, _FINE_BYTES)

    def _ends(self, data: memoryview, start: int, stop: int, mean: int) -> Iterator[int]:
        cdc = getattr(self._local, f"mean_{mean}", None)
        if cdc is None:
            least, most = mean // _SPREAD[0], mean * _SPREAD[1]
            cdc = FastCDC(mean, min_size=least, max_size=most, seed=self._seed)
            setattr(self._local, f"mean_{mean}", cdc)
        for chunk in cdc.cut_buf(data[start:stop]):
            start += chunk.length
            yield start


def _digest(data: Piece, key: bytes) -> bytes:
    if len(data) <= MAX_FINE_BYTES:
        return blake2b(data, digest_size=DIGEST_BYTES, key=key).digest()
    # Processors compute it themselves: long pieces take half the time, short ones more.
    found = hmac.digest(key, data, "sha256") if key else sha256(data).digest()
    return found[:DIGEST_BYTES]


# A group of one would name what its member names; one of 64 takes a kilobyte.
_LEAST_GROUP: Final = 2
MAX_GROUP: Final = 64
_ENDS_GROUP: Final = 0x03
"""A digest whose last bits these are, all zero, ends a group: one in 4."""
_NEAR: Final = 64
"""Bytes: so near to a change it is not looked for any more."""
_FAR: Final = 64 * 1024
"""Bytes: so far around its expected place a piece is looked for: the old place, moved as the
piece before it was."""
_MOST_FINE: Final = 48
_LEFT_FINE: Final = 12
"""How many short pieces in a row become long ones, and how many of them do not yet. Each piece
takes as long to read as 10 KB do; what becomes long is stored a second time."""
_MOST_MISSED: Final = 32
"""So many pieces one after the other are looked for in vain before the rest is taken for new."""


class Level(NamedTuple):
    """The pieces of the bytes, or the groups of the digests of the level below."""

    ends: list[int]
    """Where each ends: in bytes, or digests."""
    names: list[bytes]
    """The digest of each."""


class Cut(NamedTuple):
    """Bytes, and how they are cut."""

    data: bytes
    start: int
    """How many bytes come before the first piece. Pieces count from here."""
    levels: tuple[Level, ...]
    """Pieces come first. Groups do not hold what comes after the last digest that ends one."""

    @property
    def body(self) -> memoryview:
        """What is cut."""
        return memoryview(self.data)[self.start :]

    def open_ends(self) -> Iterator[list[bytes]]:
        """For each level the digests that are in no group."""
        for number, level in enumerate(self.levels):
            above = self.levels[number + 1].ends if number + 1 < len(self.levels) else [0]
            yield level.names[above[-1] :]

    def names(self) -> Iterator[bytes]:
        """The digests of all pieces and groups."""
        return chain.from_iterable(level.names for level in self.levels)

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


def cut(
    data: bytes, start: int, cutter: Cutter, before: Cut | None = None, *, finely: bool = False
) -> tuple[Cut, dict[bytes, Piece]]:
    """Cut bytes.

    Args:
        data: The bytes.
        start: How many at the beginning are not cut.
        cutter: Cuts and names.
        before: Other bytes, like these perhaps. What they share is not cut or named again.
        finely: Pieces are short, however much is new.

    Returns:
        How they are cut, and the pieces and groups that `before` may not have, by digest.
    """
    if before is None:
        before = Cut(b"", 0, ())
    found = Cut(data, start, before.levels)
    same = _same(before, found)
    if same.head == len(before.body) == len(found.body):
        return found, {}
    fresh: dict[bytes, Piece] = {}

    def named(piece: Piece) -> bytes:
        name = cutter.digest(piece)
        fresh[name] = piece
        return name

    was = before.levels[0] if before.levels else Level([], [])
    level, same = _Pieces(before, found, partial(cutter.ends, finely=finely), named).cut(was, same)
    levels: list[Level] = []
    while level.ends:
        levels.append(level)
        above = before.levels[len(levels)] if len(levels) < len(before.levels) else Level([], [])
        level, same = _groups(above, was.names, level.names, same, named)
        was = above
    return found._replace(levels=tuple(levels)), fresh


class _Pieces:
    """Cuts bytes where they differ from others; keeps the pieces of these that it finds again."""

    def __init__(
        self,
        before: Cut,
        after: Cut,
        ends: Callable[[memoryview, int, int], Iterator[int]],
        named: Callable[[Piece], bytes],
    ) -> None:
        self._old, self._old_start = before.data, before.start
        self._new, self._start = after.data, after.start
        self._body = after.body
        self._ends = ends
        self._named = named
        self._level = Level([], [])

    def cut(self, was: Level, same: _Same) -> tuple[Level, _Same]:
        """Cut what is between the pieces that end before a change and those that begin after it."""
        old_size = len(self._old) - self._old_start
        shift = len(self._body) - old_size
        kept = bisect_left(was.ends, same.head)  # what is appended is cut with the last piece
        resumes = bisect_left(was.ends, old_size - same.tail, kept)
        end = was.ends[resumes] + shift if was.ends else len(self._body)
        self._level = Level(was.ends[:kept], was.names[:kept])
        if kept + 2 >= len(was.ends):  # it was appended to
            kept = self._settle()
        for at in self._found_again(was, kept + 1, resumes, end):
            self._level.ends.append(self._at + was.ends[at] - was.ends[at - 1])
            self._level.names.append(was.names[at])
        self._cut_to(end)
        self._level.ends.extend(each + shift for each in was.ends[resumes + 1 :])
        self._level.names.extend(was.names[resumes + 1 :])
        return self._level, _Same(kept, max(0, len(was.ends) - resumes - 1))

    def _settle(self) -> int:
        """Cut a long run of short pieces coarsely, but for its end. Returns how many stay before.

        Who only appends would read a piece for each kilobyte otherwise.
        """
        ends, names = self._level
        first = len(ends)
        while first and ends[first - 1] - (ends[first - 2] if first > 1 else 0) <= MAX_FINE_BYTES:
            first -= 1
        if len(ends) - first < _MOST_FINE:
            return len(ends)
        last = Level(ends[-_LEFT_FINE:], names[-_LEFT_FINE:])
        self._level = Level(ends[:first], names[:first])
        self._cut_to(ends[-_LEFT_FINE - 1])
        self._level.ends.extend(last.ends)
        self._level.names.extend(last.names)
        return first

    @property
    def _at(self) -> int:
        return self._level.ends[-1] if self._level.ends else 0

    def _found_again(self, was: Level, first: int, last: int, end: int) -> Iterator[int]:
        """Find old pieces among the changed bytes, and cut what is before each of them."""
        missed, moved = 0, 0  # by how many bytes the last of them did
        for number in range(first, last):
            begin = was.ends[number - 1]
            piece = self._old[self._old_start + begin : self._old_start + was.ends[number]]
            found = self._found(piece, begin + moved, end)
            if found is None:
                missed += 1
                if missed > _MOST_MISSED:
                    return
                continue
            missed, moved = 0, found - begin
            self._cut_to(found)
            yield number

    def _found(self, piece: bytes, near: int, end: int) -> int | None:
        """Where bytes stand now: near to that, or next. They end before `end`."""
        last = end - len(piece)
        if self._at <= near <= last and self._new.startswith(piece, self._start + near):
            return near  # to look for long bytes takes a hundred times as long
        near = max(near, self._at)
        # What stood before may be gone, however much it was: then they come next.
        for expected in (near, self._at) if near > self._at + _FAR else (near,):
            low, high = max(self._at, expected - _FAR), min(expected + _FAR, last) + len(piece)
            found = self._new.find(piece, self._start + low, self._start + high)
            if found >= 0:
                return found - self._start
        return None

    def _cut_to(self, end: int) -> None:
        at = self._at
        for each in self._ends(self._body, at, end) if end > at else ():
            self._level.names.append(self._named(self._body[at:each]))
            self._level.ends.append(each)
            at = each


def _groups(
    was: Level,
    old: list[bytes],
    new: list[bytes],
    same: _Same,
    named: Callable[[bytes], bytes],
) -> tuple[Level, _Same]:
    """Group digests: only those between groups that end before a change or begin after it."""
    shift = len(new) - len(old)
    kept = bisect_left(was.ends, same.head)  # where one ends is told by what is behind it, too
    at = was.ends[kept - 1] if kept else 0
    rest = len(was.ends)
    ends: list[int] = []
    names: list[bytes] = []
    for end in _group_ends(new, at):
        ends.append(end)
        names.append(named(b"".join(new[at:end])))
        at = end
        if end - shift >= len(old) - same.tail:
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
        if size == MAX_GROUP or (size >= _LEAST_GROUP and not names[end - 1][-1] & _ENDS_GROUP):
            yield end
            start = end


def _same(before: Cut, after: Cut) -> _Same:
    # Slices of bytes are compared: memoryviews are byte by byte, in fifty times the time.
    (old, at, *_), (new, now, *_) = before, after
    if new.startswith(before.body, now):
        return _Same(len(old) - at, 0)
    most = min(len(old) - at, len(new) - now)
    head = _most(most, lambda low, high: old[at + low : at + high] == new[now + low : now + high])
    end, then = len(old), len(new)
    tail = _most(
        most - head,
        lambda low, high: old[end - high : end - low] == new[then - high : then - low],
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
