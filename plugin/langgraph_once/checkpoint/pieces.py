"""A manifest says of which pieces a value consists.

It grows with the logarithm of the value. The digests of the pieces are a list that is cut itself:
after some digests, told by their own bits, a group ends and becomes a piece, whose digest stands
in the list of the next level. Each level of the manifest holds what comes after its last group.

    level 1   [node node node]            each the digest of a piece that holds digests
    level 0                   [leaf leaf] of bytes that follow those under the nodes

To put a value together (`Assembly`) is to walk from its manifest down. No I/O.

`Recent` remembers how values were cut that were read or written a moment ago: a thread that goes on
writes them again, a bit longer.
"""

from __future__ import annotations

import contextlib
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, pairwise
from typing import Any, Final, NamedTuple

import ormsgpack

from langgraph_once.checkpoint.cut import (
    DIGEST_BYTES,
    MAX_GROUP,
    Cut,
    Cutter,
    Level,
    Piece,
    cut,
)
from langgraph_once.errors import PayloadError, SerdeError
from langgraph_once.serde import most_added

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
        codec: The name of the codec.
        data: What the codec wrote.
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


class _Known(NamedTuple):
    """A value that was read or written a moment ago."""

    manifest: PieceManifest
    cut: Cut
    left: float
    """The weight that may come to it before the next check."""


