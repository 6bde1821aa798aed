"""`Encoder`: objects to bytes. And the general way to write, which takes every value there is.

The general way walks the value as a graph and decides what is right: what is written in place,
what becomes an entry of the table. Tests hold the quick ways to the same results.
"""

from __future__ import annotations

import sys
from itertools import chain
from typing import Any, Literal

import ormsgpack

from langgraph_once.errors import EncodeError, SerdeError
from langgraph_once.serde.bounds.msgpack_headers import deepest
from langgraph_once.serde.codecs.once1.format.layout import (
    MAX_LEVELS,
    MAX_OBJECTS,
    VALUES_IN,
    Ext,
    array,
    buffer_entry,
    entry,
    pack,
    table,
)
from langgraph_once.serde.codecs.once1.format.opaque import Opaque, renumbered
from langgraph_once.serde.codecs.once1.registry.registry import Registry
from langgraph_once.serde.codecs.once1.write.attempts import FastEncoder
from langgraph_once.serde.codecs.once1.write.nodes import Form, Node
from langgraph_once.serde.codecs.once1.write.threads import QuickEncode
from langgraph_once.serde.codecs.once1.write.value_graph import Walk, set_apart, tangles, untangled

__all__ = ["Encoder", "encode_slow"]


class Encoder:
    """Writes values as one registry says. Thread-safe."""

    def __init__(
        self, registry: Registry, *, on_unknown: Literal["raise", "opaque"] = "raise"
    ) -> None:
        self._registry = registry
        self._on_unknown: Literal["raise", "opaque"] = on_unknown
        self._fast = FastEncoder(registry)
        self.quick: dict[type, QuickEncode] = self._fast.threads.by_type
        """What does for values of a type what `encode` does, or raises any exception."""

    def encode(self, value: Any) -> bytes:
        """Return the bytes that `value` comes back from, equal and of the same types.

        Raises:
            EncodeError: Some part of it would not; says which.
        """
        data = self._fast.encode(value)
        if data is None:
            return encode_slow(value, self._registry, on_unknown=self._on_unknown)
        return data


def encode_slow(
    value: Any,
    registry: Registry,
    *,
    on_unknown: Literal["raise", "opaque"] = "raise",
    walk: Walk | None = None,
) -> bytes:
    """Do what `Encoder.encode` does, for every value there is, and decide what is right."""
    walk = walk or Walk(registry, on_unknown)
    try:
        root = walk.run(value)
        if not isinstance(root, Node):
            return pack(root)
        return _written(root, walk.order, tangled=walk.tangled)
    except SerdeError:
        raise
    except Exception as error:  # changed by another thread meanwhile, or 4 GiB in one piece
        kind = type(value)
        raise EncodeError(
            f"{kind.__module__}:{kind.__qualname__} cannot be written ({type(error).__name__})"
        ) from error


def _written(root: Node, order: list[Node], *, tangled: bool) -> bytes:
    groups = _groups(order) if tangled else []
    _place(order)
    entries = [node for node in order if node.apart]
    if not entries or (entries == [root] and root.seen == 1):
        for node in order:
            node.packed = _packed(node)
        return pack(root.packed)
    if groups:
        entries = _untangled(groups)
    if not root.apart:
        entries.append(root)
    for index, node in enumerate(entries):
        node.index = index
    pieces: list[tuple[bytes | memoryview, ...]] = [()] * len(entries)
    for node in order:
        node.packed = _packed(node)
        if node.index >= 0:
            pieces[node.index] = _entry(node)
            node.packed = None
    if entries[-1] is not root:
        pieces.append(entry(pack(_placed(root))))
    return table([*chain.from_iterable(pieces)])


def _groups(order: list[Node]) -> list[list[Node]]:
    try:
        groups = tangles(order)
    except ValueError as error:
        raise EncodeError(f"the value cannot be written: {error}") from error
    set_apart(groups)
    return groups


def _untangled(groups: list[list[Node]]) -> list[Node]:
    try:
        return untangled(groups)
    except ValueError as error:
        raise EncodeError(f"the value cannot be written: {error}") from error


def _place(order: list[Node]) -> None:
    """Decide which nodes are entries of the table, from the root down."""
    for node in reversed(order):
        own = int(node.form in VALUES_IN)
        if node.seen > 1 or node.level >= MAX_LEVELS or node.objects + own > MAX_OBJECTS:
            node.apart = True
        elif node.form == Form.OPAQUE:
            node.apart = _is_too_deep(node)
        level = 1 if node.apart else node.level + 1
        objects = own if node.apart else node.objects + own
        for part in node.parts:
            if type(part) is Node:
                part.level, part.objects = level, objects


def _is_too_deep(node: Node) -> bool:
    """Whether an opaque value, as it was written, is too deep for its new place."""
    # In the bytes, a node is up to two levels, and a value that is none up to three.
    levels, objects = deepest(node.value.raw, sys.maxsize, VALUES_IN)
    return 2 * node.level + levels > 2 * MAX_LEVELS + 3 or node.objects + objects >= MAX_OBJECTS + 2


def _packed(node: Node) -> Any:
    """Return what msgpack can write in the place of `node`, whose parts are packed already."""
    parts = [_placed(part) if type(part) is Node else part for part in node.parts]
    match node.form:
        case Form.LIST:
            return parts
        case Form.DICT:
            return dict(zip(node.keys, parts, strict=True))
        case Form.ATOM:
            return node.packed
        case Form.OPAQUE:
            opaque: Opaque = node.value
            return ormsgpack.Ext(
                opaque.code, renumbered(opaque.raw, [part.index for part in node.parts])
            )
        case Ext.BYTEARRAY | Ext.MEMORYVIEW:
            return ormsgpack.Ext(node.form, bytes(node.value)) if node.index < 0 else None
        case Ext.TUPLE | Ext.MAP:
            return ormsgpack.Ext(node.form, pack(parts))
        case Ext.SET | Ext.FROZENSET:
            return ormsgpack.Ext(node.form, array(sorted(map(pack, parts))))
        case Ext.RECORD:
            return ormsgpack.Ext(Ext.RECORD, node.head + pack(parts))
        case _:
            return ormsgpack.Ext(node.form, node.head + pack(parts[0]))


def _placed(part: Node) -> Any:
    if part.index < 0:
        return part.packed
    return ormsgpack.Ext(Ext.REF, part.index.to_bytes(4, "big"))


def _entry(node: Node) -> tuple[bytes | memoryview, ...]:
    """Return the pieces of an entry, so that joining them is the one copy of a large buffer."""
    if node.form in (Ext.BYTEARRAY, Ext.MEMORYVIEW):
        return buffer_entry(Ext(node.form), node.value)
    return entry(pack(node.packed))
