"""Codec `once1`, writing quickly what is not too unusual: nearly all values.

The first attempt knows nothing but the simple and common. Where that fails, or finds parts that
occur more than once, the second or third one does it with care. For cycles, great depth, opaque
values, and all that cannot be written, there is `encode_slow`. Property tests hold the three to
the same results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from langgraph_once.serde.codecs.once1.registry.registry import Registry, Writer
from langgraph_once.serde.codecs.once1.write.by_class import plan_of
from langgraph_once.serde.codecs.once1.write.one_pass import Known, Packer, Plan
from langgraph_once.serde.codecs.once1.write.shared_parts import CarefulPacker
from langgraph_once.serde.codecs.once1.write.simple_objects import Shape, shape_of
from langgraph_once.serde.codecs.once1.write.threads import Straight

__all__ = ["FastEncoder"]

_MAX_CLASSES: Final = 4096
"""Bounds the memory of a process that writes instances of ever new classes."""


class FastEncoder:
    """Writes what a `Packer` can, and remembers how it wrote each class. Thread-safe."""

    def __init__(self, registry: Registry) -> None:
        shapes: dict[type, Shape | None] = _Memo(lambda cls: shape_of(cls, _writer(registry, cls)))
        plans: dict[type, Plan] = _Memo(
            lambda cls: plan_of(cls, _writer(registry, cls), shapes[cls])
        )
        self._known = Known(shapes, plans, {})
        self.straight = Straight(shapes)
        """For the most common values."""

    def encode(self, value: Any) -> bytes | None:
        """Return the bytes of `value`; None where it takes `encode_slow` to write or refuse it."""
        packer = Packer(self._known)
        try:
            data = packer.packed(value)
        except Exception:
            return self._encode_carefully(value)
        # An id that occurs twice may mean that an object does: all are alive.
        if len(set(packer.ids)) == len(packer.ids):
            return data
        return self._encode_shared(value, Counter(packer.ids), is_simple=True)

    def _encode_carefully(self, value: Any) -> bytes | None:
        packer = CarefulPacker(self._known, {}, is_simple=False)
        try:
            data = packer.packed(value)
        except Exception:
            return None
        counts = Counter(packer.ids)
        if len(counts) == len(packer.ids):
            return data
        return self._encode_shared(value, counts, is_simple=False)

    def _encode_shared(
        self, value: Any, counts: Mapping[int, int], *, is_simple: bool
    ) -> bytes | None:
        try:
            return CarefulPacker(self._known, counts, is_simple=is_simple).packed(value)
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
