"""How values were cut a moment ago: a thread that goes on writes them again, a bit longer."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, Final

from langgraph_once.checkpoint.pieces.cut import Cutter
from langgraph_once.checkpoint.pieces.manifest import CutValue, Manifest, split

__all__ = ["Recent"]

_BEGINNING: Final = 512
"""Bytes: values that begin with the same are taken for one that changed. Nothing depends on it."""


class Recent:
    """Cuts values like those that it cut before, and has their bytes. Thread-safe.

    What it takes for stored, and is not, is noticed: pieces are asked for before they are named.

    Args:
        cutter: Cuts and names.
        max_bytes: Of the values that are remembered.
    """

    def __init__(self, cutter: Cutter, *, max_bytes: int = 32 * 1024 * 1024) -> None:
        self._cutter = cutter
        self._max_bytes = max_bytes
        self._bytes = 0
        self._values: OrderedDict[bytes, CutValue] = OrderedDict()
        self._bodies: dict[Any, bytes] = {}
        self._lock = threading.Lock()

    def split(self, codec: str, data: bytes, *, lead_bytes: int) -> CutValue:
        """`split` a value."""
        key = data[lead_bytes : lead_bytes + _BEGINNING]
        found = self._values.get(key)
        before = None if found is None else found.cut
        value = split(codec, data, lead_bytes=lead_bytes, cutter=self._cutter, before=before)
        if len(data) * 4 <= self._max_bytes:
            self._keep(key, CutValue(value.manifest, value.cut, {}))
        return value

    def body(self, manifest: Manifest) -> bytes | None:
        """What the pieces of a value are together, if it was cut a moment ago."""
        return self._bodies.get(manifest.levels)

    def _keep(self, key: bytes, value: CutValue) -> None:
        with self._lock:
            if key in self._values:
                self._forget(self._values.pop(key))
            self._values[key] = value
            self._bodies[value.manifest.levels] = value.cut.body
            self._bytes += len(value.cut.body)
            while self._bytes > self._max_bytes:
                self._forget(self._values.popitem(last=False)[1])

    def _forget(self, value: CutValue) -> None:
        self._bytes -= len(value.cut.body)
        self._bodies.pop(value.manifest.levels, None)
