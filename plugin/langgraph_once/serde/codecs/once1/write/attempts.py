"""The order in which the quick ways are tried, and what they found out about each class.

1  `threads`       offered to the serializer by type: messages and plain data; odd parts as 2 does,
                   repeated ones as 3 does
2  `one_pass`      any simple value; notes the id of each part
3  `shared_parts`  if an id occurred twice, or the value holds something unusual
4  the general way of `encoder`, if that fails: cycles, great depth, opaque values, errors
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from langgraph_once.serde.codecs.once1.registry.registry import Registry, Writer
from langgraph_once.serde.codecs.once1.write.by_class import class_writer_of
from langgraph_once.serde.codecs.once1.write.one_pass import ClassWriter, Known, OnePassWriter
from langgraph_once.serde.codecs.once1.write.shared_parts import SharedPartsWriter
from langgraph_once.serde.codecs.once1.write.simple_objects import Shape, shape_of
from langgraph_once.serde.codecs.once1.write.threads import ThreadWriter

__all__ = ["FastEncoder"]

_MAX_CLASSES: Final = 4096
"""Bounds the memory of a process that writes instances of ever new classes."""


class FastEncoder:
    """Writes what a `OnePassWriter` can, and remembers how it wrote each class. Thread-safe."""

    def __init__(self, registry: Registry) -> None:
        shapes: dict[type, Shape | None] = _Memo(lambda cls: shape_of(cls, _writer(registry, cls)))
        class_writers: dict[type, ClassWriter] = _Memo(
            lambda cls: class_writer_of(cls, _writer(registry, cls), shapes[cls])
        )
        self._known = Known(shapes, class_writers, {})
        self.threads = ThreadWriter(self._known)
        """For the most common values."""

    def encode(self, value: Any) -> bytes | None:
        """Return the bytes of `value`; None where it takes `encode_slow` to write or refuse it."""
        self.threads.take(type(value))
        attempt = OnePassWriter(self._known)
        try:
            data = attempt.packed(value)
        except Exception:
            return self._encode_carefully(value)
        # An id that occurs twice may mean that an object does: all are alive.
        if len(set(attempt.ids)) == len(attempt.ids):
            return data
        return self._encode_shared(value, Counter(attempt.ids), is_simple=True)

    def _encode_carefully(self, value: Any) -> bytes | None:
        attempt = SharedPartsWriter(self._known, {}, is_simple=False)
        try:
            data = attempt.packed(value)
        except Exception:
            return None
        counts = Counter(attempt.ids)
        if len(counts) == len(attempt.ids):
            return data
        return self._encode_shared(value, counts, is_simple=False)

    def _encode_shared(
        self, value: Any, counts: Mapping[int, int], *, is_simple: bool
    ) -> bytes | None:
        try:
            return SharedPartsWriter(self._known, counts, is_simple=is_simple).packed(value)
        except Exception:
            return None


class _Memo(dict[type, Any]):
    """What was found out about classes, as long as they are not too many."""

    def __init__(self, find: Callable[[type], Any]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, cls: type) -> Any:
        if len(self) >= _MAX_CLASSES:
            self.clear()
        return self.setdefault(cls, self._find(cls))


def _writer(registry: Registry, cls: type) -> Writer | None:
    try:
        return registry.writer(cls)
    except ValueError:  # `encode_slow` tells why
        return None
