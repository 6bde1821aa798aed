"""How values are cut that were read or written a moment ago: a thread that goes on writes them
again, a bit longer."""

from __future__ import annotations

import threading
from collections import OrderedDict
from itertools import islice
from typing import Any, Final

from langgraph_once.checkpoint.pieces.cut import Cutter
from langgraph_once.checkpoint.pieces.levels import Cut
from langgraph_once.checkpoint.pieces.piece_manifest import CutValue, PieceManifest, split

_BEGINNING: Final = 512
"""Bytes: values of a thread that begin with the same are taken for one that changed."""
_MOST_MET: Final = 16_384
"""Of how many values it is known that they were read or written before."""
_MIDDLE: Final = 128
"""Bytes: a value whose beginning was cut off is known by these."""
_LOOKED_AT: Final = 4
"""The latest values of the thread that are looked through for them."""


class Recent:
    """Cuts values as those before them are cut, and has their bytes. Thread-safe.

    What it takes for stored, and is not, is noticed: pieces are asked for before they are named.
    A value that it has forgotten is cut finely: it was, most likely, as it grew.

    Args:
        cutter: Cuts and names.
        max_bytes: Of the values that are remembered.
    """

    def __init__(self, cutter: Cutter, *, max_bytes: int = 32 * 1024 * 1024) -> None:
        self._cutter = cutter
        self._max_bytes = max_bytes
        self._bytes = 0
        self._cuts: OrderedDict[Any, tuple[PieceManifest, Cut]] = OrderedDict()
        self._by_thread: dict[Any, dict[Any, Cut]] = {}
        self._by_levels: dict[Any, Cut] = {}
        self._met: OrderedDict[int, None] = OrderedDict()
        self._lock = threading.Lock()

    def __contains__(self, thread_id: Any) -> bool:
        """Whether a value of a thread is remembered."""
        return thread_id in self._by_thread

    def split(self, thread_id: Any, codec: str, data: bytes, *, lead_bytes: int) -> CutValue:
        """`split` a value of a thread."""
        key = thread_id, data[lead_bytes : lead_bytes + _BEGINNING]
        before = self._before(key, (lead_bytes + len(data)) // 2, data)
        value = split(
            codec,
            data,
            lead_bytes=lead_bytes,
            cutter=self._cutter,
            before=before,
            finely=before is None and self._is_kept(data) and hash(key) in self._met,
        )
        self.keep(thread_id, value.manifest, value.cut)
        return value

    def keep(self, thread_id: Any, manifest: PieceManifest, cut: Cut) -> None:
        """Remember how a value of a thread is cut, if it is not too large."""
        if not self._is_kept(cut.data):
            return
        key = thread_id, cut.data[cut.start : cut.start + _BEGINNING]
        with self._lock:
            self._met[hash(key)] = None
            if len(self._met) > _MOST_MET:
                self._met.popitem(last=False)
            if key in self._cuts:
                self._forget(key, *self._cuts.pop(key))
            self._cuts[key] = manifest, cut
            self._by_thread.setdefault(thread_id, {})[key] = cut
            self._by_levels[manifest.levels] = cut
            self._bytes += len(cut.data)
            while self._bytes > self._max_bytes:
                oldest, found = self._cuts.popitem(last=False)
                self._forget(oldest, *found)

    def whole(self, manifest: PieceManifest) -> bytes | None:
        """The bytes of a value, if they are remembered."""
        cut = self._by_levels.get(manifest.levels)
        if cut is None or (cut.data.startswith(manifest.lead) and cut.start == len(manifest.lead)):
            return cut and cut.data
        return manifest.lead + cut.body

    def _is_kept(self, data: bytes) -> bool:
        return len(data) * 2 <= self._max_bytes

    def _before(self, key: tuple[Any, bytes], middle: int, data: bytes) -> Cut | None:
        """A value of the thread that begins with the same, or has the middle of this one."""
        found = self._cuts.get(key)
        if found is not None:
            return found[1]
        part = data[middle : middle + _MIDDLE]
        with self._lock:
            cuts = [*islice(reversed(self._by_thread.get(key[0], {}).values()), _LOOKED_AT)]
        return next((cut for cut in cuts if part in cut.data), None)

    def _forget(self, key: tuple[Any, bytes], manifest: PieceManifest, cut: Cut) -> None:
        self._bytes -= len(cut.data)
        of_thread = self._by_thread[key[0]]
        del of_thread[key]
        if not of_thread:
            del self._by_thread[key[0]]
        if self._by_levels.get(manifest.levels) is cut:  # and not that of a copy of the thread
            del self._by_levels[manifest.levels]
