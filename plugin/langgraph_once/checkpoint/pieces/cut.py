"""Bytes are cut where their content says, so that equal stretches become equal pieces.

A value that grew, or changed in the middle, has the pieces of the value before it, but for those
around the change (FastCDC, as backup programs use it). Nothing needs to know what the bytes mean.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import partial
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
        keys: Under the first, pieces are named and cut, so that who reads the database learns
            nothing from either; empty where nothing is encrypted. Under the others, older pieces
            may have been named.
    """

    def __init__(self, keys: Sequence[bytes] = (b"",)) -> None:
        self._keys = keys
        self._new = partial(
            FastCDC,
            _MEAN_BYTES,
            min_size=_LEAST_BYTES,
            max_size=_MOST_BYTES,
            seed=int.from_bytes(keys[0][:8], "big") >> 1,  # it takes 63 bits
        )
        self._local = threading.local()  # one of them does one thing at a time

    def digest(self, data: bytes) -> bytes:
        """The name of a piece: `DIGEST_BYTES` that only equal bytes have."""
        return _digest(data, self._keys[0])

    def is_name(self, digest: bytes, data: bytes) -> bool:
        """Whether a piece has this name."""
        return self.digest(data) == digest or any(
            _digest(data, key) == digest for key in self._keys[1:]
        )

    def ends(self, data: bytes, start: int = 0) -> Iterator[int]:
        """Yield where the pieces end that begin at `start`, where one begins, in order.

        Where a piece ends is told by its own bytes and the one behind it.
        """
        cdc = getattr(self._local, "cdc", None)
        if cdc is None:
            cdc = self._local.cdc = self._new()
        for chunk in cdc.cut_buf(memoryview(data)[start:]):
            start += chunk.length
            yield start


def _digest(data: bytes, key: bytes) -> bytes:
    return blake2b(data, digest_size=DIGEST_BYTES, key=key).digest()
