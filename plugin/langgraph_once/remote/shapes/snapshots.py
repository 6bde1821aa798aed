"""A thread of the server as the state snapshots of a local graph."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.pregel.remote import RemoteException
from langgraph.types import Interrupt, PregelTask, StateSnapshot

from langgraph_once.stream.part.from_json import revive
from langgraph_once.stream.part.shapes import INTERRUPT_KEY

__all__ = [
    "Pages",
    "as_config",
    "as_tuples",
    "before_of",
    "error_of",
    "interrupts_of",
    "snapshot",
]

STATES_PER_PAGE = 100
"""How many states are asked for at a time."""


def snapshot(state: Mapping[str, Any]) -> StateSnapshot:
    """A `ThreadState` of the server as the snapshot that a local graph gives."""
    tasks = tuple(map(_task, state["tasks"]))
    interrupts = state.get("interrupts")
    return StateSnapshot(
        values=revive(state["values"]),
        next=tuple(state["next"] or ()),
        config=as_config(state["checkpoint"]) or {},
        metadata=cast("Any", revive(state["metadata"])),
        created_at=state["created_at"],
        parent_config=as_config(state["parent_checkpoint"]),
        tasks=tasks,
        interrupts=tuple(i for task in tasks for i in task.interrupts)
        if interrupts is None
        else interrupts_of(interrupts),
    )


def as_config(checkpoint: Mapping[str, Any] | None) -> RunnableConfig | None:
    """The config that names a checkpoint, without the keys that the server left empty."""
    if not checkpoint:
        return None
    return {"configurable": {key: value for key, value in checkpoint.items() if value is not None}}


def interrupts_of(value: Any) -> tuple[Interrupt, ...]:
    """A list of interrupts in JSON as the interrupts that they are."""
    revived: tuple[Interrupt, ...] = revive({INTERRUPT_KEY: value})[INTERRUPT_KEY]
    return revived


def error_of(error: Any) -> Exception | None:
    """The error of a task. The server sends only the name of its class."""
    return RemoteException(error) if error else None


def as_tuples(value: Any) -> Any:
    """Lists as tuples, also those inside: JSON has no tuples."""
    return tuple(map(as_tuples, value)) if isinstance(value, list) else value


class Pages:
    """Asks for the history of a thread, page by page.

    Args:
        limit: How many states are wanted; None for all.
        before: The checkpoint before which they begin.
    """

    def __init__(self, limit: int | None, before: Mapping[str, Any] | None) -> None:
        self._left = math.inf if limit is None else limit
        self._before = before_of(before)

    @property
    def size(self) -> int:
        """How many states are wanted next; 0 at the end."""
        return int(min(self._left, STATES_PER_PAGE))

    @property
    def asked(self) -> dict[str, Any]:
        """What to ask for."""
        return {"limit": self.size, "before": self._before}

    def read(self, page: Sequence[Mapping[str, Any]]) -> Iterator[StateSnapshot]:
        """The states of a page; not those that a server gives beyond what was asked for."""
        some = page[: self.size]
        yield from map(snapshot, some)
        last = before_of(some[-1]["checkpoint"]) if some else None
        # A server that gives the same page again would be asked without end.
        is_end = len(some) < self.size or last == self._before
        self._left = 0 if is_end else self._left - len(some)
        self._before = last


def before_of(checkpoint: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A checkpoint as the API names it, and also as `langgraph dev` looks it up."""
    return {**checkpoint, "configurable": {**checkpoint}} if checkpoint else None


def _task(task: Mapping[str, Any]) -> PregelTask:
    inner = task.get("state")
    return PregelTask(
        id=task["id"],
        name=task["name"],
        path=as_tuples(task.get("path") or ()),
        error=error_of(task["error"]),
        interrupts=interrupts_of(task["interrupts"]),
        state=snapshot(inner) if inner else as_config(task["checkpoint"]),
        result=revive(task.get("result")),
    )