class Recent:
    """Cuts values as those before them are cut, and has their bytes. Thread-safe.

    What it takes for stored, and is not, is noticed: pieces are asked for before they are named.
    A value that it has forgotten is cut finely: it was, most likely, as it grew.

    Args:
        cutter: Cuts and names.
        check: Looks whether a value would be read again, and raises what reading would. Returns
            the weight (`most_added`) that may come to it before the next check.
        max_bytes: Of the values that are remembered.

    Attributes:
        by_thread: Threads of which a value is remembered, with those.
    """

    def __init__(
        self,
        cutter: Cutter,
        check: Callable[[CutValue], float] = lambda _: 0,
        *,
        max_bytes: int = 32 * 1024 * 1024,
    ) -> None:
        self._cutter = cutter
        self._check = check
        self._max_bytes = max_bytes
        self._bytes = 0
        self._known: OrderedDict[Any, _Known] = OrderedDict()
        self.by_thread: dict[Any, dict[Any, _Known]] = {}
        self._by_levels: dict[Any, Cut] = {}
        self._met: OrderedDict[int, None] = OrderedDict()
        self._lock = threading.Lock()

    def split(self, thread_id: Any, codec: str, data: bytes, *, lead_bytes: int) -> CutValue:
        """`split` a value of a thread.

        Raises:
            SizeLimitError: It would not be read again.
        """
        key = thread_id, data[lead_bytes : lead_bytes + _BEGINNING]
        before = self._before(key, (lead_bytes + len(data)) // 2, data)
        value = split(
            codec,
            data,
            lead_bytes=lead_bytes,
            cutter=self._cutter,
            before=before and before.cut,
            finely=before is None and self._is_kept(data) and hash(key) in self._met,
        )
        left: float = 0
        if before is not None and before.left and before.manifest.codec == codec:
            new = _new_parts(before.cut, value)
            left = max(0, before.left - most_added([value.manifest.lead, *new]))
        # What is refused is remembered, too: the next one is cut as it is.
        self.keep(thread_id, value.manifest, value.cut, left)
        if not left and (left := self._check(value)):
            self.keep(thread_id, value.manifest, value.cut, left)
        return value

    def keep(self, thread_id: Any, manifest: PieceManifest, cut: Cut, left: float = 0) -> None:
        """Remember how a value of a thread is cut, if it is not too large."""
        if not self._is_kept(cut.data):
            return
        key = thread_id, cut.data[cut.start : cut.start + _BEGINNING]
        with self._lock:
            self._met[hash(key)] = None
            if len(self._met) > _MOST_MET:
                self._met.popitem(last=False)
            if key in self._known:
                self._forget(key, self._known.pop(key))
            known = self._known[key] = _Known(manifest, cut, left)
            self.by_thread.setdefault(thread_id, {})[key] = known
            self._by_levels[manifest.levels] = cut
            self._bytes += len(cut.data)
            while self._bytes > self._max_bytes:
                self._forget(*self._known.popitem(last=False))

    def whole(self, manifest: PieceManifest) -> bytes | None:
        """The bytes of a value, if they are remembered."""
        cut = self._by_levels.get(manifest.levels)
        if cut is None or (cut.data.startswith(manifest.lead) and cut.start == len(manifest.lead)):
            return cut and cut.data
        return manifest.lead + cut.body

    def _is_kept(self, data: bytes) -> bool:
        return len(data) * 2 <= self._max_bytes

    def _before(self, key: tuple[Any, bytes], middle: int, data: bytes) -> _Known | None:
        """A value of the thread that begins with the same, or has the middle of this one."""
        found = self._known.get(key)
        if found is not None:
            return found
        part = data[middle : middle + _MIDDLE]
        with self._lock:
            of_thread = self.by_thread.get(key[0], {}).values()
            latest = [*islice(reversed(of_thread), _LOOKED_AT)]
        return next((known for known in latest if part in known.cut.data), None)

    def _forget(self, key: tuple[Any, bytes], known: _Known) -> None:
        self._bytes -= len(known.cut.data)
        of_thread = self.by_thread[key[0]]
        del of_thread[key]
        if not of_thread:
            del self.by_thread[key[0]]
        # It may be that of a copy of the thread.
        if self._by_levels.get(known.manifest.levels) is known.cut:
            del self._by_levels[known.manifest.levels]


def _new_parts(before: Cut, value: CutValue) -> Iterator[bytes]:
    """The pieces that bytes before did not have, or not so often.

    Where two pieces meet that did not, an empty part stands for what they say together.
    """
    had, now = (cut.levels[0] if cut.levels else Level([], []) for cut in (before, value.cut))
    left = Counter(had.names)
    for name, start, end in zip(now.names, [0, *now.ends], now.ends, strict=False):
        left[name] -= 1
        if left[name] < 0:
            yield bytes(value.cut.body[start:end])
    met = {*pairwise(had.names)}
    yield from (b"" for pair in pairwise(now.names) if pair not in met)


_LEAST_PIECE_BYTES: Final = 64
"""Pieces are longer than this on the average: one of a byte could stand for a million."""
# So many are read in a moment, whatever they hold.
_FREE_PIECES: Final = 1024


class Cell(NamedTuple):
    """A value as a row has it."""

    tag: str
    data: bytes


class Missing:
    """Which pieces of some values a database lacks: all of them are asked for, but for new ones.

    A group that is stored does not vouch for what is below it. Who deletes pieces by hand leaves
    groups, and the process that cut a value last would go on storing what no other can read.

    Attributes:
        found: The pieces that the database lacks, by digest.
        wanted: Those that it may lack, and must be asked for.
    """

    def __init__(self, values: Iterable[CutValue]) -> None:
        self._values = [*values]
        # Pieces that were cut for the first time are not asked for: they are hardly there, and if
        # so, they stay as they are.
        self.found = {name: data for value in self._values for name, data in value.fresh.items()}
        names = {*chain.from_iterable(value.cut.names() for value in self._values)}
        self.wanted = names - self.found.keys()

    def named(self) -> set[bytes]:
        """The wanted pieces that a manifest or a new group names."""
        return {name for value in self._values for name in value.named()} & self.wanted

    def tell(self, stored: Iterable[bytes]) -> None:
        """Take note of which of those wanted are stored: the others are lacking."""
        for digest in self.wanted - {*stored}:
            self.found[digest] = self._piece(digest)
        self.wanted = set()

    def _piece(self, digest: bytes) -> Piece:
        return next(value.pieces[digest] for value in self._values if digest in value.pieces)


class Assembly:
    """Puts values together from pieces. Each piece is opened once.

    Args:
        opened: Opens a stored piece: decrypts and decompresses it. Says, too, whether that finds
            damage: then the digest is not compared, which takes as long as reading the piece.
        cutter: Knows whether a piece is the one that its digest names.
        groups_only: Whether it is only asked which pieces there are.
        remembered: Knows the bytes of some values: their pieces are not asked for.

    Attributes:
        remember: Is told how values are cut that were put together, if it is set.
    """

    def __init__(
        self,
        opened: Callable[[Cell], tuple[bytes, bool]],
        cutter: Cutter,
        *,
        groups_only: bool = False,
        remembered: Callable[[PieceManifest], bytes | None] = lambda _: None,
    ) -> None:
        self._remembered = remembered
        self.remember: Callable[[PieceManifest, Cut], None] | None = None
        self._has_old_names = False
        self._wholes: dict[PieceManifest, bytes] = {}
        self._opened = opened
        self._cutter = cutter
        self._least_level = 1 if groups_only else 0
        self._sealed: dict[bytes, Cell] = {}
        self._pieces: dict[bytes, bytes] = {}
        self._sizes: dict[bytes, int] = {}
        self._known: set[tuple[int, bytes]] = set()
        self._lacking: set[tuple[int, bytes]] = set()
        self._levels: set[tuple[int, bytes]] = set()

    def wanted(self, manifests: Iterable[PieceManifest] = ()) -> dict[bytes, int]:
        """The digests of pieces that are needed next, for these values, too; none if all are there.

        With each comes how many levels below it will be needed, too, as far as that is known: all
        of them where there is nothing yet. What is there is not looked at again.
        """
        has_some = bool(self._sealed or self._pieces)
        todo = [*self._lacking]
        for manifest in manifests:
            if not self._is_remembered(manifest):
                todo += self._new_nodes(manifest)
        self._lacking.clear()
        while todo:
            level, digest = node = todo.pop()
            if level < self._least_level or node in self._known:
                continue
            if not self._has(digest):
                self._lacking.add(node)
                continue
            self._known.add(node)
            if level > self._least_level:
                with contextlib.suppress(SerdeError):  # told when its value is decoded
                    todo += [(level - 1, below) for below in self._below(digest)]
        return {
            digest: 0 if has_some else level - self._least_level for level, digest in self._lacking
        }

    def all_of(self, manifests: Iterable[PieceManifest]) -> set[bytes]:
        """The digests of all pieces of some values.

        Raises:
            SerdeError: A group of them cannot be read.
        """
        return {digest for _, digest in self._walk(manifests)}

    def add(self, rows: Iterable[tuple[bytes, str, bytes]]) -> int:
        """Take stored pieces: digest, tag, bytes. Returns how many."""
        before = len(self._sealed)
        self._sealed.update((bytes(digest), Cell(tag, bytes(data))) for digest, tag, data in rows)
        return len(self._sealed) - before

    def check(self, digest: bytes, sealed: Cell) -> None:
        """Check a stored piece.

        Raises:
            SerdeError: It cannot be opened, or is not the one that its digest names.
        """
        self._check_name(digest, self._opened(sealed)[0])

    def joined(
        self,
        manifest: PieceManifest,
        check: Callable[[bytes, Iterable[int]], None] = lambda *_: None,
        check_size: Callable[[Iterable[int]], None] = lambda _: None,
    ) -> bytes:
        """The bytes of a value.

        Args:
            manifest: Says of what it consists.
            check: Looks at them, and at the sizes of the stored pieces, before they are remembered.
            check_size: Looks at the sizes of the stored pieces before they are joined: one may be
                named a million times.

        Raises:
            SerdeError: A piece is missing, or is not the one that its digest names, or one of both
                refuses the value.
        """
        whole = self._wholes.get(manifest)
        if whole is None:
            check_size(self.sizes_of([manifest]))
            cut = self._cut(manifest)
            whole = cut.data
            check(whole, self.sizes_of([manifest]))
            # Beside names under an older key, what is stored next is named anew.
            if self.remember is not None and not self._has_old_names:
                self.remember(manifest, cut)
        if len(whole) != manifest.size:
            raise _wrong_size()
        return whole

    def unremembered(self, manifests: Iterable[PieceManifest]) -> list[PieceManifest]:
        """Those of values whose bytes are not remembered."""
        return [manifest for manifest in manifests if manifest not in self._wholes]

    def sizes_of(self, manifests: Iterable[PieceManifest]) -> Iterator[int]:
        """How many bytes each stored piece of values has; one that is named often counts once."""
        for _, digest in self._walk(manifests):
            sealed = self._sealed.get(digest)
            yield self._sizes.get(digest, 0) if sealed is None else len(sealed.data)

    def _cut(self, manifest: PieceManifest) -> Cut:
        """The bytes of a value, and how they are cut."""
        levels: list[Level] = []
        names: list[bytes] = []
        most = _FREE_PIECES + manifest.size // _LEAST_PIECE_BYTES
        for in_no_group in reversed(manifest.levels):
            ends, below = [], []
            for name in names:
                below += self._below(name)
                ends.append(len(below))
                if len(below) > most:  # groups of groups could go on for ever
                    raise _wrong_size()
            levels.append(Level(ends, names))
            names = below + digests_in(in_no_group)
        if len(names) > most:
            raise _wrong_size()
        pieces, ends, end = [manifest.lead], [], 0
        for name in names:
            pieces.append(piece := self._piece(name))
            ends.append(end := end + len(piece))
            if end > manifest.size:
                raise _wrong_size()
        cut = Level(ends, names), *reversed(levels[1:])
        return Cut(b"".join(pieces), len(manifest.lead), cut)

    def _new_nodes(self, manifest: PieceManifest) -> Iterator[tuple[int, bytes]]:
        """Those of the levels that no manifest before has: few change from step to step."""
        for level in enumerate(manifest.levels):
            if level not in self._levels:
                self._levels.add(level)
                yield from ((level[0], digest) for digest in digests_in(level[1]))

    def _is_remembered(self, manifest: PieceManifest) -> bool:
        if manifest not in self._wholes:
            whole = self._remembered(manifest)
            if whole is None:
                return False
            self._wholes[manifest] = whole  # it may be forgotten before it is read
        return True

    def _walk(self, manifests: Iterable[PieceManifest]) -> Iterator[tuple[int, bytes]]:
        """All nodes that are known, each once."""
        todo = {node: None for manifest in manifests for node in manifest.nodes()}
        seen = set(todo)
        while todo:
            level, digest = node = todo.popitem()[0]
            yield node
            if level and self._has(digest):
                below = [(level - 1, each) for each in self._below(digest)]
                todo.update((node, None) for node in below if node not in seen)
                seen.update(below)

    def _has(self, digest: bytes) -> bool:
        return digest in self._pieces or digest in self._sealed

    def _below(self, digest: bytes) -> list[bytes]:
        group = self._piece(digest)
        if len(group) > MAX_GROUP * DIGEST_BYTES:
            raise PayloadError("a group of its pieces is too large", tag="pieces")
        try:
            return digests_in(group)
        except ValueError as error:
            raise PayloadError("a group of its pieces is damaged", tag="pieces") from error

    def _piece(self, digest: bytes) -> bytes:
        piece = self._pieces.get(digest)
        if piece is None:
            sealed = self._sealed.get(digest)
            if sealed is None:
                raise PayloadError(f"its piece {digest.hex()} is missing", tag="pieces")
            piece, is_sure = self._opened(sealed)
            if not is_sure:
                self._check_name(digest, piece)
            self._pieces[digest] = piece
            self._sizes[digest] = len(sealed.data)
            del self._sealed[digest]
        return piece

    def _check_name(self, digest: bytes, piece: bytes) -> None:
        if self._cutter.digest(piece) != digest:
            if not self._cutter.is_old_name(digest, piece):
                raise PayloadError(f"its piece {digest.hex()} is damaged", tag="pieces")
            self._has_old_names = True


def _wrong_size() -> PayloadError:
    return PayloadError("its pieces do not make up its size", tag="pieces")
