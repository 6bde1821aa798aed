"""Mutable containers of `collections`, and subclasses of any mutable built-in container.

    OrderedDict defaultdict deque      with their order, factory and maximal length
    Counter, other subclasses          the bare content, and the attributes added to it
    ChainMap                           its maps
    mappingproxy                       the mapping it shows
    array.array                        type code, bytes of an item, content in little-endian order

Methods that a subclass overrides are not called: `__iter__`, `__setitem__` and `__init__` may
do anything.
"""

from __future__ import annotations

import gc
import sys
from array import array, typecodes
from collections import ChainMap, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from langgraph_once.serde.codecs.once1.types.base.attributes import (
    AttributesFamily,
    FilledFamily,
    fill_state,
    is_plain_subclass,
    take_state,
)
from langgraph_once.serde.codecs.once1.types.base.protocol import Adapter, parts, plain

__all__ = ["ADAPTERS", "ChainMapFamily", "ContainerFamily"]


@dataclass(frozen=True, slots=True)
class _Kind:
    """A container type: its content as a plain value, and how it is filled with that.

    Attributes:
        content: The type of the plain value.
        take: Returns the plain value, and what else must be known.
        fill: Fills an empty container with both.
    """

    content: type
    take: Callable[[Any], tuple[Any, Any]]
    fill: Callable[[Any, Any, Any], None]


def _fill_ordered(obj: Any, content: dict[Any, Any], extra: Any) -> None:
    plain(extra, type(None))
    for key, value in content.items():
        OrderedDict.__setitem__(obj, key, value)


def _fill_default(obj: Any, content: dict[Any, Any], extra: Any) -> None:
    if extra is not None and not callable(extra):
        raise ValueError("a default factory that cannot be called")
    defaultdict.__init__(obj, extra)
    dict.update(obj, content)


def _fill_deque(obj: Any, content: list[Any], extra: Any) -> None:
    if extra is not None and plain(extra, int) < len(content):
        raise ValueError("a deque longer than its maximal length")
    deque.__init__(obj, content, extra)


def _fill_plain(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], None]:
    def fill(obj: Any, content: Any, extra: Any) -> None:
        plain(extra, type(None))
        method(obj, content)

    return fill


_KINDS: Final[dict[type, _Kind]] = {
    OrderedDict: _Kind(dict, lambda o: (dict(OrderedDict.items(o)), None), _fill_ordered),
    defaultdict: _Kind(dict, lambda o: (dict(dict.items(o)), _FACTORY.__get__(o)), _fill_default),
    deque: _Kind(list, lambda o: ([*deque.__iter__(o)], _MAXLEN.__get__(o)), _fill_deque),
    dict: _Kind(dict, lambda o: (dict(dict.items(o)), None), _fill_plain(dict.update)),
    list: _Kind(list, lambda o: (list.__getitem__(o, slice(None)), None), _fill_plain(list.extend)),
    set: _Kind(list, lambda o: ([*set.__iter__(o)], None), _fill_plain(set.update)),
    bytearray: _Kind(bytes, lambda o: (bytes(memoryview(o)), None), _fill_plain(bytearray.extend)),
}
_FACTORY: Final[Any] = vars(defaultdict)["default_factory"]
_MAXLEN: Final[Any] = vars(deque)["maxlen"]
_OF_THE_CODEC: Final = (dict, list, set, bytearray)
"""Written by the codec itself; only their subclasses are meant here."""


class ContainerFamily(FilledFamily):
    """Mutable containers: content, what else must be known, attributes."""

    name = "container"

    def matches(self, cls: type) -> bool:
        base = _base(cls)
        return base is not None and cls not in _OF_THE_CODEC and is_plain_subclass(cls, base)

    def encode(self, obj: Any) -> tuple[Any, ...]:
        return *_KINDS[_base(type(obj))].take(obj), take_state(obj)

    def blank(self, cls: type) -> Any:
        return _base(cls).__new__(cls)

    def fill(self, obj: Any, data: Any) -> None:
        kind = _KINDS[_base(type(obj))]
        content, extra, state = parts(data, kind.content, object, object)
        fill_state(obj, state, code_free=self._code_free)
        kind.fill(obj, content, extra)


class ChainMapFamily(AttributesFamily):
    """`ChainMap` and its subclasses: a chain is its attribute `maps`."""

    name = "chainmap"

    def matches(self, cls: type) -> bool:
        return ChainMap in cls.__mro__ and is_plain_subclass(cls, object)

    def fill(self, obj: Any, data: Any) -> None:
        super().fill(obj, data)
        if not all(
            issubclass(type(part), Mapping) for part in plain(getattr(obj, "maps", None), list)
        ):
            raise ValueError("a chain of something else than mappings")


def _base(cls: type) -> Any:
    return next((base for base in cls.__mro__ if base in _KINDS), None)


def _encode_proxy(value: MappingProxyType[Any, Any]) -> Any:
    # The very mapping, whoever else holds it; to ask the view itself would run its methods.
    (shown,) = gc.get_referents(value)
    return shown


def _decode_proxy(data: Any) -> MappingProxyType[Any, Any]:
    if not issubclass(type(data), Mapping):
        raise ValueError("a view of something else than a mapping")
    return MappingProxyType(data)


def _array_parts(value: array[Any]) -> tuple[str, int, bytes]:
    return value.typecode, value.itemsize, _little_endian(value).tobytes()


def _array_of(data: Any) -> array[Any]:
    code, item_bytes, content = parts(data, str, int, bytes)
    if len(code) != 1 or code not in typecodes:
        raise ValueError("not the type code of an array")
    made: array[Any] = array(code)
    if made.itemsize != item_bytes or len(content) % item_bytes:
        raise ValueError("an array with items of another size than on this system")
    made.frombytes(content)
    if code in "uw":
        made.tounicode()  # raises for what is not a character
    return _little_endian(made)


def _little_endian(value: array[Any]) -> array[Any]:
    if sys.byteorder == "little":
        return value
    swapped = value[:]
    swapped.byteswap()
    return swapped


ADAPTERS: Final = (
    Adapter(
        name="mappingproxy", types=(MappingProxyType,), encode=_encode_proxy, decode=_decode_proxy
    ),
    Adapter(name="array", types=(array,), encode=_array_parts, decode=_array_of),
)
