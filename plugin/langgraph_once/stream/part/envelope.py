"""The one envelope that every source of chunks is read into."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

__all__ = ["GAP_MODE", "INTERRUPT_KEY", "Part"]

GAP_MODE: Final = "gap"
"""The mode of a part that says that something may be missing; its data say why."""

INTERRUPT_KEY: Final = "__interrupt__"
"""The key under which a v1 state or an update holds interrupts."""

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Part(NamedTuple):
    """One piece of a stream, whatever it came from."""

    ns: tuple[str, ...]
    """Namespace of the graph that sent it: one `node:task_id` per level, `()` at the root."""

    mode: str
    """Stream mode: `messages`, `updates`, `values`, `custom`, …"""

    data: Any
    """The payload; in mode `messages` the message or chunk alone."""

    meta: Mapping[str, Any] = NOTHING
    """In mode `messages` the metadata beside the message; a v2 `values` part has its
    `interrupts` here."""

    event_id: str | None = None
    """The SSE id, where there is one. Not unique on `langgraph dev`: never a key."""
