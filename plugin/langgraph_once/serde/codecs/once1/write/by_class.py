"""How `one_pass` writes the instances of a class: found once for each class, then called."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import ormsgpack

from langgraph_once.serde.codecs.once1.format.layout import Ext, array
from langgraph_once.serde.codecs.once1.write.nodes import int_bytes, is_flat, pack_flat
from langgraph_once.serde.codecs.once1.write.one_pass import ClassWriter, OnePassWriter
from langgraph_once.serde.codecs.once1.write.simple_objects import GiveUpError

if TYPE_CHECKING:
    from langgraph_once.serde.codecs.once1.registry.registry import Writer
    from langgraph_once.serde.codecs.once1.write.simple_objects import Shape

__all__ = ["class_writer_of"]

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
