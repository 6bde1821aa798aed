"""numpy arrays in upstream's msgpack: `[dtype, shape, order, buffer]`."""

from __future__ import annotations

import importlib
from typing import Any, Final

import ormsgpack

from langgraph_once.serde.codecs.langgraph.scan import end_of_value

__all__ = ["array", "array_parts"]

_MAX_HEAD_BYTES: Final = 1024
_BYTES_WIDTHS: Final = {0xC4: 1, 0xC5: 2, 0xC6: 4}
"""What starts bytes in msgpack, and the width of the length that follows."""


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
    head = b"\x93" + data[1:_MAX_HEAD_BYTES]
    end = end_of_value(head, _MAX_HEAD_BYTES)
    width = _BYTES_WIDTHS.get(data[end]) if data[:1] == b"\x94" and 0 < end < len(head) else None
    if width is None:
        return None
    start = end + 1 + width
    if int.from_bytes(data[end + 1 : start]) != len(data) - start:
        return None
    return [*ormsgpack.unpackb(head[:end]), memoryview(data)[start:]]
