"""What a node returned, compared with what its task was given and what tasks beside it wrote."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from langchain_core.messages import BaseMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langgraph_once.stream.part.annotation import Source
from langgraph_once.stream.part.messages_within import Found
from langgraph_once.stream.part.namespace import PerGraph, lineage, task_order
from langgraph_once.stream.running.attempts import Meta, Task

__all__ = ["ConcurrentWrites", "TaskWrite", "dropped", "known_first"]


class TaskWrite(NamedTuple):
    """A message that a task returned."""

    task: Task
    meta: Meta
    message: BaseMessage
    source: Source
    is_changed: bool = True
    """Whether it is other than what the task was given."""

    is_listed: bool = False
    """Whether it is in a list that keeps one message for each id."""


class ConcurrentWrites:
    """The tasks of one step that write messages of one id into one list, which keeps the last.

    The last is not who is done last: upstream applies what the tasks of a step wrote in the
    order of their paths (langgraph 1.2.24, `apply_writes` in langgraph/pregel/_algo.py).
    """

    def __init__(self) -> None:
        self._steps: PerGraph[tuple[int, dict[str, TaskWrite]]] = PerGraph()

    def keep(self, written: TaskWrite) -> tuple[TaskWrite | None, bool]:
        """Note what a task writes into a list.

        Returns:
            What a task beside it wrote under this id, if one did, and not both wrote what was
            there; and whether the list keeps this one all the same.
        """
        task, (_, metadata), message, _, is_changed, _ = written
        graph, step = lineage(task.ns)[:-1], metadata.get("langgraph_step", -1)
        known_step, known = self._steps.get(graph, (None, {}))
        if known_step != step:
            known = {}
            self._steps.note(graph, (step, known))
        before = known.get(str(message.id))
        wins = before is None or task_order(metadata) >= task_order(before.meta[1])
        if wins:
            known[str(message.id)] = written
        if before is None or before.task.ns == task.ns or not (is_changed or before.is_changed):
            return None, wins
        return before, wins


def known_first(
    messages: list[BaseMessage], task: Task, was_hidden: Callable[[str], bool]
) -> list[BaseMessage]:
    """Those that this task has said first, so that no other is taken for their copy.

    Args:
        messages: What it returned.
        task: The task.
        was_hidden: Whether it had said the message of an id before it was resumed, unheard.
    """
    known = {said.id for said in list(task.said.values())} | task.runs.keys()  # others may say
    return sorted(messages, key=lambda m: str(m.id) not in known and not was_hidden(str(m.id)))


def dropped(found: Found, task: Task) -> list[str]:
    """The ids that the node was given and that are in no list it replaced or cleared."""
    kept = found.replaced.copy()
    for at, message in enumerate(found.messages):
        if isinstance(message, RemoveMessage) and message.id == REMOVE_ALL_MESSAGES:
            keys = {key for *_, key in task.given.named.values()} - kept.keys()
            kept |= dict.fromkeys(keys, found.messages[at + 1 :])
    ids = {key: {str(message.id) for message in messages} for key, messages in kept.items()}
    return [
        message_id
        for message_id, (*_, key) in task.given.named.items()
        if key in ids and message_id not in ids[key]
    ]
