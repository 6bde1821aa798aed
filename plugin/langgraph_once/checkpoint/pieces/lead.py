"""How a value of codec `once2` begins: which bytes are others whenever it gets longer.

A thread of messages begins with a `MANY`, which holds a byte for each of them. A header holds how
many items there are, or bytes. All of that is kept apart from what is cut into pieces, or the first
piece would be another one after each step.
"""

from __future__ import annotations

from typing import Final

from langgraph_once.serde.format import EXTENSION_STARTS, Code

_HEADER_BYTES: Final = {
    0xC4: 2,
    0xC5: 3,
    0xC6: 5,
    0xD9: 2,
    0xDA: 3,
    0xDB: 5,
    0xDC: 3,
    0xDD: 5,
    0xDE: 3,
    0xDF: 5,
    0xC7: 3,
    0xC8: 4,
    0xC9: 6,
    **dict.fromkeys(range(0xD4, 0xD9), 2),
}
"""Of the headers that are longer than their first byte. The code of an extension comes last."""

_ARRAYS: Final = frozenset({*range(0x90, 0xA0), 0xDC, 0xDD})
_HOLD_MSGPACK: Final = frozenset(
    {Code.TUPLE, Code.SET, Code.FROZENSET, Code.MAP, Code.SHARED, Code.GRAPH}
)


def lead_bytes(data: bytes) -> int:
    """Return where the bytes end that are others whenever the value gets longer."""
    at = _after_header(data, 0)
    if data[0] in _ARRAYS and data[at : at + 1] and data[at] in EXTENSION_STARTS:
        inner = _after_header(data, at)
        return inner + _size(data, at) if data[inner - 1] == Code.MANY else at
    if data[0] not in EXTENSION_STARTS:
        return at
    code = data[at - 1]
    if code == Code.OBJECT:  # an array of the head, which is a bin, and the data
        at = _after_header(data, at)
        size = int.from_bytes(data[at + 1 : _after_header(data, at)], "big")
        at = _after_header(data, at) + size
    return _after_header(data, at) if code == Code.OBJECT or code in _HOLD_MSGPACK else at


def _after_header(data: bytes, at: int) -> int:
    return at + _HEADER_BYTES.get(data[at], 1)


def _size(data: bytes, at: int) -> int:
    """Return how many bytes the extension at `at` holds."""
    if data[at] >= 0xD4:  # its first byte says so
        return 1 << (data[at] - 0xD4)
    return int.from_bytes(data[at + 1 : _after_header(data, at) - 1], "big")
