"""Bytes are cut where their content says, so that equal stretches become equal pieces.

A value that grew, or changed in the middle, has the pieces of the value before it, but for those
around the change (FastCDC, as backup programs use it). Nothing needs to know what the bytes mean.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from hashlib import blake2b
from typing import Final

from pyfastcdc import FastCDC

__all__ = ["DIGEST_BYTES", "Cutter"]

DIGEST_BYTES: Final = 16

_MEAN_BYTES: Final = 1024
_LEAST_BYTES: Final = 256
_MOST_BYTES: Final = 8_192


class Cutter:
    """Cuts bytes and names the pieces. Thread-safe.

    Args:
        key: Under it pieces are named and cut, so that who reads the database learns nothing from
            either; empty where nothing is encrypted.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._cdc = FastCDC(
            _MEAN_BYTES,
            min_size=_LEAST_BYTES,
            max_size=_MOST_BYTES,
            seed=int.from_bytes(key[:8], "big") >> 1,  # it takes 63 bits
        )
        self._lock = threading.Lock()  # one buffer at a time

    def digest(self, data: bytes) -> bytes:
        """The name of a piece: `DIGEST_BYTES` that only equal bytes have."""
        return blake2b(data, digest_size=DIGEST_BYTES, key=self._key).digest()

    def cut(self, data: bytes) -> Iterator[bytes]:
        """Yield the pieces of `data`, in order."""
        with self._lock:
            ends = [chunk.offset + chunk.length for chunk in self._cdc.cut_buf(data)]
        start = 0
        for end in ends:
            yield data[start:end]
            start = end
