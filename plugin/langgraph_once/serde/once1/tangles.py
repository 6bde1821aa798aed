"""The order of the entries where a tuple contains itself.

A tuple cannot be made before what is in it. So the list, dict or object through which it contains
itself stands behind it in the table: the tuple holds it while it is empty, and it is filled later.
What copies or hashes its parts cannot wait in that way.
"""

from __future__ import annotations

from collections.abc import Iterator

from langgraph_once.serde.once1.nodes import Form, Node
from langgraph_once.serde.once1.registry import has_identity
from langgraph_once.serde.once1.wire import Ext

__all__ = ["can_wait", "untangled"]


def can_wait(node: Node) -> bool:
    """Whether a tuple may hold `node` before it is filled: nothing asks for its hash."""
    return node.fillable and node.form != Form.OPAQUE and has_identity(type(node.value))


def untangled(entries: list[Node]) -> list[Node]:
    """Return the entries in an order in which each can be made.

    Raises:
        ValueError: There is none.
    """
    states: dict[int, bool] = {}
    return [node for entry in entries for node in _begun(entry, states)]


def _begun(entry: Node, states: dict[int, bool]) -> Iterator[Node]:
    """Yield what must stand before an entry, and then it.

    Args:
        entry: The entry.
        states: Whether an entry is done, of those that were begun.
    """
    stack = [] if id(entry) in states else [(entry, _references(entry))]
    states.setdefault(id(entry), False)
    while stack:
        node, needed = stack[-1]
        for part in needed:
            done = states.get(id(part))
            if done:
                continue
            if done is not None:
                raise ValueError("a tuple contains itself through what must be made before it")
            states[id(part)] = False
            stack.append((part, _references(part)))
            break
        else:
            states[id(node)] = True
            stack.pop()
            yield node


def _references(entry: Node) -> Iterator[Node]:
    """Yield the entries that must stand before an entry."""
    inside = [entry]
    while inside:
        node = inside.pop()
        for part in node.parts:
            if type(part) is not Node:
                continue
            if not part.apart:
                inside.append(part)
            elif not _holds(node, part):
                yield part


def _holds(node: Node, part: Node) -> bool:
    """Whether `node` takes `part` as it is, empty or not."""
    if node.form == Ext.TUPLE:
        return can_wait(part)
    return node.form in (Form.LIST, Form.DICT) and part.fillable
