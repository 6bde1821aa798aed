"""Bytes are cut where their content says, so that equal stretches become equal pieces.

A value that grew, or changed in the middle, has the pieces of the value before it, but for those
around the change (FastCDC, as backup programs use it). Nothing needs to know what the bytes mean.
"""

from __future__ import annotations

import hmac
import threading
from collections.abc import Iterator, Sequence
from hashlib import blake2b, sha256
from typing import Final, TypeAlias

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
