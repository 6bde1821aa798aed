"""Tables whose entries refer to each other so often that reading them might take too much.

Or that using what was read does: to write it as JSON, to compare it, or to store it elsewhere, each
shared part counts as often as it is met.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from langgraph_once.serde.codecs.once1.format.layout import MAX_OBJECTS, REF_PREFIX
from langgraph_once.serde.codecs.once1.format.scan import WEIGHTS, holds_nothing, ref_positions

__all__ = ["expands_beyond", "may_outgrow"]

_FEW: Final = 40
"""Entries in each other that hold so many extensions in each other are not too deep yet."""

_LARGE: Final = 64 * 1024
"""An entry as large as that may be an array, which is not to be searched."""

_TIMES_SHARED: Final = 4
"""Shared parts are read once, and count for what is done with them later. LangGraph's serializer
writes them out; what it still writes in a row of 250 MB is carried here, too."""

_UNITS_OF_A_REF: Final = WEIGHTS.units(REF_PREFIX + bytes(4), 100)

_FIRST: Final = REF_PREFIX[:1]
_REF: Final = re.compile(re.escape(REF_PREFIX) + b"(.{4})", re.DOTALL)
_DEEP: Final = re.compile(
    rb"slice|deque|defaultdict|ndarray|SyntaxError|IndentationError|TabError|"
    rb"(?:[\xd4-\xd8]|\xc7.|\xc8..|\xc9....)[\x02\x03\x04]",
    re.DOTALL,
)
"""What has to be in a blob that is too deep: something that hashes, or is freed without care."""

assert _FEW * (MAX_OBJECTS + 2) <= 500, "see `hashing` and `Nesting`"  # noqa: S101  (an invariant)


Entry = bytes | memoryview


def expands_beyond(data: bytes, entries: Sequence[Entry], limit: int) -> bool:
    """Whether the value takes far more than `limit` units, with its shared parts written out.

    A part that contains itself is not written out in itself.
    """
    limit *= _TIMES_SHARED
    if _has_few_refs(data, WEIGHTS.free_bytes(limit)):
        return False

    def precise(entry: Entry) -> int:
        return WEIGHTS.units(entry, limit)

    return (
        _expanded(entries, WEIGHTS.most, _likely_refs, limit) > limit
        and _expanded(entries, precise, _refs, limit) > limit
    )


def _has_few_refs(data: bytes, limit: int) -> bool:
    """Whether each `REF` may double `data` without it being longer than `limit`."""
    most = min(_FEW, (limit // len(data)).bit_length()) - 1
    if most < 0:
        return False
    at = -1
    for _ in range(most + 1):  # their first byte is found sooner than both
        if (at := data.find(_FIRST, at + 1)) < 0:
            return True
    return data.count(REF_PREFIX) <= most


def _expanded(
    entries: Sequence[Entry],
    weigh: Callable[[Entry], int],
    find: Callable[[bytes], Iterable[int]],
    limit: int,
) -> int:
    """Return what the heaviest entry takes, written out."""
    units: list[int] = []
    for entry in entries:
        total = weigh(entry)
        if not holds_nothing(entry) and REF_PREFIX in (data := bytes(entry)):
            found = (index for index in find(data) if index < len(units))
            total += sum(units[index] - _UNITS_OF_A_REF for index in found)
        units.append(min(total, limit + 1))
    return max(units)


def _likely_refs(entry: bytes) -> Iterable[int]:
    """Yield the index of each `REF`, and of what looks like one."""
    return (int.from_bytes(found[1], "big") for found in _REF.finditer(entry))


def _refs(entry: bytes) -> Iterable[int]:
    return (int.from_bytes(entry[at : at + 4], "big") for at in ref_positions(entry))


def may_outgrow(data: bytes, entries: Sequence[Entry], limit: int) -> bool:
    """Whether a table, with a copy of the entry in the place of each `REF`, is more than `limit`.

    Or deeper than can be hashed. It may not be: what only looks like a `REF` counts, too.
    """
    leaves = [len(entry) > _LARGE and holds_nothing(entry) for entry in entries]
    if any(leaves):
        both = zip(entries, leaves, strict=True)
        refs = sum(bytes(entry).count(REF_PREFIX) for entry, is_leaf in both if not is_leaf)
        if refs < _FEW and len(data) << refs <= limit:
            return False
    elif _has_few_refs(data, limit):
        return False
    sizes: list[int] = []
    depths: list[int] = []
    for entry, is_leaf in zip(entries, leaves, strict=True):
        size, depth = len(entry), 0
        for found in () if is_leaf else _REF.finditer(entry):
            index = int.from_bytes(found[1], "big")
            if index < len(sizes):
                size += sizes[index]
                depth = max(depth, depths[index])
        sizes.append(min(size, limit + 1))
        depths.append(depth + 1)
    return max(sizes) > limit or (max(depths) > _FEW and _DEEP.search(data) is not None)
