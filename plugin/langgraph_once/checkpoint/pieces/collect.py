"""What is asked of a database to store pieces, or to put them together. No I/O.

To put a value together is to walk from its manifest down.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from langgraph_once.checkpoint.pieces.cut import Cutter
from langgraph_once.checkpoint.pieces.manifest import CutValue, Manifest, digests_in
from langgraph_once.errors import PayloadError, SerdeError

__all__ = ["Assembly", "Cell", "Missing"]


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
        named: Those of them that a manifest or a new group names.
    """

    def __init__(self, values: Iterable[CutValue]) -> None:
        self._values = [*values]
        # Pieces that were cut for the first time are not asked for: they are hardly there, and if
        # so, they stay as they are.
        self.found = {name: data for value in self._values for name, data in value.fresh.items()}
        names = {name for value in self._values for name in value.cut.names()}
        self.wanted = names - self.found.keys()
        self.named = {name for value in self._values for name in value.named()} - self.found.keys()

    def tell(self, stored: Iterable[bytes]) -> None:
        """Take note of which of those wanted are stored: the others are lacking."""
        for digest in self.wanted - {*stored}:
            self.found[digest] = self._piece(digest)
        self.wanted = set()

    def _piece(self, digest: bytes) -> bytes:
        return next(value.pieces[digest] for value in self._values if digest in value.pieces)


class Assembly:
    """Puts values together from pieces. Each piece is opened once.

    Args:
        opened: Opens a stored piece: decrypts and decompresses it.
        cutter: Knows whether a piece is the one that its digest names.
        groups_only: Whether it is only asked which pieces there are.
        remembered: Knows of some values what their pieces are together: those are not asked for.
    """

    def __init__(
        self,
        opened: Callable[[Cell], bytes],
        cutter: Cutter,
        *,
        groups_only: bool = False,
        remembered: Callable[[Manifest], bytes | None] = lambda _: None,
    ) -> None:
        self._remembered = remembered
        self._bodies: dict[Any, bytes] = {}
        self._opened = opened
        self._cutter = cutter
        self._least_level = 1 if groups_only else 0
        self._sealed: dict[bytes, Cell] = {}
        self._pieces: dict[bytes, bytes] = {}
        self._known: set[tuple[int, bytes]] = set()
        self._lacking: set[tuple[int, bytes]] = set()
        self._levels: set[tuple[int, bytes]] = set()

    def wanted(self, manifests: Iterable[Manifest] = ()) -> dict[bytes, int]:
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

    def all_of(self, manifests: Iterable[Manifest]) -> set[bytes]:
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
        self._named(digest, sealed)

    def joined(self, manifest: Manifest) -> bytes:
        """The bytes of a value.

        Raises:
            SerdeError: A piece is missing, or is not the one that its digest names.
        """
        body = self._bodies.get(manifest.levels)
        parts = [manifest.lead] if body is None else [manifest.lead, body]
        size = sum(map(len, parts))
        todo = [*manifest.nodes()][::-1] if body is None else []
        while todo:
            level, digest = todo.pop()
            if level:
                todo += ((level - 1, below) for below in reversed(self._below(digest)))
                continue
            parts.append(piece := self._piece(digest))
            size += len(piece)
            if size > manifest.size or not piece:  # groups of groups could go on for ever
                break
        if size != manifest.size or todo:
            raise PayloadError("its pieces do not make up its size", tag="pieces")
        return b"".join(parts)

    def _new_nodes(self, manifest: Manifest) -> Iterator[tuple[int, bytes]]:
        """Those of the levels that no manifest before has: few change from step to step."""
        for level in enumerate(manifest.levels):
            if level not in self._levels:
                self._levels.add(level)
                yield from ((level[0], digest) for digest in digests_in(level[1]))

    def _is_remembered(self, manifest: Manifest) -> bool:
        if manifest.levels not in self._bodies:
            body = self._remembered(manifest)
            if body is None:
                return False
            self._bodies[manifest.levels] = body  # it may be forgotten before it is read
        return True

    def _walk(self, manifests: Iterable[Manifest]) -> Iterator[tuple[int, bytes]]:
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
        try:
            return digests_in(self._piece(digest))
        except ValueError as error:
            raise PayloadError("a group of its pieces is damaged", tag="pieces") from error

    def _piece(self, digest: bytes) -> bytes:
        piece = self._pieces.get(digest)
        if piece is None:
            sealed = self._sealed.get(digest)
            if sealed is None:
                raise PayloadError(f"its piece {digest.hex()} is missing", tag="pieces")
            piece = self._pieces[digest] = self._named(digest, sealed)
            del self._sealed[digest]
        return piece

    def _named(self, digest: bytes, sealed: Cell) -> bytes:
        piece = self._opened(sealed)
        if not self._cutter.is_name(digest, piece):
            raise PayloadError(f"its piece {digest.hex()} is damaged", tag="pieces")
        return piece
