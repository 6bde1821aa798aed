"""A value as a graph of nodes: one for each container and object in it.

The walk is iterative, so no value is too deep for it. It finds what a reader has to know: which
parts occur more than once, and which contain themselves.

A tuple may contain itself, too, and that decides the order of the entries. A tuple can only be
made after its items. So the list, dict or object through which it contains itself comes after it
in the table: the tuple holds it empty, and it is filled later. All else in the cycle must be a
tuple, list, dict or object, too: an adapter may copy or hash what it is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import ormsgpack

from langgraph_once.errors import EncodeError
from langgraph_once.serde.codecs.once1.format.layout import ATOMS, Ext, pack
from langgraph_once.serde.codecs.once1.format.value_path import show_path
from langgraph_once.serde.codecs.once1.registry.class_names import is_function
from langgraph_once.serde.codecs.once1.registry.registry import Registry, Writer, has_identity
from langgraph_once.serde.codecs.once1.types.base.protocol import UnwritableError
from langgraph_once.serde.codecs.once1.write.nodes import (
    OPENERS,
    Form,
    Node,
    is_flat,
    pack_atom,
    pack_flat,
)

__all__ = ["Walk", "set_apart", "tangles", "untangled"]


class Walk:
    """One walk over a value."""

    def __init__(self, registry: Registry, on_unknown: Literal["raise", "opaque"]) -> None:
        self.registry = registry
        self.on_unknown = on_unknown
        self.order: list[Node] = []
        """All nodes, each after the nodes in it."""
        self.tangled = False
        """Whether a tuple contains itself, so that the entries need another order."""
        self._nodes: dict[int, Node] = {}
        self._stack: list[Node] = []

    def run(self, value: Any) -> Any:
        """Return the root: a node, or what msgpack can write in its place.

        Raises:
            EncodeError: Something in `value` cannot be written.
        """
        root = self._visit(value)
        stack = self._stack
        if isinstance(root, Node):
            stack.append(root)
        while stack:
            node = stack[-1]
            for value in node.todo:
                part = self._visit(value)
                if node.form == Form.OPAQUE:  # its bytes say `REF`, whatever the part is
                    part = self._set_apart(part)
                node.parts.append(part)
                if type(part) is Node and part.open and part.seen == 1:
                    stack.append(part)
                    break
            else:
                node.open = False
                self.order.append(stack.pop())
        return root

    def _set_apart(self, part: Any) -> Node:
        if isinstance(part, Node):
            node = part
        else:
            node = Node(part, Form.ATOM, iter(()))
            node.packed, node.open = part, False
            self.order.append(node)
        node.apart = True
        return node

    def _visit(self, value: Any) -> Any:
        kind = type(value)
        if kind in ATOMS:
            return pack_atom(value)
        node = self._nodes.get(id(value))
        if node is None:
            made = self._open(value, kind)
            if type(made) is Node:
                self._nodes[id(value)] = made
            return made
        node.seen += 1
        if node.open:
            self._check_cycle(node)
        return node

    def _open(self, value: Any, kind: type) -> Any:
        opener = OPENERS.get(kind)
        if opener is not None:
            return opener(value)
        if isinstance(value, type) or is_function(value):
            code = Ext.CLASS if isinstance(value, type) else Ext.FUNCTION
            return ormsgpack.Ext(code, self._named(value).encode())
        try:
            writer = self.registry.writer(kind)
        except ValueError as error:
            if self.on_unknown == "raise":
                raise self._error(f"{_name(kind)} cannot be written: {error}") from error
            writer = None
        if writer is None:
            return self._open_unknown(value, kind)
        return self._open_with(writer, value)

    def _open_with(self, writer: Writer, value: Any) -> Any:
        try:
            data = writer.encode(value)
        except Exception as error:
            told = isinstance(error, UnwritableError)
            reason = f": {error}" if told else f" ({type(error).__name__})"
            raise self._error(f"{_name(type(value))} cannot be written{reason}") from error
        if writer.by_value and is_flat(data):
            return pack_flat(writer, data)
        if writer.code == Ext.FAMILY and type(data) is tuple:
            node = Node(value, Ext.RECORD, iter(data), writer.head)
        else:
            node = Node(value, writer.code, iter((data,)), writer.head)
        node.fillable = writer.fillable
        return node

    def _open_unknown(self, value: Any, kind: type) -> Node:
        if self.on_unknown == "raise" or type(getattr(value, "__dict__", None)) is not dict:
            raise self._error(
                f"{_name(kind)} cannot be written: nobody taught the codec this type; register "
                "an adapter or a family for it in `SerdeConfig.adapters`"
            )
        return Node(value, Ext.UNKNOWN, iter((vars(value),)), pack(_name(kind)))

    def _named(self, target: Any) -> str:
        try:
            return self.registry.name_of(target)
        except ValueError as error:
            raise self._error(f"{_name(target)} cannot be written: {error}") from error

    def _check_cycle(self, node: Node) -> None:
        """Refuse a cycle that a reader could not rebuild: `node` stands inside itself."""
        cycle = self._stack[self._stack.index(node) :]
        stuck = next((n for n in cycle if not n.fillable and n.form != Ext.TUPLE), None)
        if stuck is not None:
            raise self._error(
                f"{_name(type(stuck.value))} cannot be written: it contains itself, and cannot be "
                "made before what is in it"
            )
        if node.form == Ext.TUPLE:
            self.tangled = True
            return
        hashed = any(
            n.form == Ext.SET or (n.form == Ext.MAP and len(n.parts) % 2 == 0) for n in cycle
        )
        if hashed and node.form != Form.OPAQUE and not has_identity(type(node.value)):
            raise self._error(
                f"{_name(type(node.value))} cannot be written: it contains itself in a set or as "
                "a key, and its hash depends on what is in it"
            )

    def _error(self, message: str) -> EncodeError:
        # The last one does not have the part yet that was tried.
        steps = [node.step(len(node.parts) - 1) for node in self._stack[:-1]]
        steps += [node.step(len(node.parts)) for node in self._stack[-1:]]
        return EncodeError(message, path=show_path(steps))


def _name(kind: Any) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def tangles(order: list[Node]) -> list[list[Node]]:
    """Return the nodes in groups: those that contain each other, each group after those in it.

    Raises:
        ValueError: A group holds what cannot be made before what is in it.
    """
    found: list[list[Node]] = []
    finder = _Finder()
    for node in order:
        if id(node) not in finder.numbers:
            found += finder.run(node)
    for group in found:
        if len(group) > 1 and not all(node.fillable or node.form == Ext.TUPLE for node in group):
            raise ValueError("a tuple contains itself through what must be made before it")
    return found


def set_apart(groups: list[list[Node]]) -> None:
    """Make entries of all that can wait, in the groups where something may have to."""
    for group in groups:
        if len(group) > 1:
            for node in group:
                for part, waits in _parts(node):
                    part.apart = part.apart or waits


def untangled(groups: list[list[Node]]) -> list[Node]:
    """Return the entries in an order in which each can be made.

    Raises:
        ValueError: There is none.
    """
    return [node for group in groups for node in _ordered(group) if node.apart]


def _parts(node: Node) -> Iterator[tuple[Node, bool]]:
    """Yield the nodes in a node, and whether it takes them as they are, empty or not."""
    for at, part in enumerate(node.parts):
        if type(part) is not Node:
            continue
        held = part.fillable and part.form != Form.OPAQUE
        if node.form in (Form.LIST, Form.DICT) or (node.form == Ext.MAP and at % 2):
            yield part, held
        elif node.form in (Ext.TUPLE, Ext.MAP, Ext.SET):  # where it may be asked for its hash
            yield part, held and has_identity(type(part.value))
        else:
            yield part, False


def _ordered(group: list[Node]) -> list[Node]:
    inside = {id(node) for node in group}
    made: dict[int, Node] = {}
    begun: set[int] = set()
    for first in group:
        stack = [] if id(first) in made else [(first, _parts(first))]
        while stack:
            node, parts = stack[-1]
            begun.add(id(node))
            for part, waits in parts:
                if id(part) not in inside or id(part) in made or (waits and part.apart):
                    continue
                if id(part) in begun:
                    raise ValueError(
                        "a tuple contains itself, and its hash depends on what is in it"
                    )
                stack.append((part, _parts(part)))
                break
            else:
                made[id(node)] = node
                stack.pop()
    return [*made.values()]


class _Finder:
    """Finds the strongly connected components of a graph, as Tarjan did."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self._lowest: dict[int, int] = {}
        self._open: list[Node] = []
        self._is_open: set[int] = set()

    def run(self, first: Node) -> Iterator[list[Node]]:
        """Yield the groups of the nodes in `first`, and at last the group of `first`."""
        stack = [(first, self._begin(first))]
        while stack:
            node, parts = stack[-1]
            for part in parts:
                if id(part) not in self.numbers:
                    stack.append((part, self._begin(part)))
                    break
                if id(part) in self._is_open:
                    self._reaches(node, self.numbers[id(part)])
            else:
                stack.pop()
                if stack:
                    self._reaches(stack[-1][0], self._lowest[id(node)])
                if self._lowest[id(node)] == self.numbers[id(node)]:
                    yield self._closed(node)

    def _begin(self, node: Node) -> Iterator[Node]:
        self.numbers[id(node)] = self._lowest[id(node)] = len(self.numbers)
        self._open.append(node)
        self._is_open.add(id(node))
        return (part for part in node.parts if type(part) is Node)

    def _reaches(self, node: Node, number: int) -> None:
        self._lowest[id(node)] = min(self._lowest[id(node)], number)

    def _closed(self, root: Node) -> list[Node]:
        group: list[Node] = []
        while not group or group[-1] is not root:
            group.append(self._open.pop())
            self._is_open.discard(id(group[-1]))
        return group
