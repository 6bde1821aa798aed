"""Dataclasses of every kind, pydantic's included, and attrs classes: their attributes.

Rebuilt without `__init__`: `__post_init__`, validators and converters ran when the object was
made, and would change values that they have changed already. Fields that are not arguments and
attributes that were added later come back too.
"""

from __future__ import annotations

from langgraph_once.serde.codecs.once1.types.base.attributes import (
    is_dataclass,
    is_plain_subclass,
)
from langgraph_once.serde.codecs.once1.types.base.families import AttributesFamily
from langgraph_once.serde.trust.lookup import declared

__all__ = ["RecordFamily"]


class RecordFamily(AttributesFamily):
    """Classes with `__dataclass_fields__` or `__attrs_attrs__`."""

    name = "record"

    def matches(self, cls: type) -> bool:
        is_record = is_dataclass(cls) or isinstance(declared(cls, "__attrs_attrs__"), tuple)
        return is_record and is_plain_subclass(cls, object)
