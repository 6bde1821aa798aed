"""What is asked of a database to store pieces, or to put them together. No I/O.

To put a value together is to walk from its manifest down.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final, NamedTuple

from langgraph_once.checkpoint.pieces.cut import DIGEST_BYTES, MAX_GROUP, Cut, Cutter, Level, Piece
from langgraph_once.checkpoint.pieces.piece_manifest import CutValue, PieceManifest, digests_in
from langgraph_once.errors import PayloadError, SerdeError

_LEAST_PIECE_BYTES: Final = 64
"""Pieces are longer than this on the average: one of a byte could stand for a million."""
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
