"""What codec `once1` cannot write and LangGraph's own serializer can: written as LangGraph does.

LangGraph leaves out what it does not know: private attributes, excluded fields, attributes that
`__post_init__` adds, the factory of a `defaultdict`. A run must not fail because one of these
holds a lock. So the innermost object around such a part is written, and read, as LangGraph does
it. Of a subclass of a native type, LangGraph writes the native value: a text of BeautifulSoup,
which refers to its page and so contains itself, becomes a text. Where LangGraph would not write an
object at all, an `Opaque` stands for the part.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Final

import ormsgpack

from langgraph_once.errors import EncodeError
from langgraph_once.serde.bounds.msgpack_headers import Kind, read_token
from langgraph_once.serde.codecs.langgraph.write import encode_msgpack
from langgraph_once.serde.codecs.once1.format.layout import Ext, pack
from langgraph_once.serde.codecs.once1.registry.registry import Registry
from langgraph_once.serde.codecs.once1.types.base.protocol import Unstored
from langgraph_once.serde.codecs.once1.types.models.pydantic_models import ModelFamily
from langgraph_once.serde.codecs.once1.types.models.pydantic_v1 import V1ModelFamily
from langgraph_once.serde.codecs.once1.types.models.python_objects import RecordFamily
from langgraph_once.serde.codecs.once1.write.encoder import encode_slow
from langgraph_once.serde.codecs.once1.write.nodes import Node
from langgraph_once.serde.codecs.once1.write.value_graph import Walk

__all__ = ["encode_as_stock", "is_carried_by_stock"]

_MADE_ANEW: Final = frozenset({ModelFamily.name, RecordFamily.name, V1ModelFamily.name})
"""The families of what LangGraph makes anew of its fields."""


def is_carried_by_stock(value: Any) -> bool:
    """Whether LangGraph's own serializer writes `value`."""
    try:
        encode_msgpack(value)
    except Exception:
        return False
    return True


def encode_as_stock(value: Any, registry: Registry) -> tuple[bytes, list[str]]:
    """Return the bytes of `value` and the classes of what was left out of it.

    Raises:
        EncodeError: It cannot be written even so.
    """
    as_upstream: set[type] = set()
    while True:
        walk = _StockWalk(registry, as_upstream)
        try:
            return encode_slow(value, registry, walk=walk), sorted(walk.left_out)
        except _AgainError as error:
            as_upstream.add(error.cls)


_NATIVE: Final[dict[type, Callable[[Any], Any]]] = {
    str: lambda value: str.__getitem__(value, slice(None)),
    int: int.__int__,
    list: lambda value: [*list.__iter__(value)],
    dict: lambda value: {key: dict.__getitem__(value, key) for key in dict.__iter__(value)},
}
"""The types whose subclasses LangGraph writes as the types themselves."""


class _AgainError(BaseException):
    """Instances of one more class have to be written as LangGraph does, so all begins anew."""

    def __init__(self, cls: type) -> None:
        self.cls = cls


class _StockWalk(Walk):
    """A walk that writes something for what cannot be written."""

    def __init__(self, registry: Registry, as_upstream: set[type]) -> None:
        super().__init__(registry, "raise")
        self.left_out = {_name(cls) for cls in as_upstream}
        self._as_upstream = as_upstream
        self._kept: list[Any] = []  # so that no other part gets the id of one

    def _open(self, value: Any, kind: type) -> Any:
        if kind in self._as_upstream and (made := self._stock_form(value)) is not None:
            return made
        try:
            return super()._open(value, kind)
        except EncodeError:
            self.left_out.add(_name(kind))
            if (made := self._stock_form(value)) is not None:
                return made
        for node in reversed(self._stack):
            holder = type(node.value)
            if issubclass(holder, BaseException):
                return super()._open(Unstored(_name(kind)), Unstored)
            if holder not in self._as_upstream and self._is_made_anew(node.value):
                raise _AgainError(holder)
        return ormsgpack.Ext(Ext.UNKNOWN, pack(_name(kind)) + pack({}))

    def _stock_form(self, value: Any) -> Any:
        """Return what stands for an object as LangGraph writes it; None if it does not, as such."""
        bare = _native_value(value)
        if bare is None:
            return _upstream_form(value)
        self._kept.append(bare)
        return self._visit(bare)

    def _check_cycle(self, node: Node) -> None:
        try:
            super()._check_cycle(node)
        except EncodeError:
            for holder in reversed(self._stack[self._stack.index(node) :]):
                cls = type(holder.value)
                if cls not in self._as_upstream and _native_value(holder.value) is not None:
                    raise _AgainError(cls) from None
            raise

    def _is_made_anew(self, value: Any) -> bool:
        try:
            writer = self.registry.writer(type(value))
        except ValueError:
            return False
        family = None if writer is None else writer.family
        return (
            family is not None and family.name in _MADE_ANEW and _upstream_form(value) is not None
        )


def _native_value(value: Any) -> Any:
    """Return the native value that LangGraph leaves of an instance of a subclass; else None."""
    for base, bare in _NATIVE.items():
        if isinstance(value, base) and type(value) is not base and not isinstance(value, Enum):
            return bare(value)
    return None


def _upstream_form(value: Any) -> ormsgpack.Ext | None:
    """Return what stands for an object as LangGraph writes it; None if it does not, as such."""
    try:
        data = encode_msgpack(value)
        token = read_token(data, 0)
    except Exception:
        return None
    if token.kind is not Kind.EXT or token.body + token.size != len(data):
        return None
    return ormsgpack.Ext(Ext.UPSTREAM, pack(token.code) + pack(data[token.body :]))


def _name(kind: Any) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"
