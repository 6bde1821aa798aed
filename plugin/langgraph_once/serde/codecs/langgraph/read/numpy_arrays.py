"""numpy arrays in LangGraph's rows: `[dtype, shape, order, buffer]`."""

from __future__ import annotations

import importlib
from typing import Any, Final

import ormsgpack

from langgraph_once.serde.bounds.msgpack_headers import end_of_value, read_token

__all__ = ["array", "array_parts"]

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
