"""The order of the entries where a tuple contains itself.

A tuple can only be made after its items. So the list, dict or object through which it contains
itself comes after it in the table: the tuple holds it empty, and it is filled later. All else in
the cycle must be a tuple, list, dict or object, too: an adapter may copy or hash what it is given.
"""

from __future__ import annotations

from collections.abc import Iterator

from langgraph_once.serde.codecs.once1.format.layout import Ext
from langgraph_once.serde.codecs.once1.registry.registry import has_identity
from langgraph_once.serde.codecs.once1.write.nodes import Form, Node

__all__ = ["set_apart", "tangles", "untangled"]


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
        """Yield the groups of what is in `first`, and of itself."""
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
