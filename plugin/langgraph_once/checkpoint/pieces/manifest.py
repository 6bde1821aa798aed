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
from typing import Final

import ormsgpack

from langgraph_once.checkpoint.pieces.cut import DIGEST_BYTES, Cutter
from langgraph_once.errors import PayloadError

__all__ = ["CutValue", "Manifest", "split"]

_VERSION: Final = 1
_MAX_LEVELS: Final = 16
_LEAST_GROUP: Final = 2
_MOST_GROUP: Final = 64
_ENDS_GROUP: Final = 0x03
"""A digest whose last bits these are, all zero, ends a group: one in 4."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a value consists of."""

    codec: str
    """That wrote the value."""
    size: int
    """Of the value, in bytes."""
    lead: bytes
    """How it begins: what changes whenever the value grows, as the header of a list does."""
    levels: tuple[tuple[bytes, ...], ...]
    """Digests; the leaves, which come last, are level 0."""

    def to_bytes(self) -> bytes:
        """The manifest as it is stored."""
        levels = [b"".join(level) for level in self.levels]
        return ormsgpack.packb([_VERSION, self.codec, self.size, self.lead, levels])

    @classmethod
    def from_bytes(cls, data: bytes) -> Manifest:
        """Read what `to_bytes` wrote.

        Raises:
            PayloadError: It is damaged, or of a newer version.
        """
        try:
            version, codec, size, lead, levels = ormsgpack.unpackb(data)
            if version == _VERSION and len(levels) <= _MAX_LEVELS:
                cut = tuple(tuple(digests_in(level)) for level in levels)
                return cls(codec, size, bytes(lead), cut)
        except (ValueError, TypeError) as error:
            raise PayloadError("the list of its pieces is damaged", tag="pieces") from error
        raise PayloadError("the list of its pieces is not of version 1", tag="pieces")

    def nodes(self) -> Iterator[tuple[int, bytes]]:
        """The digests that it holds itself, with their levels; those of the first bytes first."""
        for level in range(len(self.levels) - 1, -1, -1):
            for digest in self.levels[level]:
                yield level, digest


@dataclass(frozen=True, slots=True)
class CutValue:
    """A value in pieces."""

    manifest: Manifest
    pieces: Mapping[bytes, bytes]
    """All of them, by digest: leaves and groups."""


def split(codec: str, data: bytes, *, lead_bytes: int, cutter: Cutter) -> CutValue:
    """Cut what a codec wrote.

    Args:
        codec: Its name.
        data: What it wrote.
        lead_bytes: How many bytes at the beginning change whenever the value grows.
        cutter: Cuts and names.
    """
    pieces: dict[bytes, bytes] = {}

    def named(data: bytes) -> bytes:
        digest = cutter.digest(data)
        pieces[digest] = data
        return digest

    digests = [named(piece) for piece in cutter.cut(data[lead_bytes:])]
    levels = []
    while digests:
        groups, rest = _groups(digests)
        levels.append(tuple(rest))
        digests = [named(b"".join(group)) for group in groups]
    return CutValue(Manifest(codec, len(data), data[:lead_bytes], tuple(levels)), pieces)


def digests_in(node: bytes) -> list[bytes]:
    """The digests that a group, or a level of a manifest, holds.

    Raises:
        ValueError: It is none.
    """
    if len(node) % DIGEST_BYTES:
        raise ValueError("no whole number of digests")
    return [node[at : at + DIGEST_BYTES] for at in range(0, len(node), DIGEST_BYTES)]


def _groups(digests: list[bytes]) -> tuple[list[list[bytes]], list[bytes]]:
    """The groups that end, and what comes after the last of them."""
    groups: list[list[bytes]] = []
    group: list[bytes] = []
    for digest in digests:
        group.append(digest)
        ends = len(group) >= _LEAST_GROUP and not digest[-1] & _ENDS_GROUP
        if ends or len(group) == _MOST_GROUP:
            groups.append(group)
            group = []
    return groups, group
