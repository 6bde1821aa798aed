"""How values are cut that were read or written a moment ago: a thread that goes on writes them
again, a bit longer."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, Final

from langgraph_once.checkpoint.pieces.cut import Cutter
from langgraph_once.checkpoint.pieces.levels import Cut
from langgraph_once.checkpoint.pieces.manifest import CutValue, Manifest, split

__all__ = ["Recent"]

_BEGINNING: Final = 512
"""Bytes: values of a thread that begin with the same are taken for one that changed."""
_MIDDLE: Final = 128
"""Bytes: a value whose beginning was cut off is known by these."""
_LOOKED_AT: Final = 4
"""The latest values of the thread that are looked through for them."""


class Recent:
    """Cuts values as those before them are cut, and has their bytes. Thread-safe.

    What it takes for stored, and is not, is noticed: pieces are asked for before they are named.
    A value of which it knows nothing is cut coarsely, so that more is stored, but never wrongly.

    Args:
        cutter: Cuts and names.
        max_bytes: Of the values that are remembered.
    """

    def __init__(self, cutter: Cutter, *, max_bytes: int = 32 * 1024 * 1024) -> None:
        self._cutter = cutter
        self._max_bytes = max_bytes
        self._bytes = 0
        self._cuts: OrderedDict[Any, tuple[Manifest, Cut]] = OrderedDict()
        self._by_levels: dict[Any, Cut] = {}
        self._lock = threading.Lock()

    def split(self, thread_id: Any, codec: str, data: bytes, *, lead_bytes: int) -> CutValue:
        """`split` a value of a thread."""
        before = self._before(thread_id, data, lead_bytes)
        value = split(codec, data, lead_bytes=lead_bytes, cutter=self._cutter, before=before)
        self.keep(thread_id, value.manifest, value.cut)
        return value

    def keep(self, thread_id: Any, manifest: Manifest, cut: Cut) -> None:
        """Remember how a value of a thread is cut, if it is not too large."""
        if len(cut.data) * 2 > self._max_bytes:
            return
        key = thread_id, cut.data[cut.start : cut.start + _BEGINNING]
        with self._lock:
            if key in self._cuts:
                self._forget(*self._cuts.pop(key))
            self._cuts[key] = manifest, cut
            self._by_levels[manifest.levels] = cut
            self._bytes += len(cut.data)
            while self._bytes > self._max_bytes:
                self._forget(*self._cuts.popitem(last=False)[1])

    def whole(self, manifest: Manifest) -> bytes | None:
        """The bytes of a value, if they are remembered."""
        cut = self._by_levels.get(manifest.levels)
        if cut is None or (cut.data.startswith(manifest.lead) and cut.start == len(manifest.lead)):
            return cut and cut.data
        return manifest.lead + cut.body

    def _before(self, thread_id: Any, data: bytes, lead_bytes: int) -> Cut | None:
        """A value of the thread that begins with the same, or has the middle of this one."""
        found = self._cuts.get((thread_id, data[lead_bytes : lead_bytes + _BEGINNING]))
        if found is not None:
            return found[1]
        middle = (lead_bytes + len(data)) // 2
        part = data[middle : middle + _MIDDLE]
        with self._lock:
            cuts = [cut for (of, _), (_, cut) in self._cuts.items() if of == thread_id]
        return next((cut for cut in cuts[: -_LOOKED_AT - 1 : -1] if part in cut.data), None)

    def _forget(self, manifest: Manifest, cut: Cut) -> None:
        self._bytes -= len(cut.data)
        if self._by_levels.get(manifest.levels) is cut:  # and not that of a copy of the thread
            del self._by_levels[manifest.levels]
