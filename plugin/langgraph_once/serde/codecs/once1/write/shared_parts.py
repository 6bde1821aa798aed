"""Writing a value that has unusual parts, or parts that occur more than once.

A part that occurs more than once becomes an entry of the table when it is met first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import ormsgpack
from ormsgpack import packb

from langgraph_once.serde.codecs.once1.format.layout import ATOMS, OPTIONS, entry
from langgraph_once.serde.codecs.once1.write.nodes import is_text, pack_atom
from langgraph_once.serde.codecs.once1.write.one_pass import Known, OnePassWriter, ref
from langgraph_once.serde.codecs.once1.write.simple_objects import GiveUpError

__all__ = ["SharedPartsWriter"]

_UNSURE: Final = ATOMS - {int, str}
"""Without integers and strings, some of which need an extension."""


class SharedPartsWriter(OnePassWriter):
    """Writes one value."""

    seen = 1
    """How often that is written which is being written."""
    has_links = True
    has_trees = False

    def __init__(self, known: Known, counts: Mapping[int, int], *, is_simple: bool) -> None:
        """Take what one attempt needs.

        Args:
            known: As `OnePassWriter`.
            counts: How often each part occurs, by id, once that is known.
            is_simple: A `OnePassWriter` can write it, but for what occurs more than once.
        """
        super().__init__(known)
        self.counts = counts
        self.is_quick = is_simple
        if not is_simple:
            self.plain = _UNSURE
        self._indices: dict[int, int | None] = {}
        """The entries, by the id of what they stand for; None while it is written."""

    def hook(self, value: Any) -> Any:
        """Return what stands for a value that is not native; asked by msgpack."""
        return self._ref(value) if self.is_shared(value) else super().hook(value)

    def prepared(self, value: Any, level: int) -> Any:
        """Return what msgpack writes rightly without asking; as `OnePassWriter.prepared`."""
        kind = type(value)
        if kind in ATOMS:
            return pack_atom(value)
        if self.is_shared(value):
            return self._ref(value)
        if kind is dict and not all(type(key) is str and is_text(key) for key in value):
            return self.map(value)
        return super().prepared(value, level)

    def is_shared(self, value: Any) -> bool:
        """Whether `value` occurs elsewhere than in the entry that is being written, too."""
        return self.counts.get(id(value), 1) > self.seen

    def _ref(self, value: Any) -> ormsgpack.Ext:
        if id(value) not in self._indices:
            self._write_entry(value)
        index = self._indices[id(value)]
        if index is None:  # it contains itself
            raise GiveUpError
        return ref(index)

    def _write_entry(self, value: Any) -> None:
        self._indices[id(value)] = None
        outside = self.levels, self.objects, self.seen
        self.levels, self.objects, self.seen = 0, 0, self.counts[id(value)]
        data = packb(self.prepared(value, 0), self.hook, OPTIONS)
        self.levels, self.objects, self.seen = outside
        self._indices[id(value)] = self.add(entry(data))
