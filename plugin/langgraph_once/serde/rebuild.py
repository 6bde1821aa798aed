"""Turning what a msgpack extension holds into the value that it stands for."""

from __future__ import annotations

import importlib
from collections import deque
from collections.abc import Callable
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

from langgraph_once.serde.msgpack_scan import end_of_value

__all__ = ["CONSTRUCTORS", "array", "array_parts"]


Target = Callable[..., Any]

_MAX_HEAD_BYTES: Final = 1024
_BYTES_WIDTHS: Final = {0xC4: 1, 0xC5: 2, 0xC6: 4}
"""What starts bytes in msgpack, and the width of the length that follows."""


def _from_value(target: Target) -> Target:
    if isinstance(target, type) and issubclass(target, deque):
        return lambda argument: target(_listed(argument))
    if isinstance(target, type) and issubclass(target, (set, frozenset)):
        # An element of a set was hashable: where a list comes back, a tuple went in.
        return lambda argument: target(map(_hashable, _listed(argument)))
    return target


def _from_positional(target: Target) -> Target:
    return _send if target is Send else lambda argument: target(*_listed(argument))


def _send(argument: Any) -> Send:
    args = _listed(argument)
    return Send(args[0], args[1], timeout=args[2]) if len(args) == 3 else Send(*args)


def _from_keywords(target: Target) -> Target:
    return lambda argument: target(**argument)


def _from_fields(target: Target) -> Target:
    """Rebuild a pydantic model; where its dump does not validate, without validation.

    Upstream does the same: models whose serializers change their values need it.
    """
    unchecked = getattr(target, "model_construct", None) or getattr(target, "construct", None)

    def construct(argument: Any) -> Any:
        if not isinstance(argument, dict):
            return target(argument)  # a RootModel
        try:
            return target(**argument)
        except Exception:
            if unchecked is None:
                raise
            return unchecked(**argument)

    return construct


def array(content: Any) -> Any:
    """Return the numpy array that `[dtype, shape, order, buffer]` describes."""
    np = importlib.import_module("numpy")  # only a process that keeps arrays has it
    dtype, shape, order, buffer = _listed(content)
    found = np.frombuffer(buffer, dtype=np.dtype(dtype)).reshape(shape, order=order)
    if not found.flags.aligned:
        found = found.copy(order="K")
        found.flags.writeable = False
    return found


def array_parts(data: bytes) -> list[Any] | None:
    """Return `[dtype, shape, order, buffer]`, the buffer a view of `data` and not a copy.

    None where `data` is not what upstream writes for an array, to the last byte.
    """
    head = b"\x93" + data[1:_MAX_HEAD_BYTES]
    end = end_of_value(head, _MAX_HEAD_BYTES)
    width = _BYTES_WIDTHS.get(data[end]) if data[:1] == b"\x94" and 0 < end < len(head) else None
    if width is None:
        return None
    start = end + 1 + width
    if int.from_bytes(data[end + 1 : start]) != len(data) - start:
        return None
    return [*ormsgpack.unpackb(head[:end]), memoryview(data)[start:]]


def _listed(argument: Any) -> list[Any]:
    if not isinstance(argument, list):
        raise TypeError(f"expected an array, found {type(argument).__name__}")
    return argument


def _hashable(item: Any) -> Any:
    return tuple(map(_hashable, item)) if isinstance(item, list) else item


CONSTRUCTORS: Final[dict[int, Callable[[Target], Target]]] = {
    EXT_CONSTRUCTOR_SINGLE_ARG: _from_value,
    EXT_CONSTRUCTOR_POS_ARGS: _from_positional,
    EXT_CONSTRUCTOR_KW_ARGS: _from_keywords,
    EXT_METHOD_SINGLE_ARG: _from_value,
    EXT_PYDANTIC_V1: _from_fields,
    EXT_PYDANTIC_V2: _from_fields,
}
"""For each kind of extension: from the type that it names to a function of its argument."""
