"""The headers of msgpack: what each first byte begins. The one table of them in this package."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

__all__ = ["HEADERS", "Header", "Kind", "starts_of"]


class Kind(IntEnum):
    """What stands behind a header."""

    SCALAR = 0
    ARRAY = 1
    MAP = 2
    EXT = 3


class Header(NamedTuple):
    """What a first byte tells."""

    kind: Kind
    width: int
    """How many bytes the field behind it has that tells the size."""
    size: int
    """The size where there is no such field: bytes of a scalar or an extension, items, pairs."""


def _headers() -> list[Header]:
    table = [Header(Kind.SCALAR, 0, 0)] * 256
    for low in range(16):
        table[0x80 + low] = Header(Kind.MAP, 0, low)
        table[0x90 + low] = Header(Kind.ARRAY, 0, low)
    for low in range(32):
        table[0xA0 + low] = Header(Kind.SCALAR, 0, low)
    for power in range(3):
        table[0xC4 + power] = table[0xD9 + power] = Header(Kind.SCALAR, 1 << power, 0)
        table[0xC7 + power] = Header(Kind.EXT, 1 << power, 0)
    table[0xCA], table[0xCB] = Header(Kind.SCALAR, 0, 4), Header(Kind.SCALAR, 0, 8)
    for power in range(4):
        table[0xCC + power] = table[0xD0 + power] = Header(Kind.SCALAR, 0, 1 << power)
    for power in range(5):
        table[0xD4 + power] = Header(Kind.EXT, 0, 1 << power)
    table[0xDC], table[0xDD] = Header(Kind.ARRAY, 2, 0), Header(Kind.ARRAY, 4, 0)
    table[0xDE], table[0xDF] = Header(Kind.MAP, 2, 0), Header(Kind.MAP, 4, 0)
    return table


HEADERS: Final = _headers()
"""By the first byte."""


def starts_of(kind: Kind) -> frozenset[int]:
    """Return the first bytes of what is of this kind."""
    return frozenset(first for first, header in enumerate(HEADERS) if header.kind is kind)
