"""One event of an event stream, as it came."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Frame"]


class Frame(NamedTuple):
    """One event; or an id alone, the position behind what was left out."""

    event: str
    data: Any
    id: str | None
    """The id that a reader may go on after; None until the stream names one."""

    check: int
    """CRC-32 of its name and data, as they came; 0 of an id alone."""
