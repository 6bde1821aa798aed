"""What a client is asked and what it tells: the same for clients in Python and in JavaScript.

asked    {"url", "graph", "turns": [{"input": …} | {"resume": …}], "options": {"threadId": …}}
told     {"turns": [{"snapshots": [[message, …], …], "error": null | str, "bytes": null | int}],
          "final": [message, …]}
message  {"id": null | str, "type", "text", "tool_calls": [id, …]}
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NotRequired, TypedDict


class Shown(TypedDict):
    """A message as a person sees it."""

    id: str | None
    type: str
    text: str
    tool_calls: list[str]


Snapshot = list[Shown]


class Turn(TypedDict):
    """All that was on the screen in one turn, in order; equal neighbours are one."""

    snapshots: list[Snapshot]
    error: str | None
    bytes: NotRequired[int | None]


class Recording(TypedDict):
    """What one client showed of one thread."""

    turns: list[Turn]
    final: NotRequired[Snapshot]


class Asked(TypedDict):
    """What a client has to do."""

    url: str
    graph: str
    turns: list[dict[str, Any]]
    options: dict[str, Any]


def shown(message: dict[str, Any]) -> Shown:
    """A message of the wire as a person sees it."""
    calls: Iterable[dict[str, Any]] = [
        *message.get("tool_calls", ()),
        *message.get("tool_call_chunks", ()),
    ]
    return Shown(
        id=message.get("id"),
        type=str(message["type"]).removesuffix("MessageChunk").lower(),
        text=_text(message.get("content")),
        tool_calls=list(dict.fromkeys(call["id"] for call in calls if call.get("id"))),
    )


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(_text(block) for block in content)
    if isinstance(content, dict):
        return str(content.get("text", ""))
    return content or ""
