"""The order in which the quick ways are tried, and what they found out about each class.

1  `threads`   offered to the serializer by type: messages and plain data; odd parts as 2 does
2  `one_pass`  any simple value; again, if an id occurred twice, and with care, if that failed:
               the value may hold unusual texts
3  the general way of `encoder`, if that fails: cycles, great depth, opaque values, errors

How `one_pass` writes the instances of a class is found once for each class (`class_writer_of`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from typing import Any, Final

import ormsgpack

from langgraph_once.serde.codecs.once1.format.layout import Ext, array
from langgraph_once.serde.codecs.once1.registry.registry import Registry, Writer
from langgraph_once.serde.codecs.once1.write.nodes import int_bytes, is_flat, pack_flat
from langgraph_once.serde.codecs.once1.write.one_pass import (
    ClassWriter,
    Known,
    OnePassWriter,
    repeated,
)
from langgraph_once.serde.codecs.once1.write.simple_objects import GiveUpError, Shape, shape_of
from langgraph_once.serde.codecs.once1.write.threads import ThreadWriter

__all__ = ["FastEncoder", "class_writer_of"]

_MAX_MEMBERS: Final = 4096


def class_writer_of(cls: type, writer: Writer | None, shape: Shape | None) -> ClassWriter:
    """Return how to write instances of `cls`."""
    if cls in NATIVE:
        return NATIVE[cls]
    if writer is None or issubclass(cls, type):
        return _give_up
    general = _of_any(writer)
    if shape is not None:
        return lambda out, obj: out.model(obj, shape) or general(out, obj)
    if issubclass(cls, Enum) and writer.by_value and not writer.reported:
        return _of_members(general)
    return general


def _of_any(writer: Writer) -> ClassWriter:
    code, head, encode = writer.code, writer.head, writer.encode

    def write(out: OnePassWriter, obj: Any) -> ormsgpack.Ext:
        data = encode(obj)
        if writer.by_value and is_flat(data):
            return pack_flat(writer, data)
        out.kept.append(data)  # the ids of what is in it were noted
        if code is Ext.FAMILY and type(data) is tuple:
            out.note(obj)
            return ormsgpack.Ext(Ext.RECORD, head + out.items(data))
        return out.object(obj, code, head, data)

    return write


def _of_members(general: ClassWriter) -> ClassWriter:
    # By `id`: an enum member is slow to hash. It is kept, so that its `id` stays its own.
    known: dict[int, tuple[Any, ormsgpack.Ext]] = {}

    def write(out: OnePassWriter, member: Any) -> ormsgpack.Ext:
        found = known.get(id(member))
        if found is None:
            if len(known) >= _MAX_MEMBERS:
                known.clear()
            found = known[id(member)] = member, general(out, member)
        return found[1]

    return write


def _give_up(_out: OnePassWriter, _value: Any) -> ormsgpack.Ext:
    raise GiveUpError


def _tuple(out: OnePassWriter, value: tuple[Any, ...]) -> ormsgpack.Ext:
    if value:
        out.note(value)
    return ormsgpack.Ext(Ext.TUPLE, out.items(value))


def _set(out: OnePassWriter, value: Any) -> ormsgpack.Ext:
    is_set = type(value) is set
    if value or is_set:
        out.note(value)
    packed = sorted([out.nested(item) for item in value])
    code = Ext.SET if is_set else Ext.FROZENSET
    return ormsgpack.Ext(code, array(packed))


NATIVE: Final[dict[type, ClassWriter]] = {
    int: lambda _out, value: ormsgpack.Ext(Ext.INT, int_bytes(value)),
    tuple: _tuple,
    set: _set,
    frozenset: _set,
}
"""What ormsgpack does not write by itself, or not so that it comes back the same."""


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
        for is_simple in (True, False):
            first = OnePassWriter(self._known, is_simple=is_simple)
            with suppress(Exception):
                data = first.packed(value)
                counts = repeated(first.ids)  # an id that occurs twice may mean that an object does
                if not counts:
                    return data
                return OnePassWriter(self._known, counts, is_simple=is_simple).packed(value)
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
