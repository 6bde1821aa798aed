"""Which classes and functions the bytes of codec `once1` name. Nothing is built."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, Final

import ormsgpack

from langgraph_once.serde.bounds.msgpack_headers import Kind, Token, read_token, text_at
from langgraph_once.serde.codecs.once1.format.layout import Ext
from langgraph_once.serde.codecs.once1.format.object_forms import (
    KindParts,
    kind_of_form,
    kinds_of,
)
from langgraph_once.serde.codecs.once1.format.opaque import upstream_extension
from langgraph_once.serde.codecs.once1.format.scan import after, next_opening
from langgraph_once.serde.codecs.once1.types.models.pydantic_models import ModelFamily
from langgraph_once.serde.codecs.once1.types.models.python_objects import RecordFamily

__all__ = ["mentions", "upstream_parts"]

_OF_FAMILIES: Final = frozenset({Ext.FAMILY, Ext.VERSIONED, Ext.RECORD})
_OF_ONE_NAME: Final = frozenset({Ext.CLASS, Ext.FUNCTION})

Found = tuple[str, str | int]
"""A name, and the family whose instances it is of, or the extension that names it alone."""


def mentions(data: bytes) -> Iterator[tuple[Found, int]]:
    """Yield what an entry of a blob names, `split` in entries, and where.

    Raises:
        ValueError: The bytes are damaged.
    """
    for token in _extensions(data):
        if token.code in _OF_FAMILIES:
            family, at = text_at(data, token.body)
            yield (text_at(data, at)[0], family), token.body
        elif token.code in _NAMED_FIRST:
            for found in _NAMED_FIRST[token.code](_first_part(data, token)):
                yield found, token.body
        elif token.code in _OF_ONE_NAME:
            yield (data[token.body : token.body + token.size].decode(), token.code), token.body
        elif token.code == Ext.UNKNOWN:
            yield (text_at(data, token.body)[0], token.code), token.body


def upstream_parts(data: bytes) -> Iterator[tuple[int, bytes, int]]:
    """Yield the code and the content of each extension of codec `msgpack`, and where it is."""
    for token in _extensions(data):
        if token.code == Ext.UPSTREAM:
            yield *upstream_extension(data[token.body : token.body + token.size]), token.body


def _extensions(data: bytes) -> Iterator[Token]:
    at = 0
    while (at := next_opening(data, at)) < len(data):
        token = read_token(data, at)
        if token.kind is Kind.EXT:
            yield token
        at = after(token)


def _first_part(data: bytes, token: Token) -> bytes:
    """Return the `bin` that the array begins with which is the content of an extension."""
    part = read_token(data, read_token(data, token.body).body)
    return data[part.body : part.body + part.size]


@functools.lru_cache(1024)
def _in_kinds(kinds: bytes, *, with_forms: bool = False) -> tuple[Found, ...]:
    found: list[Found] = []
    for kind, forms in kinds_of(kinds, with_forms=with_forms):
        found += _found(kind), *_in_forms([*forms.values()])
    return tuple(found)


@functools.lru_cache(1024)
def _in_form(packed: bytes) -> tuple[Found, ...]:
    return tuple(_in_forms([ormsgpack.unpackb(packed)]))


def _in_forms(todo: list[Any]) -> list[Found]:
    found: list[Found] = []
    for form in todo:
        match form:
            case None:
                pass
            case [None, *kinds]:
                todo += kinds
            case [inner] | {"": inner}:
                todo.append(inner)
            case _:
                kind, parts = kind_of_form(form)
                found.append(_found(kind))
                todo += parts.values()
    return found


def _found(kind: KindParts) -> Found:
    return kind.class_name, ModelFamily.name if kind.is_model else RecordFamily.name


_NAMED_FIRST: Final[dict[int, Callable[[bytes], tuple[Found, ...]]]] = {
    Ext.MODEL: _in_kinds,
    Ext.MODELS: _in_kinds,
    Ext.HEAD: functools.partial(_in_kinds, with_forms=True),
    Ext.TREE: _in_form,
}
"""What finds the names in the first part of an extension."""
