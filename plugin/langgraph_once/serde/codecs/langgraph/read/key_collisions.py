"""Refusing maps with many keys of one hash: they take time in proportion to the square.

The hashes of strings and bytes depend on a secret of the process. Those of tuples do not, and
arrays as keys become tuples. ormsgpack makes the dicts, so blobs with large maps are looked
through first.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from ormsgpack import unpackb

from langgraph_once.errors import PayloadError
from langgraph_once.serde.bounds.budget import Budget
from langgraph_once.serde.bounds.hashing import Hashing, are_harmless
from langgraph_once.serde.codecs.langgraph.scan import keys_of_large_maps

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ["as_tuple", "has_large_maps", "share_hashes", "takes_long"]

_FEW: Final = 511
"""Keys of a map. As many of one hash take milliseconds; `share_hashes` lets 800 pass."""

_LARGE_MAP: Final = re.compile(rb"\xde(?=([\x02-\xff].))|\xdf(?=(....))", re.DOTALL)
"""What may be the head of a map of more keys, and how many."""

_ANY: Final = 1 << 62
"""Nothing occurs twice in msgpack: hashing takes no longer than reading."""

_ARRAY: Final = b"\xdd"


def has_large_maps(data: bytes) -> bool:
    """Whether `data`, or an extension in it, may hold a map of more than a few keys."""
    # One that promises more than there is counts: its keys are hashed until they end.
    return any(
        min(int.from_bytes(found[1] or found[2]), (len(data) - found.end()) // 2) > _FEW
        for found in _LARGE_MAP.finditer(data)
    )


def takes_long(data: bytes) -> bool:
    """Whether so many keys of a map share a hash that reading it would take very long."""
    try:
        unpackb(data, ext_hook=_skip)  # Without the option for them, arrays are no keys.
    except ValueError:
        return any(share_hashes([*_keys(parts)]) for parts in keys_of_large_maps(data, _FEW))
    return False


def share_hashes(items: Collection[Any]) -> bool:
    """Whether a set of these items would take very long, as so many share a hash."""
    if are_harmless(items):
        return False
    try:
        Hashing(Budget(_ANY, "msgpack")).check(items)
    except PayloadError:
        return True
    return False


def as_tuple(item: Any) -> Any:
    """Return a list as a tuple, and so all the way down; what else there is, as it is."""
    if type(item) is not list:
        return item
    made = tuple(item)
    try:
        hash(made)  # to look for lists takes longer
    except TypeError:
        return tuple(map(as_tuple, item))
    return made


def _keys(parts: list[tuple[int, bytes]]) -> Iterator[Any]:
    """Return the arrays among the keys that parts of a map tell; of others, few share a hash."""
    for count, part in parts:
        with suppress(ValueError, RecursionError):  # ormsgpack will stop there
            keys = unpackb(_ARRAY + count.to_bytes(4) + part, ext_hook=_skip)[::2]
            yield from (as_tuple(key) for key in keys if type(key) is list)


def _skip(_code: int, _content: bytes) -> None:
    """Leave out an extension."""
