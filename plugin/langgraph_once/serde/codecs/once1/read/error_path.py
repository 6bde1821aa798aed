"""Where in the value an extension stands, as a path. Only asked once something went wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final

import ormsgpack

from langgraph_once.serde.bounds.msgpack_headers import Kind, Token, read_token
from langgraph_once.serde.codecs.once1.format.layout import VALUES_IN, Ext
from langgraph_once.serde.codecs.once1.format.scan import after
from langgraph_once.serde.codecs.once1.format.value_path import Step, show_path

__all__ = ["locate"]

_MAX_TOKENS: Final = 30_000
"""Bounds the time that an error takes: about 0.2 s."""

_LIST: Final = -1
_DICT: Final = -2
_ENTRY: Final = -3
_ARRAYS: Final = frozenset({Ext.TUPLE, Ext.MAP, Ext.SET, Ext.FROZENSET})


class _Open:
    """A container or an object that the walk is in."""

    __slots__ = ("at", "count", "form", "key")

    def __init__(self, form: int, count: int) -> None:
        self.form = form
        self.count = count
        self.at = -1
        self.key: Any = None

    def step(self) -> Step:
        if self.form not in (_DICT, Ext.MAP):
            return Step(self.form, self.at)
        return Step(self.form, self.key if self.at % 2 else None)


def locate(entries: Sequence[bytes | memoryview], current: int, found: tuple[int, bytes]) -> str:
    """Return the path from the root of a blob to an extension in one of its entries.

    Args:
        entries: Those of the blob's table.
        current: The index of the entry.
        found: The code and the content of the extension.

    Returns:
        The path; empty where the bytes are too many, or too damaged, to tell.
    """
    try:
        tokens = iter(range(_MAX_TOKENS))
        steps = _steps_within(bytes(entries[current]), found, tokens)
        return show_path([*_steps_to(entries, current, tokens), *steps])
    except Exception:
        return ""


def _steps_within(data: bytes, found: tuple[int, bytes], tokens: Iterator[int]) -> list[Step]:
    for token, path in _walk(data, tokens):
        if token.code == found[0] and data[token.body : token.body + token.size] == found[1]:
            return [inside.step() for inside in path if inside.form != _ENTRY]
    return []


def _steps_to(
    entries: Sequence[bytes | memoryview], current: int, tokens: Iterator[int]
) -> list[Step]:
    """Return the steps from the last entry, the root, to the one that is `current`."""
    root = len(entries) - 1
    # How each was met first: in which entry, and the steps there. All the way would be too long.
    met: dict[int, tuple[int, list[Step]]] = {root: (root, [])}
    todo = [root]
    for index in todo:
        if current in met:
            break
        data = bytes(entries[index])
        for token, path in _walk(data, tokens):
            if token.code == Ext.REF:
                ref = int.from_bytes(data[token.body : token.body + token.size], "big")
                if ref not in met:
                    met[ref] = index, [level.step() for level in path if level.form != _ENTRY]
                    todo.append(ref)
    parts: list[list[Step]] = []
    while current in met and current != root:
        current, steps = met[current]
        parts.append(steps)
    return [*chain.from_iterable(reversed(parts))]


def _walk(data: bytes, tokens: Iterator[int]) -> Iterator[tuple[Token, list[_Open]]]:
    """Yield each header with the containers around it."""
    path = [_Open(_ENTRY, 1)]
    at = 0
    while path:
        inside = path[-1]
        inside.at += 1
        if inside.at >= inside.count:
            path.pop()
            continue
        if next(tokens, None) is None:  # a `StopIteration` cannot leave a generator
            raise ValueError("too many values to look through")
        start, token = at, read_token(data, at)
        yield token, path
        at = after(token)
        if inside.form in (_DICT, Ext.MAP) and inside.at % 2 == 0:
            scalar = token.kind is Kind.SCALAR
            inside.key = ormsgpack.unpackb(data[start:at]) if scalar else None
        if token.kind is Kind.ARRAY:
            path.append(_Open(_LIST, token.size))
        elif token.kind is Kind.MAP:
            path.append(_Open(_DICT, 2 * token.size))
        elif token.code in _ARRAYS:
            items = read_token(data, at)
            at = items.body
            path.append(_Open(token.code, items.size))
        elif token.code in VALUES_IN:
            path.append(_Open(token.code, VALUES_IN[token.code]))
