"""Enums and flags: a member by its name, a combination of flags by its value."""

from __future__ import annotations

from enum import Enum, Flag
from typing import Any

from langgraph_once.serde.bounds.costly_values import flag_of
from langgraph_once.serde.codecs.once1.types.base.protocol import UnreadableError, UnwritableError
from langgraph_once.serde.trust.class_code import combination_hook
from langgraph_once.serde.trust.lookup import declared

__all__ = ["EnumFamily"]


class EnumFamily:
    """Every kind of `enum.Enum`."""

    name = "enum"

    def __init__(self, *, code_free: bool = False) -> None:
        """Take whether to refuse combinations of flags whose class has its own way to make them."""
        self._code_free = code_free

    def matches(self, cls: type) -> bool:
        return issubclass(cls, Enum)

    def encode(self, obj: Any) -> str | int:
        name = obj._name_
        if name is not None and type(obj)._member_map_.get(name) is obj:
            return str(name)
        if isinstance(obj, Flag) and type(obj._value_) is int:
            return obj._value_
        raise UnwritableError("an enum value that is not a member of its class")

    def decode(self, cls: Any, data: Any) -> Any:
        if type(data) is str:
            member = declared(cls, "_member_map_").get(data)
            if member is None:
                raise ValueError(f"{cls.__qualname__} has no member {data!r:.80}")
            return member
        if type(data) is not int or not issubclass(cls, Flag):
            raise ValueError("expected the name of a member")
        hook = combination_hook(cls) if self._code_free else None
        if hook:
            raise UnreadableError(
                f"combining its flags runs code ({hook}); add the class to `allowed_types`"
            )
        made = flag_of(cls, data)
        if type(made) is not cls or made._value_ != data:
            raise ValueError(f"{cls.__qualname__} has no combination {data:#x}")
        return made
