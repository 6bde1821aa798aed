"""Dataclasses of every kind, pydantic's included, and attrs classes: their attributes.

Rebuilt without `__init__`: `__post_init__`, validators and converters ran when the object was
made, and would change values that they have changed already. Fields that are not arguments and
attributes that were added later come back too.
"""

from __future__ import annotations

from typing import Any

from langgraph_once.serde.codecs.once1.types.base.attributes import (
    fill_state,
    is_dataclass,
    is_plain_subclass,
    take_state,
)
from langgraph_once.serde.codecs.once1.types.base.checks import plain
from langgraph_once.serde.trust.lookup import declared

__all__ = ["RecordFamily"]


class RecordFamily:
    """Classes with `__dataclass_fields__` or `__attrs_attrs__`."""

    name = "record"

    def __init__(self, *, code_free: bool = False) -> None:
        """Take whether to refuse where it takes code of the class to make a default."""
        self._code_free = code_free

    def matches(self, cls: type) -> bool:
        is_record = is_dataclass(cls) or isinstance(declared(cls, "__attrs_attrs__"), tuple)
        return is_record and is_plain_subclass(cls, object)

    def encode(self, obj: Any) -> Any:
        return take_state(obj)

    def decode(self, cls: type, data: Any) -> Any:
        obj = self.blank(cls)
        self.fill(obj, data)
        return obj

    def blank(self, cls: type) -> Any:
        return object.__new__(cls)

    def fill(self, obj: Any, data: Any) -> None:
        fill_state(obj, data, code_free=self._code_free)

    def fields_of(self, data: Any) -> dict[str, Any]:
        state = data[0] if type(data) is tuple and data else data
        return dict(plain(state, dict))

    def with_fields(self, _cls: type, data: Any, fields: dict[str, Any]) -> Any:
        # The second part, where there is one, says which fields were not set.
        return (fields, *data[1:]) if type(data) is tuple else fields
