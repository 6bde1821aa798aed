"""What is written in a thread, and around it, that is not plain; and what of it occurs twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ormsgpack import Fragment, packb

from langgraph_once.serde.codecs.once1.format.layout import OPTIONS, entry, table
from langgraph_once.serde.codecs.once1.write.one_pass import (
    NONE_TWICE,
    VALUES,
    Known,
    OnePassWriter,
)
from langgraph_once.serde.codecs.once1.write.simple_objects import MANY_PARTS, check_repeats

if TYPE_CHECKING:
    from langgraph_once.serde.codecs.once1.write.nested_objects import NestedForm

__all__ = ["NotPlain", "OddParts", "bytes_in"]


class NotPlain(NamedTuple):
    """The bytes of a value that holds something else than messages and plain data."""

    data: bytes


def bytes_in(found: bytes | NotPlain) -> bytes:
    """Return the bytes of a value."""
    return found if isinstance(found, bytes) else found.data


class OddParts:
    """What is met while one value is written."""

    _next_look = MANY_PARTS
    _other: OnePassWriter | None = None

    def __init__(self, known: Known, counts: Mapping[int, int] = NONE_TWICE) -> None:
        self._known = known
        self.counts = counts
        """How often each part occurs, by id, that is known to occur more than once."""
        self.ids: list[int] = []
        """Of the parts that others may refer to."""
        self.threads: dict[int, Any] = {}
        """Those that were looked at, by the id of the list."""
        self.nested: list[NestedForm] = []
        """The forms of the objects in messages, of threads that have some."""

    def look(self) -> None:
        """Refuse a value whose shared parts hold shared parts; as `check_repeats`."""
        if len(self.ids) >= self._next_look:
            check_repeats(self.ids)
            self._next_look = 2 * len(self.ids)

    def _writer(self) -> OnePassWriter:
        """Return what writes the parts that are not plain."""
        if self._other is None:
            self._other = OnePassWriter(self._known, self.counts)
        return self._other

    def made(self, value: Any, level: int) -> Fragment:
        """Return what msgpack writes in the place of a value that holds no thread."""
        other = self._writer()
        return Fragment(packb(other.prepared(value, level), other.hook, OPTIONS))

    def made_fields(self, values: dict[str, Any], level: int) -> Fragment:
        """Return what msgpack writes in the place of the values of a message's fields."""
        other = self._writer()
        return Fragment(packb(other.fields(values, level), other.hook, OPTIONS))

    def packed(self, written: Any) -> bytes | NotPlain | None:
        """Return the bytes, as `QuickEncode`; None if a part occurs twice: `ids` tell which.

        Args:
            written: What msgpack writes in the place of the value.
        """
        for nested in self.nested:
            self.ids += nested.ids
        if self._is_repeated():
            return None
        if not self.nested:
            data = packb(written, None, OPTIONS)
            if self._other is None:
                return data
        else:
            data = packb(written, self._hook(), OPTIONS)
            if self._is_repeated():
                return None
        pieces = self._other.pieces if self._other else ()
        return NotPlain(table([*pieces, *entry(data)]) if pieces else data)

    def _is_repeated(self) -> bool:
        """Whether a part occurs twice, and it was not known beforehand."""
        if self.counts:
            return False
        if self._other:
            self.ids += self._other.ids
            self._other.ids.clear()
        return len({*self.ids}) != len(self.ids)

    def _hook(self) -> Callable[[Any], Any]:
        """Return what stands for objects in messages, by their forms. All others are written."""
        if not any(nested.others for nested in self.nested):
            return VALUES
        other = self._writer()
        other.levels = max(nested.level for nested in self.nested)
        return other.inside
