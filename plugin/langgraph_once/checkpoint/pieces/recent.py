"""How values were cut a moment ago: a thread that goes on writes them again, a bit longer."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final

from langgraph_once.checkpoint.pieces.cut import Cutter
from langgraph_once.checkpoint.pieces.levels import Cut
from langgraph_once.checkpoint.pieces.manifest import CutValue, split

__all__ = ["Recent"]

_BEGINNING: Final = 512
"""Bytes: values that begin with the same are taken for one that changed. Nothing depends on it."""


class Recent:
    """Cuts values like those that it cut before. Thread-safe.

    What it takes for stored, and is not, is noticed: pieces are asked for before they are named.

    Args:
        cutter: Cuts and names.
        max_bytes: Of the values that are remembered.
    """

    def __init__(self, cutter: Cutter, *, max_bytes: int = 32 * 1024 * 1024) -> None:
        self._cutter = cutter
        self._max_bytes = max_bytes
        self._bytes = 0
        self._cuts: OrderedDict[bytes, Cut] = OrderedDict()
        self._lock = threading.Lock()

    def split(self, codec: str, data: bytes, *, lead_bytes: int) -> CutValue:
        """`split` a value."""
        key = data[lead_bytes : lead_bytes + _BEGINNING]
        value = split(
            codec,
            data,
            lead_bytes=lead_bytes,
            cutter=self._cutter,
            before=self._cuts.get(key),
        )
        if len(data) * 4 <= self._max_bytes:
            self._keep(key, value.cut)
        return value

    def _keep(self, key: bytes, cut: Cut) -> None:
        with self._lock:
            before = self._cuts.pop(key, None)
            self._bytes += len(cut.body) - (len(before.body) if before else 0)
            self._cuts[key] = cut
            while self._bytes > self._max_bytes:
                _, oldest = self._cuts.popitem(last=False)
                self._bytes -= len(oldest.body)
