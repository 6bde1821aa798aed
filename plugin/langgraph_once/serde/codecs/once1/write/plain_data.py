"""Writing data of nothing but native values: ormsgpack walks it, and no Python does.

A walk in Python takes up to twenty times as long as writing. Two references to one list or
dictionary in such data become two equal ones, as they do with LangGraph.
"""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

import orjson
from ormsgpack import packb

from langgraph_once.serde.codecs.once1.format.layout import OPTIONS

__all__ = ["plain_bytes"]

_PROBED_LEVELS: Final = 12
"""A list that holds another one twice, and so on, doubles with each level."""
_PROBED_ITEMS: Final = 8
_CONTAINERS: Final = frozenset({dict, list})


def plain_bytes(value: dict[Any, Any] | list[Any]) -> bytes | None:
    """Return the msgpack of `value`; None if some part of it is not native."""
    if _is_deep(value):
        return None
    try:
        data = packb(value, None, OPTIONS)
        # ormsgpack takes a bytearray for bytes, without asking. orjson refuses both.
        if 0xC4 in data or 0xC5 in data or 0xC6 in data:  # as binary data begin, and other things
            orjson.dumps(value)
    except TypeError:
        return None
    return data


def _is_deep(value: Any) -> bool:
    """Whether `value` leads too deep to be written unseen: each level may be there twice."""
    for _ in range(_PROBED_LEVELS):
        items = value.values() if type(value) is dict else value
        for item in items if len(value) <= _PROBED_ITEMS else islice(items, _PROBED_ITEMS):
            if type(item) in _CONTAINERS and item:
                value = item
                break
        else:
            return False
    return True
