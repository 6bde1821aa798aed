"""The nodes of a value's graph, and the values that need no node."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from itertools import chain
from typing import Any, Final

import ormsgpack

from langgraph_once.serde.codecs.once1.format.layout import ATOMS, MIN_BUFFER_BYTES, Ext, pack
from langgraph_once.serde.codecs.once1.format.opaque import Opaque
from langgraph_once.serde.codecs.once1.format.value_path import Step
from langgraph_once.serde.codecs.once1.registry.registry import Writer

__all__ = ["OPENERS", "Form", "Node", "int_bytes", "is_flat", "is_text", "pack_atom", "pack_flat"]


class Form(IntEnum):
    """What a node becomes: one of `Ext`, or one of these."""

    LIST = -1
    DICT = -2
    OPAQUE = -3
    ATOM = -4


_FILLABLE: Final = frozenset({Form.LIST, Form.DICT, Ext.MAP, Ext.SET, Ext.UNKNOWN})
_EMPTY: Final = pack([])


class Node:
    """A container or an object, and what is in it."""

    __slots__ = (
        *("apart", "fillable", "form", "head", "index", "keys", "level", "objects", "open"),
        *("packed", "parts", "seen", "todo", "value"),
    )

    def __init__(self, value: Any, form: int, todo: Iterator[Any], head: bytes = b"") -> None:
        self.value = value  # kept alive: the graph is keyed by `id`
        self.form = form
        self.todo = todo
        self.head = head
        self.parts: list[Any] = []
        self.keys: list[str] = []
        self.fillable = form in _FILLABLE
        self.seen = 1
        self.apart = False  # must be an entry of the table, however often it is seen
        self.open = True
        self.level = 0  # how deep it stands in its entry, and in how many objects
        self.objects = 0
        self.index = -1
        self.packed: Any = None

    def step(self, at: int) -> Step:
        """Return where in this node its part `at` is."""
        if self.form == Form.DICT:
            return Step(self.form, self.keys[at])
        if self.form == Ext.MAP:
            return Step(self.form, self.parts[at - 1] if at % 2 else None)
        return Step(self.form, at)


def is_flat(data: Any) -> bool:
    """Whether `data` holds nothing but native values, and at most one level of them."""
    kind = type(data)
    if kind in ATOMS:
        return True
    return (kind is tuple or kind is list) and ATOMS.issuperset(map(type, data))


def pack_flat(writer: Writer, data: Any) -> ormsgpack.Ext:
    """Return the extension for a value whose `data` is flat."""
    if writer.code == Ext.FAMILY and type(data) is tuple:
        return ormsgpack.Ext(Ext.RECORD, writer.head + pack([*map(pack_atom, data)]))
    return ormsgpack.Ext(writer.code, writer.head + pack(_flat(data)))


def _flat(data: Any) -> Any:
    kind = type(data)
    if kind in ATOMS:
        return pack_atom(data)
    items = [pack_atom(item) for item in data]
    return ormsgpack.Ext(Ext.TUPLE, pack(items)) if kind is tuple else items


def int_bytes(value: int) -> bytes:
    """Return two's complement of `value`, big endian, as short as possible."""
    magnitude = value if value >= 0 else ~value
    return value.to_bytes(magnitude.bit_length() // 8 + 1, "big", signed=True)


def pack_atom(value: Any) -> Any:
    """Return what msgpack can write in the place of a value of one of the `ATOMS`."""
    kind = type(value)
    if kind is int:
        if not -(2**63) <= value < 2**64:
            return ormsgpack.Ext(Ext.INT, int_bytes(value))
    elif kind is str and not is_text(value):
        return ormsgpack.Ext(Ext.STR, value.encode("utf-8", "surrogatepass"))
    return value


def is_text(value: str) -> bool:
    """Whether `value` has no lone surrogates, so that it is UTF-8."""
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _open_dict(value: dict[Any, Any]) -> Node:
    items = list(value.items())
    if all(type(key) is str and is_text(key) for key, _ in items):
        node = Node(value, Form.DICT, (item for _, item in items))
        node.keys = [key for key, _ in items]
        return node
    return Node(value, Ext.MAP, chain.from_iterable(items))


def _open_memoryview(value: memoryview) -> Any:
    if value.nbytes < MIN_BUFFER_BYTES:
        return ormsgpack.Ext(Ext.MEMORYVIEW, value.tobytes())
    node = Node(value, Ext.MEMORYVIEW, iter(()))
    node.apart = True
    return node


def _open_opaque(value: Opaque) -> Node:
    node = Node(value, Form.OPAQUE, iter(value.parts))
    node.fillable = value.code in (Ext.FAMILY, Ext.VERSIONED, Ext.RECORD, Ext.UNKNOWN)
    return node


OPENERS: Final[dict[type, Any]] = {
    list: lambda value: Node(value, Form.LIST, iter(list(value))),
    dict: _open_dict,
    tuple: lambda value: (
        Node(value, Ext.TUPLE, iter(value)) if value else ormsgpack.Ext(Ext.TUPLE, _EMPTY)
    ),
    set: lambda value: Node(value, Ext.SET, iter(list(value))),
    frozenset: lambda value: (
        Node(value, Ext.FROZENSET, iter(value)) if value else ormsgpack.Ext(Ext.FROZENSET, _EMPTY)
    ),
    bytearray: lambda value: Node(value, Ext.BYTEARRAY, iter(())),
    memoryview: _open_memoryview,
    Opaque: _open_opaque,
}
"""What makes a node, or what stands for a value that needs none."""
