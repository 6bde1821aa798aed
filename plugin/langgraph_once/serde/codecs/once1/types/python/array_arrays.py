"""`array.array`: type code, bytes of an item, content in little-endian order."""

from __future__ import annotations

import sys
from array import array, typecodes
from typing import Any, Final

from langgraph_once.serde.codecs.once1.types.base.checks import parts
from langgraph_once.serde.codecs.once1.types.base.protocol import Adapter

__all__ = ["ADAPTERS"]


def _encode(value: array[Any]) -> tuple[str, int, bytes]:
    return value.typecode, value.itemsize, _little_endian(value).tobytes()


def _decode(data: Any) -> array[Any]:
    code, item_bytes, content = parts(data, str, int, bytes)
    if len(code) != 1 or code not in typecodes:
        raise ValueError("not the type code of an array")
    made: array[Any] = array(code)
    if made.itemsize != item_bytes or len(content) % item_bytes:
        raise ValueError("an array with items of another size than on this system")
    made.frombytes(content)
    if code in "uw":
        made.tounicode()  # raises for what is not a character
    return _little_endian(made)


def _little_endian(value: array[Any]) -> array[Any]:
    if sys.byteorder == "little":
        return value
    swapped = value[:]
    swapped.byteswap()
    return swapped


ADAPTERS: Final = (Adapter(name="array", types=(array,), encode=_encode, decode=_decode),)
