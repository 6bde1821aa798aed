"""Ways to damage a blob, for fuzzing. Each takes the blob and another one of the corpus."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

__all__ = ["mutate"]

_EXTENSION_HEADS: Final = frozenset(b"\xc7\xc8\xc9\xd4\xd5\xd6\xd7\xd8")
_HEADS: Final = bytes(range(0x80, 0x100))
_LENGTHS: Final = (0, 1, 2, 255, 256, 65_535, 65_536, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1)


def _flip(rng: Random, blob: bytes, other: bytes) -> bytes:
    changed = bytearray(blob)
    for _ in range(rng.randint(1, 4)):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _truncate(rng: Random, blob: bytes, other: bytes) -> bytes:
    return blob[: rng.randrange(len(blob))]


def _drop(rng: Random, blob: bytes, other: bytes) -> bytes:
    start = rng.randrange(len(blob))
    return blob[:start] + blob[start + rng.randint(1, 8) :]


def _insert(rng: Random, blob: bytes, other: bytes) -> bytes:
    start = rng.randrange(len(blob))
    return blob[:start] + rng.randbytes(rng.randint(1, 8)) + blob[start:]


def _repeat(rng: Random, blob: bytes, other: bytes) -> bytes:
    start, end = sorted((rng.randrange(len(blob)), rng.randrange(len(blob) + 1)))
    return blob[:end] + blob[start:end] * rng.randint(1, 3) + blob[end:]


def _splice(rng: Random, blob: bytes, other: bytes) -> bytes:
    return blob[: rng.randrange(len(blob) + 1)] + other[rng.randrange(len(other) + 1) :]


def _graft(rng: Random, blob: bytes, other: bytes) -> bytes:
    """Put the whole of another blob into this one: it is well-formed where it begins."""
    start = rng.randrange(len(blob))
    return blob[:start] + other + blob[start + rng.randint(0, 8) :]


def _edit_length(rng: Random, blob: bytes, other: bytes) -> bytes:
    length = rng.choice(_LENGTHS)
    field = struct.pack(rng.choice((">I", "<I", ">Q", "<Q")), length)
    field = field[-rng.choice((1, 2, 4)) :] if rng.random() < 0.7 else field
    start = rng.randrange(len(blob))
    return blob[:start] + field + blob[start + len(field) :]


def _edit_head(rng: Random, blob: bytes, other: bytes) -> bytes:
    start = rng.randrange(len(blob))
    return blob[:start] + bytes((rng.choice(_HEADS),)) + blob[start + 1 :]


def _edit_extension(rng: Random, blob: bytes, other: bytes) -> bytes:
    heads = [at for at, byte in enumerate(blob) if byte in _EXTENSION_HEADS]
    if not heads:
        return _wrap(rng, blob, other)
    head = rng.choice(heads)
    start = head + {0xC7: 2, 0xC8: 3, 0xC9: 5}.get(blob[head], 1)
    return blob[:start] + bytes((rng.randrange(24),)) + blob[start + 1 :]


def _wrap(rng: Random, blob: bytes, other: bytes) -> bytes:
    return b"\xc9" + struct.pack(">IB", len(blob), rng.randrange(256)) + blob


_MUTATIONS: Final[tuple[Callable[[Random, bytes, bytes], bytes], ...]] = (
    *(_flip, _truncate, _drop, _insert, _repeat, _splice, _graft),
    *(_edit_length, _edit_head, _edit_extension, _wrap),
)


def mutate(rng: Random, blob: bytes, other: bytes) -> bytes:
    """Return `blob`, damaged once to three times."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        if blob:
            blob = rng.choice(_MUTATIONS)(rng, blob, other)
    return blob
