"""The time in the id of a checkpoint, a UUID of version 6: ids are ordered by it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

_UUID_EPOCH_TICKS: Final = 0x01B21DD213814000
"""Of 100 ns, from the first day of UUIDs to that of Unix."""
_TICKS: Final = 10_000_000
"""In a second."""


def first_id_at(moment: datetime) -> str:
    """The smallest id that a checkpoint of this time may have."""
    ticks = int(moment.timestamp() * _TICKS) + _UUID_EPOCH_TICKS
    return f"{ticks >> 28:08x}-{ticks >> 12 & 0xFFFF:04x}-6{ticks & 0xFFF:03x}"


def moment_of(id_: str) -> datetime | None:
    """When a checkpoint was made; None if its id has no time in it, or one of no calendar."""
    try:
        high, middle, low, *_ = id_.split("-")
        ticks = (int(high, 16) << 28) + (int(middle, 16) << 12) + int(low[1:], 16)
        return datetime.fromtimestamp((ticks - _UUID_EPOCH_TICKS) / _TICKS, UTC)
    except (ValueError, OverflowError, OSError):
        return None
