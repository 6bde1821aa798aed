"""Bytes without `MODEL`, `MODELS`, `HEAD` and `TREE`: rewritten as `RECORD` and `FAMILY`.

These two can say the same of any object. Reading falls back on them where a class has changed, is
refused, or is gone: `extension_values` knows what to do then.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any, Final

import ormsgpack

from langgraph_once.errors import SizeLimitError
from langgraph_once.serde.bounds.msgpack_headers import Kind, Token, after_value, read_token
from langgraph_once.serde.codecs.once1.format.layout import (
    MARK,
    VALUES_IN,
    Ext,
    array,
    array_header,
    entry,
    pack,
    table,
)
from langgraph_once.serde.codecs.once1.format.object_forms import (
    KindParts,
    head_parts,
    kind_of_form,
    kinds_of,
    tree_parts,
)
from langgraph_once.serde.codecs.once1.format.scan import after, next_opening, split
from langgraph_once.serde.codecs.once1.types.models.pydantic_models import ModelFamily
from langgraph_once.serde.codecs.once1.types.models.python_objects import RecordFamily

__all__ = ["plain", "plain_blob"]

_MAX_BYTES: Final = 64 * 1024 * 1024
_MAX_GROWTH: Final = 32
"""A blob may grow to so many bytes, or so many times its size, whichever is more."""

_MAX_DEPTH: Final = 64
_PARTS: Final[dict[int, int]] = {Ext.MODEL: 3, Ext.MODELS: 4, Ext.TREE: 4}
"""How many parts the array has that is the content."""

_Rewrite = Callable[[bytes], bytes]
_Part = tuple[Kind, _Rewrite]
"""What rewrites a value, if it is of this kind."""


def plain_blob(data: bytes) -> bytes:
    """Return a blob without `MODEL`, `MODELS`, `HEAD` and `TREE`; itself where it has none.

    Raises:
        ValueError: The bytes are damaged.
        SizeLimitError: They would grow too much.
    """
    entries = split(data)
    if entries[0] is data:
        return plain(data)
    return table([*chain.from_iterable(entry(plain(bytes(part))) for part in entries)])


def plain(data: bytes) -> bytes:
    """Return `data`, msgpack values, without `MODEL`, `MODELS`, `HEAD` and `TREE`.

    Raises:
        ValueError: The bytes are damaged.
        SizeLimitError: They would grow too much.
    """
    return _rewritten(data, _Budget(max(_MAX_BYTES, _MAX_GROWTH * len(data))), 0)


class _Budget:
    """How many bytes may still be written."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = self.left = max_bytes

    def take(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise SizeLimitError(
                f"the models in the value take more than {self.max_bytes} bytes",
                limit_bytes=self.max_bytes,
            )


def _rewritten(data: bytes, budget: _Budget, depth: int) -> bytes:
    if depth > _MAX_DEPTH:
        raise ValueError("the value is nested too deeply")
    pieces = []
    at = start = 0
    while (at := next_opening(data, at)) < len(data):
        token = read_token(data, at)
        if token.kind is Kind.ARRAY and _has_head(data, token):
            pieces.append(data[start:at])
            end = after_value(data, at)
            pieces += _thread(data[at:end], budget, depth)
            at = start = end
            continue
        if token.code not in VALUES_IN:
            at = after(token)
            continue
        end = token.body + token.size
        content = _rewritten(data[token.body : end], budget, depth + 1)
        pieces.append(data[start:at])
        if token.code in _PARTS:
            pieces += _objects(token.code, content, budget)
        else:
            pieces.append(pack(ormsgpack.Ext(token.code, content)))
        at = start = end
    if not pieces:
        return data
    return b"".join((*pieces, data[start:]))


def _objects(code: int, content: bytes, budget: _Budget) -> list[bytes]:
    """Return the pieces of what says the same as a `MODEL` or `MODELS`."""
    parts = _split(content)
    if len(parts) != _PARTS[code] or parts[-1] != pack(MARK):
        raise ValueError("models without all of their parts")
    if code == Ext.TREE:
        packed, indices, _ = tree_parts([*map(ormsgpack.unpackb, parts[:2]), None, MARK])
        return [_Tree(indices, budget).rewritten(ormsgpack.unpackb(packed), parts[2])]
    tree = _Tree([], budget)
    rewrites = [tree.object(*kind) for kind in kinds_of(ormsgpack.unpackb(parts[0]))]
    if code == Ext.MODEL:
        if len(rewrites) != 1:
            raise ValueError("a model of another number of kinds than one")
        return [rewrites[0](parts[1])]
    return _list(rewrites, ormsgpack.unpackb(parts[1]), _split(parts[2]))


class _Tree:
    """Says what a `TREE` says in the form for any object."""

    def __init__(self, indices: list[bytes], budget: _Budget) -> None:
        self._indices = iter(indices)
        self._budget = budget

    def rewritten(self, form: Any, value: bytes) -> bytes:
        part = self._part(form, 0)
        if next(self._indices, None) is not None:
            raise ValueError("more indices than columns")
        return _fitted(part, value)

    def _part(self, form: Any, depth: int) -> _Part | None:
        """Return what rewrites values of a form, and what they are; None if nothing does."""
        if depth > _MAX_DEPTH:
            raise ValueError("the form is nested too deeply")
        match form:
            case None:
                return None
            case [inner]:
                part = self._part(inner, depth + 1)
                return Kind.ARRAY, lambda data: array(
                    [_fitted(part, item) for item in _split(data)]
                )
            case {"": inner, **more} if not more:
                part = self._part(inner, depth + 1)
                return Kind.MAP, lambda data: _map(data, lambda _: part)
            case [None, *kinds]:
                indices = iter(next(self._indices, b""))
                parts = {n: self.object(*kind_of_form(kind), depth) for n, kind in enumerate(kinds)}
                return Kind.MAP, lambda data: _chosen(parts, next(indices, -1))(data)
            case _:
                return Kind.MAP, self.object(*kind_of_form(form), depth)

    def object(self, kind: KindParts, forms: dict[str, Any], depth: int = 0) -> _Rewrite:
        """Return what rewrites the objects of a kind, by the forms of their fields."""
        around = _around(kind)
        if not forms:
            return lambda data: _object(around, data, self._budget)
        parts = {pack(name): self._part(inner, depth + 1) for name, inner in forms.items()}
        return lambda data: _object(around, _map(data, parts.get), self._budget)


def _fitted(part: _Part | None, data: bytes) -> bytes:
    return part[1](data) if part and read_token(data, 0).kind is part[0] else data


def _chosen(parts: dict[int, _Rewrite], index: int) -> _Rewrite:
    if index not in parts:
        raise ValueError("an object of a kind that is not there")
    return parts[index]


def _map(data: bytes, part_of: Callable[[bytes], _Part | None]) -> bytes:
    """Return a map with its values rewritten as `part_of` says for their keys."""
    header = read_token(data, 0)
    pieces = [data[: header.body]]
    at = header.body
    for _ in range(header.size):
        value = after_value(data, at)
        key, at = data[at:value], after_value(data, value)
        pieces += key, _fitted(part_of(key), data[value:at])
    return b"".join(pieces)


def _has_head(data: bytes, array: Token) -> bool:
    return array.size > 0 and read_token(data, array.body).code == Ext.HEAD


def _thread(data: bytes, budget: _Budget, depth: int) -> list[bytes]:
    """Return the pieces of the list that an array with a `HEAD` stands for."""
    head, *items = _split(data)
    kinds, indices = head_parts(head[read_token(head, 0).body :])
    tree = _Tree([], budget)
    rewrites = [tree.object(*kind) for kind in kinds_of(kinds, with_forms=True)]
    return _list(rewrites, indices, [_rewritten(item, budget, depth + 1) for item in items])


def _list(rewrites: list[_Rewrite], indices: Any, items: list[bytes]) -> list[bytes]:
    """Return the pieces of a list of these items, each an object of the kind of its index."""
    if type(indices) is not bytes or len(indices) != len(items):
        raise ValueError("another number of items than of indices")
    pieces = [array_header(len(items))]
    for index, item in zip(indices, items, strict=True):
        if index > len(rewrites):
            raise ValueError("a model of a kind that is not there")
        pieces.append(rewrites[index - 1](item) if index else item)
    return pieces


def _object(around: tuple[int, bytes, bytes], values: bytes, budget: _Budget) -> bytes:
    code, before, after = around
    budget.take(len(before) + len(values) + len(after))
    if read_token(values, 0).kind is not Kind.MAP:
        raise ValueError("an object without values")
    return pack(ormsgpack.Ext(code, before + values + after))


def _around(kind: KindParts) -> tuple[int, bytes, bytes]:
    """Return the extension for objects of a kind, and what is before and behind their values."""
    if not kind.is_model:
        return Ext.FAMILY, pack(RecordFamily.name) + pack(kind.class_name), b""
    before = pack(ModelFamily.name) + pack(kind.class_name) + array_header(4)
    names: object = None
    if kind.fields_set is not None:
        packed = sorted(map(pack, kind.fields_set))
        names = ormsgpack.Ext(Ext.SET, array(packed))
    after = pack(names) + pack({} if kind.has_extra else None) + pack(None)
    return Ext.RECORD, before, after


def _split(data: bytes) -> list[bytes]:
    """Return the items of an array, as they are written."""
    header = read_token(data, 0)
    if header.kind is not Kind.ARRAY:
        raise ValueError("no array where one belongs")
    items = []
    at = header.body
    for _ in range(header.size):
        end = after_value(data, at)
        items.append(data[at:end])
        at = end
    if at != len(data):
        raise ValueError("bytes after the end of an array")
    return items
