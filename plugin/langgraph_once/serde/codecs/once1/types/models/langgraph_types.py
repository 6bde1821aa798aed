"""Classes of LangGraph that are neither dataclass nor model: `Send`, and items of the store."""

from __future__ import annotations

import functools
from datetime import datetime
from typing import Any, Final

from langgraph.store.base import Item, SearchItem
from langgraph.types import Send, TimeoutPolicy

from langgraph_once.serde.codecs.once1.types.base.attributes import slots_of
from langgraph_once.serde.codecs.once1.types.base.protocol import (
    Adapter,
    UnwritableError,
    parts,
    plain,
)

__all__ = ["ADAPTERS"]

_ITEM: Final[dict[str, tuple[type, ...]]] = {
    "value": (object,),
    "key": (str,),
    "namespace": (tuple,),
    "created_at": (datetime,),
    "updated_at": (datetime,),
}
_FIELDS: Final[dict[type, dict[str, tuple[type, ...]]]] = {
    Send: {"node": (object,), "arg": (object,), "timeout": (TimeoutPolicy, type(None))},
    Item: _ITEM,
    SearchItem: _ITEM | {"score": (float, int, type(None))},
}
"""The slots of each class, in the order in which they are stored, and what they may hold."""


def _take(obj: Any) -> tuple[Any, ...]:
    fields = _FIELDS[type(obj)]
    slots = slots_of(type(obj))
    if slots.keys() != fields.keys():
        raise UnwritableError(f"{type(obj).__qualname__} of this LangGraph has other attributes")
    return tuple(_checked(slots[name].__get__(obj), *kinds) for name, kinds in fields.items())


def _make(cls: type, data: Any) -> Any:
    fields = _FIELDS[cls]
    obj: Any = object.__new__(cls)
    values = parts(data, *[object] * len(fields))
    for (name, kinds), value in zip(fields.items(), values, strict=True):
        slots_of(cls)[name].__set__(obj, _checked(value, *kinds))
    return obj


def _checked(value: Any, *kinds: type) -> Any:
    return value if kinds == (object,) else plain(value, *kinds)


ADAPTERS: Final = tuple(
    Adapter(
        name=cls.__name__.lower(),
        types=(cls,),
        encode=_take,
        decode=functools.partial(_make, cls),
    )
    for cls in _FIELDS
)
