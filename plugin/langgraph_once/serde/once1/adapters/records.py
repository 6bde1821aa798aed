"""Dataclasses of every kind, pydantic's included, and attrs classes: their attributes.

Rebuilt without `__init__`: `__post_init__`, validators and converters ran when the object was
made, and would change values that they have changed already. Fields that are not arguments and
attributes that were added later come back too.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from langgraph_once.serde.once1.adapters.shapes import plain
from langgraph_once.serde.once1.adapters.state import fill_state, is_plain_subclass, take_state

__all__ = ["RecordFamily"]


class RecordFamily:
    """Classes with `__dataclass_fields__` or `__attrs_attrs__`."""

    name = "record"

    def matches(self, cls: type) -> bool:
        declared = dataclasses.is_dataclass(cls) or hasattr(cls, "__attrs_attrs__")
        return declared and is_plain_subclass(cls, object)

    def encode(self, obj: Any) -> Any:
        return take_state(obj)

    def decode(self, cls: type, data: Any) -> Any:
        obj = self.blank(cls)
        self.fill(obj, data)
        return obj

    def blank(self, cls: type) -> Any:
        return object.__new__(cls)

    def fill(self, obj: Any, data: Any) -> None:
        fill_state(obj, data)

    def fields_of(self, data: Any) -> dict[str, Any]:
        state = data[0] if type(data) is tuple and data else data
        return dict(plain(state, dict))

    def with_fields(self, _cls: type, data: Any, fields: dict[str, Any]) -> Any:
        # The second part, where there is one, says which fields were not set.
        return (fields, *data[1:]) if type(data) is tuple else fields
