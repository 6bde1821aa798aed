"""What `MODEL` and `MODELS` say, in the form that can say it of any object.

Reading falls back on this where a class has changed since, may not be loaded, or is gone: what
has to be done then is known for `RECORD` and `FAMILY`.
"""

from __future__ import annotations

from itertools import chain
from typing import Final

import ormsgpack

from langgraph_once.errors import SizeLimitError
from langgraph_once.serde.once1.adapters.models import ModelFamily
from langgraph_once.serde.once1.adapters.records import RecordFamily
from langgraph_once.serde.once1.makers import KindParts, kind_parts
from langgraph_once.serde.once1.scan import VALUES_IN, Kind, read_token
from langgraph_once.serde.once1.table import split
from langgraph_once.serde.once1.wire import MARK, Ext, array, array_header, entry, pack, table

__all__ = ["plain", "plain_blob"]

_MAX_BYTES: Final = 64 * 1024 * 1024
_MAX_GROWTH: Final = 32
"""A blob may grow to so many bytes, or so many times its size, whichever is more."""

_MAX_DEPTH: Final = 64
_PARTS: Final[dict[int, int]] = {Ext.MODEL: 3, Ext.MODELS: 4}
"""How many parts the array has that is the content."""


def plain_blob(data: bytes) -> bytes:
    """Return a blob without `MODEL` and `MODELS`; itself where it has none.

    Raises:
        ValueError: The bytes are damaged.
        SizeLimitError: They would grow too much.
    """
    entries = split(data)
    if entries[0] is data:
        return plain(data)
    return table([*chain.from_iterable(entry(plain(bytes(part))) for part in entries)])


def plain(data: bytes) -> bytes:
    """Return `data`, msgpack values, without `MODEL` and `MODELS`.

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
    while at < len(data):
        token = read_token(data, at)
        if token.code not in VALUES_IN:
            at = token.after
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
    arounds = [_around(kind) for kind in kind_parts(ormsgpack.unpackb(parts[0]))]
    if code == Ext.MODEL:
        if len(arounds) != 1:
            raise ValueError("a model of another number of kinds than one")
        return [_object(arounds[0], parts[1], budget)]
    indices, items = ormsgpack.unpackb(parts[1]), _split(parts[2])
    if type(indices) is not bytes or len(indices) != len(items):
        raise ValueError("another number of items than of indices")
    pieces = [array_header(len(items))]
    for index, item in zip(indices, items, strict=True):
        if index > len(arounds):
            raise ValueError("a model of a kind that is not there")
        pieces.append(_object(arounds[index - 1], item, budget) if index else item)
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
        end = _end(data, at)
        items.append(data[at:end])
        at = end
    if at != len(data):
        raise ValueError("bytes after the end of an array")
    return items


def _end(data: bytes, at: int) -> int:
    """Return where the value that begins at `at` ends."""
    todo = 1
    while todo:
        token = read_token(data, at)
        at = token.body
        todo -= 1
        if token.kind is Kind.ARRAY:
            todo += token.size
        elif token.kind is Kind.MAP:
            todo += 2 * token.size
        else:
            at += token.size
    return at
