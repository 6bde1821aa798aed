"""The common part of families that make an object empty and then fill it."""

from __future__ import annotations

from typing import Any

from langgraph_once.serde.codecs.once1.types.base.attributes import fill_state, take_state
from langgraph_once.serde.codecs.once1.types.base.checks import plain

__all__ = ["AttributesFamily", "FilledFamily"]


class FilledFamily:
    """Makes objects empty, then fills them. So they may be part of a cycle."""

    def __init__(self, *, code_free: bool = False) -> None:
        """Take whether to refuse where it takes code of the class to make a default."""
        self._code_free = code_free

    def decode(self, cls: type, data: Any) -> Any:
        obj = self.blank(cls)
        self.fill(obj, data)
        return obj

    def blank(self, cls: type) -> Any:
        return object.__new__(cls)

    def fill(self, obj: Any, data: Any) -> None:
        fill_state(obj, data, code_free=self._code_free)


class AttributesFamily(FilledFamily):
    """Objects that consist of their attributes alone."""

    def encode(self, obj: Any) -> Any:
        return take_state(obj)

    def fields_of(self, data: Any) -> dict[str, Any]:
        state = data[0] if type(data) is tuple and data else data
        return dict(plain(state, dict))

    def with_fields(self, _cls: type, data: Any, fields: dict[str, Any]) -> Any:
        # The second part, where there is one, says which fields were not set.
        return (fields, *data[1:]) if type(data) is tuple else fields
