"""What the user of `langgraph-once watch` means: a graph to run, a run under way, or a thread."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from langgraph_sdk.client import LangGraphClient

from langgraph_once.compare import SideRequest
from langgraph_once.stream import Part
from langgraph_once.stream.part.envelope import INTERRUPT_KEY
from langgraph_once.stream.part.from_json import revive
from langgraph_once.watch import Follower, ViewEvent

__all__ = ["finished_thread", "is_thread", "of_thread"]

UNDER_WAY = ("running", "pending")


def is_thread(target: str) -> bool:
    """Whether it is the id of a thread; else it is the name of a graph."""
    try:
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
