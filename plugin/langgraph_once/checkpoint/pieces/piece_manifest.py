"""A manifest says of which pieces a value consists.

It grows with the logarithm of the value. The digests of the pieces are a list that is cut itself:
after some digests, told by their own bits, a group ends and becomes a piece, whose digest stands
in the list of the next level. Each level of the manifest holds what comes after its last group.

    level 1   [node node node]            each the digest of a piece that holds digests
    level 0                   [leaf leaf] of bytes that follow those under the nodes
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import ormsgpack

from langgraph_once.checkpoint.pieces.cut import DIGEST_BYTES, Cutter, Piece
from langgraph_once.checkpoint.pieces.levels import Cut, cut
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
