"""In which channel of a checkpoint something stands, told by its place in the bytes."""

from __future__ import annotations

from typing import Final

from langgraph_once.serde.bounds.msgpack_headers import Kind, after_value, read_token, text_at
from langgraph_once.serde.codecs.once1.format.layout import Ext
from langgraph_once.serde.codecs.once1.format.scan import VALUES_BEFORE, ref_positions, split
from langgraph_once.serde.layers.tag import Codec

__all__ = ["channel_at"]

_VALUES: Final = "channel_values"
_REF_BYTES: Final = 4


def channel_at(codec: Codec, data: bytes, place: tuple[int, int]) -> str:
    """Return the name of the channel that holds what stands at `place`; empty if that is not told.

    Args:
        codec: What wrote the checkpoint.
        data: Its bytes.
        place: The entry of its table, and where in that.

    Raises:
        ValueError: The bytes are damaged.
    """
    index, at = place
    if codec == "msgpack":
        return _channel_in(data, at)
    if codec != "once1":
        return ""
    entries = [bytes(part) for part in split(data)]
    for later in range(index + 1, len(entries)):
        # An entry stands behind those that it refers to, and the checkpoint is the last one.
        for position in ref_positions(entries[later]):
            if int.from_bytes(entries[later][position : position + _REF_BYTES], "big") == index:
                index, at = later, position
                break
    return _channel_in(entries[-1], at) if index == len(entries) - 1 else ""


def _channel_in(data: bytes, at: int) -> str:
    outer, inside = _key_around(data, _start(data), at)
    return _key_around(data, inside, at)[0] if outer == _VALUES else ""


def _start(data: bytes) -> int:
    """Return where the map begins that a checkpoint is, which objects in it may have around it."""
    top = read_token(data, 0)
    if top.code != Ext.TREE:
        return 0
    at = read_token(data, top.body).body
    for _ in range(VALUES_BEFORE):
        at = after_value(data, at)
    return at


def _key_around(data: bytes, at: int, wanted: int) -> tuple[str, int]:
    """Return the key whose value holds `wanted`, in the map at `at`, and where the value begins."""
    top = read_token(data, at)
    at = top.body
    for _ in range(top.size if top.kind is Kind.MAP else 0):
        key, start = text_at(data, at)
        at = after_value(data, start)
        if wanted < at:
            return key, start
    return "", 0
