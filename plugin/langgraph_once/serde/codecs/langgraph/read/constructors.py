"""From what a msgpack extension holds to the value that it stands for.

A numpy array is one, too: `[dtype, shape, order, buffer]`.
"""

from __future__ import annotations

import importlib
from collections import deque
from collections.abc import Callable
from enum import Flag
from typing import Any, Final

import ormsgpack
from langgraph.checkpoint.serde.jsonplus import (
    EXT_CONSTRUCTOR_KW_ARGS,
    EXT_CONSTRUCTOR_POS_ARGS,
    EXT_CONSTRUCTOR_SINGLE_ARG,
    EXT_METHOD_SINGLE_ARG,
    EXT_PYDANTIC_V1,
    EXT_PYDANTIC_V2,
)
from langgraph.types import Send

from langgraph_once.serde.bounds.costly_values import compiled, flag_of
from langgraph_once.serde.bounds.msgpack_headers import end_of_value, read_token
from langgraph_once.serde.codecs.langgraph.scan import as_tuple, share_hashes

__all__ = [
    "CONSTRUCTORS",
    "SAFE_CONSTRUCTORS",
    "array",
    "array_parts",
    "from_fields",
    "from_members",
    "listed",
]

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


_MAX_HEAD_VALUES: Final = 1000
_FIRST_OF_BYTES: Final = frozenset({0xC4, 0xC5, 0xC6})


def array(content: Any) -> Any:
    """Return the numpy array that `[dtype, shape, order, buffer]` describes."""
    np = importlib.import_module("numpy")  # only a process that keeps arrays has it
    if not isinstance(content, list):
        raise TypeError(f"expected an array, found {type(content).__name__}")
    dtype, shape, order, buffer = content
    found = np.frombuffer(buffer, dtype=np.dtype(dtype)).reshape(shape, order=order)
    if not found.flags.aligned:
        found = found.copy(order="K")
        found.flags.writeable = False
    return found


def array_parts(data: bytes) -> list[Any] | None:
    """Return `[dtype, shape, order, buffer]`, the buffer a view of `data` and not a copy.

    None where `data` is not what upstream writes for an array, to the last byte.
    """
    head = b"\x93" + data[1:_MAX_HEAD_VALUES]
    end = end_of_value(head, _MAX_HEAD_VALUES)
    if data[:1] != b"\x94" or not 0 < end < len(head) or data[end] not in _FIRST_OF_BYTES:
        return None
    try:
        buffer = read_token(data, end)
    except ValueError:
        return None
    if buffer.end != len(data):
        return None
    return [*ormsgpack.unpackb(head[:end]), memoryview(data)[buffer.body :]]
