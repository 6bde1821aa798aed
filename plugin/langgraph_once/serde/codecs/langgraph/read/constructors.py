"""From what a msgpack extension holds to the value that it stands for."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import Flag
from typing import Any, Final

from langgraph.checkpoint.serde.jsonplus import (
    EXT_CONSTRUCTOR_KW_ARGS,
    EXT_CONSTRUCTOR_POS_ARGS,
    EXT_CONSTRUCTOR_SINGLE_ARG,
    EXT_METHOD_SINGLE_ARG,
    EXT_PYDANTIC_V1,
    EXT_PYDANTIC_V2,
)
from langgraph.types import Send

from langgraph_once.serde.bounds.enum_flags import flag_of
from langgraph_once.serde.bounds.patterns import compiled
from langgraph_once.serde.codecs.langgraph.read.key_collisions import as_tuple, share_hashes

__all__ = ["CONSTRUCTORS", "SAFE_CONSTRUCTORS", "from_fields", "from_members", "listed"]


Target = Callable[..., Any]


def _from_value(target: Target) -> Target:
    if isinstance(target, type) and issubclass(target, Flag):
        return lambda argument: _flag(target, argument)
    if isinstance(target, type) and issubclass(target, deque):
        return lambda argument: target(listed(argument))
    return from_members(target) if _is_set(target) else target


def _from_positional(target: Target) -> Target:
    if _is_set(target):
        made = from_members(target)
        return lambda argument: made(*listed(argument))
    return _send if target is Send else lambda argument: target(*listed(argument))


def _flag(cls: type[Flag], value: Any) -> Any:
    return flag_of(cls, value) if type(value) is int else cls(value)


def _is_set(target: Target) -> bool:
    return isinstance(target, type) and issubclass(target, (set, frozenset))


def from_members(target: Target) -> Target:
    def construct(argument: Any = ()) -> Any:
        # An element of a set was hashable: where a list comes back, a tuple went in.
        members = [*map(as_tuple, listed(argument))]
        if share_hashes(members):
            raise ValueError("too many members share a hash")
        return target(members)

    return construct


def _send(argument: Any) -> Send:
    args = listed(argument)
    return Send(args[0], args[1], timeout=args[2]) if len(args) == 3 else Send(*args)


def _from_keywords(target: Target) -> Target:
    return lambda argument: target(**argument)


def from_fields(target: Target) -> Target:
    """Rebuild a pydantic model; where its dump does not validate, without validation.

    Upstream does the same: models whose serializers change their values need it.
    """
    unchecked = getattr(target, "model_construct", None) or getattr(target, "construct", None)

    def construct(argument: Any) -> Any:
        if type(argument) is not dict:
            return target(argument)  # a RootModel
        try:
            return target(**argument)
        except Exception:
            if unchecked is None:
                raise
            return unchecked(**argument)

    return construct


def _from_secret(kind: type) -> Callable[[Target], Target]:
    def make(target: Target) -> Target:
        def construct(argument: Any) -> Any:
            if type(argument) is not kind:
                raise TypeError(f"expected a secret as {kind.__name__}")
            return target(argument)

        return construct

    return make


def _from_pattern(_target: Target) -> Target:
    # LangGraph writes pattern and flags; what else it would call compiles with no bound.
    return lambda argument: compiled(*listed(argument))


def listed(argument: Any) -> list[Any]:
    if type(argument) is not list:
        raise TypeError(f"expected an array, found {type(argument).__name__}")
    return argument


CONSTRUCTORS: Final[dict[int, Callable[[Target], Target]]] = {
    EXT_CONSTRUCTOR_SINGLE_ARG: _from_value,
    EXT_CONSTRUCTOR_POS_ARGS: _from_positional,
    EXT_CONSTRUCTOR_KW_ARGS: _from_keywords,
    EXT_METHOD_SINGLE_ARG: _from_value,
    EXT_PYDANTIC_V1: from_fields,
    EXT_PYDANTIC_V2: from_fields,
}
"""For each kind of extension: from the type that it names to a function of its argument."""

SAFE_CONSTRUCTORS: Final[dict[tuple[str, str], Callable[[Target], Target]]] = {
    ("re", "compile"): _from_pattern,
    ("pydantic.types", "SecretStr"): _from_secret(str),
    ("pydantic.types", "SecretBytes"): _from_secret(bytes),
    ("pydantic.v1.types", "SecretStr"): _from_secret(str),
    ("pydantic.v1.types", "SecretBytes"): _from_secret(bytes),
    ("langgraph.store.base", "SearchItem"): _from_keywords,
}
"""Patterns, and types that upstream writes, does not call safe, and reads by default: these only
hold values."""
