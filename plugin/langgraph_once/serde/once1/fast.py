"""Codec `once1`, writing quickly what needs no table: most values.

msgpack is written while the value is walked, with no graph of it in between. Whatever needs
the graph (a part that occurs twice, an uncommon type, great depth) makes this give up, and
`encode_slow` write it. A property test holds both to the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import ormsgpack

from langgraph_once.serde.once1.nodes import int_bytes, is_flat, pack_flat
from langgraph_once.serde.once1.opaque import Opaque
from langgraph_once.serde.once1.registry import Registry
from langgraph_once.serde.once1.wire import ATOMS, MAX_LEVELS, MAX_OBJECTS, Ext, array_header, pack

__all__ = ["encode_fast"]

_UNCOMMON: Final = frozenset({bytearray, memoryview, Opaque})
_TUPLES: Final = frozenset({tuple, frozenset, set})


class _GiveUpError(Exception):
    """The value is not of the simple kind."""


def encode_fast(value: Any, registry: Registry) -> bytes | None:
    """Return the bytes of `value`; None where it takes `encode_slow` to write it, or to refuse."""
    packer = _Packer(registry)
    try:
        packer.levels = packer.check((value,), 0)
        data = pack(value, packer.hook)
    except Exception:
        return None
    # An id that occurs twice may mean that an object does: all are alive.
    return data if len(set(packer.ids)) == len(packer.ids) else None


class _Packer:
    """One call of `encode_fast`."""

    __slots__ = ("ids", "kept", "levels", "objects", "registry")

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self.ids: list[int] = []
        self.kept: list[Any] = []
        self.levels = 0  # at most so many containers and objects are open
        self.objects = 0  # so many extensions are

    def check(self, values: Iterable[Any], levels: int) -> int:
        """Look at what msgpack writes without asking; return how deep it is.

        Raises:
            _GiveUpError: It would be written wrongly.
        """
        most = levels
        for value in values:
            kind = type(value)
            if kind in ATOMS:
                continue
            if kind is dict or kind is list:
                self.ids.append(id(value))
                if levels >= MAX_LEVELS:
                    raise _GiveUpError
                if value:
                    inside = value.values() if kind is dict else value
                    most = max(most, self.check(inside, levels + 1))
                else:
                    most = max(most, levels + 1)
            elif kind in _UNCOMMON:
                raise _GiveUpError
        return most

    def hook(self, value: Any) -> Any:
        """Return the extension for a value that is not native; asked by msgpack."""
        kind = type(value)
        if kind is int:
            return ormsgpack.Ext(Ext.INT, int_bytes(value))
        if kind in _TUPLES:
            return self._items(value, kind)
        writer = None if isinstance(value, type) else self.registry.writer(kind)
        if writer is None:
            raise _GiveUpError
        data = writer.encode(value)
        if writer.by_value and is_flat(data):
            return pack_flat(writer, data)
        self.ids.append(id(value))
        self.kept.append(data)
        code, head = writer.code, writer.head
        if code == Ext.FAMILY and type(data) is tuple:
            return ormsgpack.Ext(Ext.RECORD, head + self._pack([*data], data))
        return ormsgpack.Ext(code, head + self._pack(data, (data,)))

    def _items(self, value: Any, kind: type) -> Any:
        if value or kind is set:
            self.ids.append(id(value))
        if kind is tuple:
            return ormsgpack.Ext(Ext.TUPLE, self._pack([*value], value))
        packed = sorted([self._pack(item, (item,)) for item in value])
        code = Ext.SET if kind is set else Ext.FROZENSET
        return ormsgpack.Ext(code, array_header(len(packed)) + b"".join(packed))

    def _pack(self, value: Any, parts: Iterable[Any]) -> bytes:
        """Return the msgpack of `value`, what an extension holds; `parts` are what is in it."""
        levels = self.levels
        self.levels = self.check(parts, levels + 1)
        self.objects += 1
        if self.levels >= MAX_LEVELS or self.objects > MAX_OBJECTS:
            raise _GiveUpError
        data = pack(value, self.hook)
        self.levels = levels
        self.objects -= 1
        return data
