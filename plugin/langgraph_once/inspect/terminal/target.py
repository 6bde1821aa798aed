"""What somebody types, as a server is asked for it: a graph, a thread, a message, an answer."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from langgraph_sdk.client import LangGraphClient

from langgraph_once.inspect import Follower, SideRequest, ViewEvent
from langgraph_once.stream import Part
from langgraph_once.stream.part.envelope import INTERRUPT_KEY
from langgraph_once.stream.part.from_json import revive

__all__ = ["finished_thread", "is_thread", "json_or_text", "of_thread", "said"]

UNDER_WAY = ("running", "pending")


def said(text: str) -> dict[str, Any]:
    """The start of a run in which a user says something, as `SideRequest` has it."""
    return {"input": {"messages": [{"role": "user", "content": text}]}}


def json_or_text(answer: str) -> Any:
    """What an answer says: JSON if it is some."""
    try:
        return json.loads(answer)
    except ValueError:
        return answer


def is_thread(target: str) -> bool:
    """Whether it is the id of a thread; else it is the name of a graph."""
    try:
        # `UUID` takes other spellings, too, as with braces; a server knows threads by this one.
        return str(UUID(target)) == target.lower()
    except ValueError:
        return False


async def of_thread(client: LangGraphClient, thread_id: str) -> SideRequest:
    """The runs of a thread that are under way.

    Args:
        client: A client of the server.
        thread_id: The thread.

    Raises:
        NotFoundError: There is no such thread.
    """
    thread = await client.threads.get(thread_id)
    runs = await client.runs.list(thread_id, limit=100)  # the newest first
    under_way = [run["run_id"] for run in reversed(runs) if run["status"] in UNDER_WAY]
    graph = (thread.get("metadata") or {}).get("assistant_id", "")
    return SideRequest(side="once", graph=str(graph), thread_id=thread_id, run_ids=tuple(under_way))


async def finished_thread(client: LangGraphClient, thread_id: str) -> AsyncGenerator[ViewEvent]:
    """What a thread holds, as view events: its messages, its other keys, what it waits for.

    Args:
        client: A client of the server.
        thread_id: The thread.
    """
    state = await client.threads.get_state(thread_id)
    follower = Follower("once")
    for event in follower.begin(thread_id):
        yield event
    for part in _parts(revive(state["values"] or {}), state.get("interrupts") or ()):
        for event in follower.feed(part):
            yield event
    for event in follower.end():
        yield event


def _parts(values: Any, interrupts: Sequence[Any]) -> Iterator[Part]:
    if isinstance(values, Mapping):
        for message in values.get("messages", ()):
            yield Part((), "messages", message)
        if interrupts:
            values = {**values, INTERRUPT_KEY: interrupts}
    yield Part((), "values", values)
