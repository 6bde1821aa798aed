"""A manifest says of which pieces a value consists.

It grows with the logarithm of the value. The digests of the pieces are a list that is cut itself:
after some digests, told by their own bits, a group ends and becomes a piece, whose digest stands
in the list of the next level. Each level of the manifest holds what comes after its last group.

    level 1   [node node node]            each the digest of a piece that holds digests
    level 0                   [leaf leaf] of bytes that follow those under the nodes

`Recent` remembers how values were cut that were read or written a moment ago: a thread that goes on
writes them again, a bit longer.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Final

import ormsgpack

from langgraph_once.checkpoint.pieces.cut import DIGEST_BYTES, Cut, Cutter, Piece, cut
from langgraph_once.errors import PayloadError

_VERSION: Final = 1
# Groups have some 4 items, so no value has as many levels; a forged row ends there.
_MAX_LEVELS: Final = 16


@dataclass(frozen=True, slots=True)
class PieceManifest:
    """What a value consists of."""

    codec: str
    """That wrote the value."""
    size: int
    """Of the value, in bytes."""
    lead: bytes
    """How it begins: what changes whenever the value grows, as the header of a list does."""
    levels: tuple[bytes, ...]
    """Digests, joined; the leaves, which come last, are level 0."""

    def to_bytes(self) -> bytes:
        """The manifest as it is stored."""
        return ormsgpack.packb([_VERSION, self.codec, self.size, self.lead, self.levels])

    @classmethod
    def from_bytes(cls, data: bytes) -> PieceManifest:
        """Read what `to_bytes` wrote.

        Raises:
            PayloadError: It is damaged, or of a newer version.
        """
        try:
            version, codec, size, lead, levels = ormsgpack.unpackb(data)
            if version == _VERSION and len(levels) <= _MAX_LEVELS:
                return cls(codec, size, bytes(lead), tuple(bytes(_whole(each)) for each in levels))
        except (ValueError, TypeError) as error:
            raise PayloadError("the list of its pieces is damaged", tag="pieces") from error
        raise PayloadError("the list of its pieces is not of version 1", tag="pieces")

    def nodes(self) -> Iterator[tuple[int, bytes]]:
        """The digests that it holds itself, with their levels; those of the first bytes first."""
        for level in range(len(self.levels) - 1, -1, -1):
            for digest in digests_in(self.levels[level]):
                yield level, digest


@dataclass(frozen=True)
class CutValue:
    """A value in pieces."""

    manifest: PieceManifest
    cut: Cut
    made: Mapping[bytes, Piece]
    """The pieces that were cut for it."""
    is_first: bool
    """Whether those are all: there was no value like it, whose pieces may be stored."""

    @property
    def fresh(self) -> Mapping[bytes, Piece]:
        """The pieces that a value like it did not have; none without one."""
        return {} if self.is_first else self.made

    @cached_property
    def pieces(self) -> Mapping[bytes, Piece]:
        """All of them, by digest: leaves and groups."""
        return self.made if self.is_first else self.cut.pieces()

    def named(self) -> Iterator[bytes]:
        """The digests that stand in the manifest, and in new groups."""
        yield from (digest for _, digest in self.manifest.nodes())
        for level in self.cut.levels[1:]:
            for name in self.fresh.keys() & level.names:
                yield from digests_in(bytes(self.fresh[name]))


def split(
    codec: str,
    data: bytes,
    *,
    lead_bytes: int,
    cutter: Cutter,
    before: Cut | None = None,
    finely: bool = False,
) -> CutValue:
    """Cut what a codec wrote.

    Args:
        codec: Its name.
        data: What it wrote.
        lead_bytes: How many bytes at the beginning change whenever the value grows.
        cutter: Cuts and names.
        before: How a value like it was cut: what they share is not cut again.
        finely: Pieces are short, however much is new.
    """
    found, made = cut(data, lead_bytes, cutter, before, finely=finely)
    levels = tuple(map(b"".join, found.open_ends()))
    manifest = PieceManifest(codec, len(data), data[:lead_bytes], levels)
    return CutValue(manifest, found, made, before is None)


def digests_in(node: bytes) -> list[bytes]:
    """The digests that a group, or a level of a manifest, holds.

    Raises:
        ValueError: It is none.
    """
    return [node[at : at + DIGEST_BYTES] for at in range(0, len(_whole(node)), DIGEST_BYTES)]


def _whole(digests: bytes) -> bytes:
    """What it is given, if that is a whole number of digests."""
    if len(digests) % DIGEST_BYTES:
        raise ValueError("no whole number of digests")
    return digests


_BEGINNING: Final = 512
"""Bytes: values of a thread that begin with the same are taken for one that changed."""
_MOST_MET: Final = 16_384
"""Of how many values it is known that they were read or written before."""
_MIDDLE: Final = 128
"""Bytes: a value whose beginning was cut off is known by these."""
_LOOKED_AT: Final = 4
"""The latest values of the thread that are looked through for them."""


class Recent:
    """Cuts values as those before them are cut, and has their bytes. Thread-safe.

    What it takes for stored, and is not, is noticed: pieces are asked for before they are named.
    A value that it has forgotten is cut finely: it was, most likely, as it grew.

    Args:
        cutter: Cuts and names.
        max_bytes: Of the values that are remembered.
    """

    def __init__(self, cutter: Cutter, *, max_bytes: int = 32 * 1024 * 1024) -> None:
        self._cutter = cutter
        self._max_bytes = max_bytes
        self._bytes = 0
        self._cuts: OrderedDict[Any, tuple[PieceManifest, Cut]] = OrderedDict()
        self._by_thread: dict[Any, dict[Any, Cut]] = {}
        self._by_levels: dict[Any, Cut] = {}
        self._met: OrderedDict[int, None] = OrderedDict()
        self._lock = threading.Lock()

    def __contains__(self, thread_id: Any) -> bool:
        """Whether a value of a thread is remembered."""
        return thread_id in self._by_thread

    def split(self, thread_id: Any, codec: str, data: bytes, *, lead_bytes: int) -> CutValue:
        """`split` a value of a thread."""
        key = thread_id, data[lead_bytes : lead_bytes + _BEGINNING]
        before = self._before(key, (lead_bytes + len(data)) // 2, data)
        value = split(
            codec,
            data,
            lead_bytes=lead_bytes,
            cutter=self._cutter,
            before=before,
            finely=before is None and self._is_kept(data) and hash(key) in self._met,
        )
        self.keep(thread_id, value.manifest, value.cut)
        return value

    def keep(self, thread_id: Any, manifest: PieceManifest, cut: Cut) -> None:
        """Remember how a value of a thread is cut, if it is not too large."""
        if not self._is_kept(cut.data):
            return
        key = thread_id, cut.data[cut.start : cut.start + _BEGINNING]
        with self._lock:
            self._met[hash(key)] = None
            if len(self._met) > _MOST_MET:
                self._met.popitem(last=False)
            if key in self._cuts:
                self._forget(key, *self._cuts.pop(key))
            self._cuts[key] = manifest, cut
            self._by_thread.setdefault(thread_id, {})[key] = cut
            self._by_levels[manifest.levels] = cut
            self._bytes += len(cut.data)
            while self._bytes > self._max_bytes:
                oldest, found = self._cuts.popitem(last=False)
                self._forget(oldest, *found)

    def whole(self, manifest: PieceManifest) -> bytes | None:
        """The bytes of a value, if they are remembered."""
        cut = self._by_levels.get(manifest.levels)
        if cut is None or (cut.data.startswith(manifest.lead) and cut.start == len(manifest.lead)):
            return cut and cut.data
        return manifest.lead + cut.body

    def _is_kept(self, data: bytes) -> bool:
        return len(data) * 2 <= self._max_bytes

    def _before(self, key: tuple[Any, bytes], middle: int, data: bytes) -> Cut | None:
        """A value of the thread that begins with the same, or has the middle of this one."""
        found = self._cuts.get(key)
        if found is not None:
            return found[1]
        part = data[middle : middle + _MIDDLE]
        with self._lock:
            cuts = [*islice(reversed(self._by_thread.get(key[0], {}).values()), _LOOKED_AT)]
        return next((cut for cut in cuts if part in cut.data), None)

    def _forget(self, key: tuple[Any, bytes], manifest: PieceManifest, cut: Cut) -> None:
        self._bytes -= len(cut.data)
        of_thread = self._by_thread[key[0]]
        del of_thread[key]
        if not of_thread:
            del self._by_thread[key[0]]
        if self._by_levels.get(manifest.levels) is cut:  # and not that of a copy of the thread
            del self._by_levels[manifest.levels]
