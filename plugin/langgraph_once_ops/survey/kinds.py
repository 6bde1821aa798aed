"""Of which channels a row consists, and what kinds of values these are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from ormsgpack import OPT_NON_STR_KEYS, Ext, packb, unpackb

from langgraph_once.serde import check_keys

HEAD: Final = "(versions)"
"""Stands for what a checkpoint says of itself: versions of channels, and what nodes have seen."""
MEDIA: Final = "images and files in messages"
_TRIGGER: Final = ("branch:", "join:", "start:")
_TRIGGERS: Final = "(triggers of nodes)"
_VALUES: Final = "channel_values"
_MEDIA_TYPES: Final = frozenset(
    {"image", "image_url", "input_image", "audio", "input_audio", "video", "file", "media"}
    | {"document", "video_url"}
)
_MOST_BLOCKS: Final = 100_000


def channels_in(data: bytes) -> dict[str, int]:
    """Bytes of each channel of a checkpoint that upstream's serializer wrote whole.

    Raises:
        ValueError: It is none, or damaged.
    """
    check_keys(data)
    checkpoint = unpackb(data, ext_hook=Ext, option=OPT_NON_STR_KEYS)
    values = checkpoint.get(_VALUES, {}) if isinstance(checkpoint, dict) else None
    if not isinstance(values, dict) or {*map(type, checkpoint)} - {str}:
        raise ValueError("no checkpoint")
    try:
        found = {name: _size(value) for name, value in values.items()}
        return {HEAD: len(data) - _size(values), **found}
    except TypeError as error:  # lists are nested too deep
        raise ValueError("it is nested too deep") from error


def _size(value: Any) -> int:
    return len(packb(value, None, OPT_NON_STR_KEYS))


def channel_name(channel: str) -> str:
    """How a channel is named in the report: those that only trigger nodes are one."""
    return _TRIGGERS if channel.startswith(_TRIGGER) else channel


def kind_of(value: Any) -> str:
    """What kind of value it is, in the words of the report."""
    if isinstance(value, _DeltaSnapshot):
        return kind_of(value.value)
    first = value[0] if isinstance(value, list | tuple) and value else value
    kinds: tuple[tuple[Any, str], ...] = (
        (BaseMessage, "messages"),
        (str, "text"),
        (bytes | bytearray, "bytes"),
        (bool | int | float | None, "numbers and flags"),
    )
    for types, kind in kinds:
        if isinstance(first if kind == "messages" else value, types):
            return kind
    if isinstance(value, dict | list | tuple | set | frozenset):
        return "dicts and lists"
    return "objects of other classes"


def media_bytes(value: Any) -> int:
    """Characters of images and files that stand in the content of messages."""
    if isinstance(value, _DeltaSnapshot):
        value = value.value
    messages = value if isinstance(value, list | tuple) else [value]
    blocks = (
        block
        for message in messages[:_MOST_BLOCKS]
        if isinstance(message, BaseMessage) and isinstance(message.content, list)
        for block in message.content[:_MOST_BLOCKS]
    )
    return sum(
        _text_in(block)
        for block in blocks
        if isinstance(block, dict) and block.get("type") in _MEDIA_TYPES
    )


def _text_in(block: Mapping[Any, Any]) -> int:
    """Of a block, and of the dicts that are its values: deeper, there is no media."""
    inside = [each for each in block.values() if isinstance(each, dict)]
    return sum(
        len(each)
        for part in (block, *inside)
        for each in part.values()
        if isinstance(each, str | bytes)
    )
