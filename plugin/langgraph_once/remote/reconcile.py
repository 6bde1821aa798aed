"""What do the checkpoints of a run hold that its stream did not send? That repairs a cut. No I/O.

Each checkpoint holds what the tasks after it wrote. So each message is known with its task. It goes
to the deduplicator as if the stream had sent it; what of it is new is decided there.

Of a thread those checkpoints count that the run wrote, and for a run that goes on from a
checkpoint two more kinds: the one that it went on from, whose tasks are its first; and those that
an earlier run wrote since. After SIGKILL, `langgraph dev` 0.16 forgets runs of the last ten
seconds. If an earlier run of the thread was noted as running, the server runs that one again, and
with the stored resume it finishes the thread under its own id.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, pairwise, takewhile
from typing import Any, Final
from uuid import UUID
from zlib import crc32

import orjson
from langchain_core.messages import BaseMessage, BaseMessageChunk, RemoveMessage

from langgraph_once.remote.shapes import local_parts
from langgraph_once.stream import (
    INTERRUPT_KEY,
    TASK_NS_KEY,
    Part,
    found_in_input,
    found_in_update,
    revive,
)

INPUT_NODE: Final = "__start__"
MESSAGES: Final = frozenset({"messages", "messages-tuple"})

State = Mapping[str, Any]


@dataclass(slots=True, kw_only=True)
class Delivered:
    """What a run has sent so far, as far as its checkpoints will be compared with it."""

    updates: set[int] = field(default_factory=set)
    """The checksums of the updates of the root graph."""

    messages: dict[str, dict[str, bool]] = field(default_factory=dict)
    """For each task of the root graph the ids of its messages, and whether their end has come."""

    last_id: str | None = None
    """The id of the message that was noted last. Its other tokens need no note but the last."""

    thread_id: str | None = None
    """The thread that the messages name in their metadata."""

    def note(self, message: BaseMessage, meta: Mapping[str, Any]) -> None:
        """Note which task of the root graph sent a message, and whether its end has come."""
        if message.id != self.last_id:
            self.last_id = message.id
            self.thread_id = self.thread_id or meta.get("thread_id")
            task = str(meta.get(TASK_NS_KEY) or "").partition("|")[0]
            if task and message.id and message.type != "remove":
                is_whole = not isinstance(message, BaseMessageChunk)
                self.messages.setdefault(task, {}).setdefault(message.id, is_whole)
        if getattr(message, "chunk_position", None) == "last":
            for sent in self.messages.values():
                if message.id in sent:
                    sent[message.id] = True


def failure(states: Sequence[State], status: str) -> Mapping[str, Any]:
    """What a run failed with, as its stream says it, as far as its last checkpoint tells."""
    tasks = [task for state in states[:1] for task in state.get("tasks") or ()]
    error = next((task["error"] for task in tasks if task.get("error")), "the run failed")
    return error if isinstance(error, Mapping) else {"error": status, "message": str(error)}


def lost_parts(
    states: Sequence[State],
    modes: AbstractSet[str],
    delivered: Delivered,
    *,
    run_id: str | None = None,
    is_whole: bool = True,
) -> Iterator[Part]:
    """What the tasks of a run wrote, less what is known to be sent, and the last state.

    Args:
        states: The checkpoints of the run as the server gives them, newest first.
        modes: The modes that the run streams.
        delivered: What it sent.
        run_id: The run; None if not known.
        is_whole: The checkpoints reach back to where the run began.
    """
    if not states:
        return
    void = void_tasks(states, delivered.messages) if is_whole else ()
    for task in chain(void, repeated_tasks(states, delivered.messages, run_id)):
        for message_id in delivered.messages[task]:
            yield _removal(message_id, {TASK_NS_KEY: task})
    if modes & MESSAGES:
        yield from _messages(states, delivered)
    if "updates" in modes:
        for update in _updates(states):
            # Updates have no ids. A server writes an equal one with equal bytes.
            if _check("updates", update) not in delivered.updates:
                yield from local_parts(("updates", update, None))
    if "values" in modes:
        waiting = states[0].get("interrupts")
        values: Any = states[0].get("values")
        if waiting and isinstance(values, dict):
            values = {**values, INTERRUPT_KEY: waiting}
        yield from local_parts(("values", values, None))


def void_tasks(states: Sequence[State], senders: Iterable[str]) -> Iterator[str]:
    """The tasks that a run began and the thread knows nothing of.

    A server that starts anew goes on from the last checkpoint. What came after it is done again,
    by tasks with other ids. Or it begins an earlier run of the thread again, from its input; then
    nobody goes on with the tasks of the step before that. This can only be told if all
    checkpoints of the run are there.

    Args:
        states: The checkpoints of the run, newest first.
        senders: The tasks of the root graph that sent a message.
    """
    steps: list[Any] = [_meta_of(state).get("step") for state in states]
    # A step that is missing may hold the task: nothing is taken back on a guess.
    if None in steps or steps != [*range(steps[0], steps[-1] - 1, -1)]:
        return
    after = [None, *(_meta_of(state).get("source") for state in states)]
    known = {
        _name(task)
        for state, next_source in zip(states, after, strict=False)
        for task in state.get("tasks") or ()
        if next_source != "input" or task.get("result")
    }
    yield from (task for task in senders if task not in known)


def repeated_tasks(
    states: Sequence[State], sent: Mapping[str, Collection[str]], run_id: str | None
) -> Iterator[str]:
    """The tasks that a run began, and that another run has done from their start.

    A run that is killed amid a task has written nothing of it down. `RunHistory` says who then
    goes on: an earlier run of the thread, whose task has the same id. What that returned has none
    of the ids that were sent.

    Args:
        states: The checkpoints, newest first.
        sent: For each task of the root graph the ids of the messages that the run sent.
        run_id: The run; None if not known.
    """
    for after, state in pairwise(states):
        if (
            run_of(after) in (None, run_id)
            or parent_of(after) != state["checkpoint"]["checkpoint_id"]
        ):
            continue
        returned: defaultdict[str, set[str | None]] = defaultdict(set)
        for task, message in _returned(state):
            returned[_name(task)].add(message.id)
        for name, ids in returned.items():
            if (came := sent.get(name)) and ids.isdisjoint(came):
                yield name


def parent_of(state: State) -> str | None:
    """The id of the checkpoint before one."""
    found: str | None = (state.get("parent_checkpoint") or {}).get("checkpoint_id")
    return found


def run_of(state: State) -> str | None:
    """The run that wrote a checkpoint."""
    found: str | None = _meta_of(state).get("run_id")
    return found


def _meta_of(state: State) -> Mapping[str, Any]:
    return state.get("metadata") or {}


def _messages(states: Sequence[State], delivered: Delivered) -> Iterator[Part]:
    """The messages that tasks wrote, each as its last writer wrote it, or gone if it is gone."""
    written: dict[str, Part] = {}
    for state in reversed(states):
        for task, message in _returned(state):
            written[str(message.id)] = Part((), "messages", message, _meta(state, task))
    left = {m.id for m in _left(states[0])}
    for message_id, part in written.items():
        sent = delivered.messages.get(part.meta[TASK_NS_KEY])
        if message_id in left:
            # Half a message, of which the task may have returned this whole under another id.
            for sent_id, is_whole in (sent or {}).items():
                if not is_whole and sent_id not in written:
                    yield _removal(sent_id, part.meta)
            yield part
        elif sent is not None:
            yield _removal(message_id, part.meta)


def _returned(state: State) -> Iterator[tuple[Mapping[str, Any], BaseMessage]]:
    """Each task with each message of its result that it was not given.

    A node may return the whole list that it was given.
    """
    before = {m.id: m for _, m in found_in_input(revive(state.get("values")))}
    for task in _tasks(state):
        for message in found_in_update(revive(task["result"])).messages:
            if message.id and message != before.get(message.id):
                yield task, message


def _removal(message_id: str, meta: Mapping[str, Any]) -> Part:
    return Part((), "messages", RemoveMessage(id=message_id), meta)


def _left(state: State) -> Iterator[BaseMessage]:
    """The messages in a state, and those of tasks whose step has not ended."""
    for _, message in found_in_input(revive(state.get("values"))):
        yield message
    for task in _tasks(state):
        yield from found_in_update(revive(task["result"])).messages


def _updates(states: Sequence[State]) -> Iterator[Mapping[str, Any]]:
    for state in reversed(states):
        for task in _tasks(state):
            yield {task["name"]: task["result"]}
    if waiting := states[0].get("interrupts"):
        yield {INTERRUPT_KEY: waiting}


def _tasks(state: State) -> Iterable[Mapping[str, Any]]:
    for task in state.get("tasks") or ():
        if task.get("name") != INPUT_NODE and task.get("result"):
            yield task


def _meta(state: State, task: Mapping[str, Any]) -> dict[str, Any]:
    step = _meta_of(state).get("step")
    return {
        TASK_NS_KEY: _name(task),
        "langgraph_node": task["name"],
        **({"langgraph_step": step + 1} if isinstance(step, int) else {}),
    }


def _name(task: Mapping[str, Any]) -> str:
    return f"{task['name']}:{task['id']}"


def _check(event: str, data: Any) -> int:
    """What `Frame.check` is of an event as the server writes it."""
    return crc32(b"data: " + orjson.dumps(data), crc32(b"event: " + event.encode()))


CHECKPOINTS_PER_PAGE: Final = 20
"""How many checkpoints to ask for at once. Most runs have fewer, and each holds a whole state."""


def goes_on(given: Mapping[str, Any]) -> bool:
    """Whether a run that is given this input or command goes on from a checkpoint, and no more."""
    command = given.get("command") or {}
    if command.get("resume") is not None:
        return True
    return given.get("input") is None and not (command.get("update") or command.get("goto"))


class RunHistory:
    """The part of a thread's history that is about one run.

    Args:
        run_id: The run.
        goes_on: The run was given no input. An input that no checkpoint holds is lost, whoever ran
            since.
    """

    def __init__(self, run_id: str | None, *, goes_on: bool) -> None:
        self._run_id = run_id
        made_s = _made_s(run_id)
        self._is_wider = goes_on and made_s < math.inf
        self._begun_s = made_s if self._is_wider else -math.inf  # nothing is older

    def asked(self, thread_id: str) -> dict[str, Any]:
        """What `client.threads.get_history` is to be asked for."""
        of_run = {} if self._is_wider else {"metadata": {"run_id": self._run_id}}
        return {"thread_id": thread_id, "limit": CHECKPOINTS_PER_PAGE, **of_run}

    def is_last(self, page: Sequence[State]) -> bool:
        """Whether no other page need be asked for after this one."""
        return len(page) < CHECKPOINTS_PER_PAGE or self.is_whole(page)

    def of_run(self, states: Sequence[State]) -> list[State]:
        """Of the checkpoints of the thread those that are about the run, newest first."""
        if not self._is_wider:
            return [*states]
        since = takewhile(lambda state: not self._is_before(state), states)
        found = [state for state in since if self.is_of_run_or_older(run_of(state))]
        if not found:
            return [*states[:1]] if states and self._is_before(states[0]) else []
        base = parent_of(found[-1])
        return found + [s for s in states if s["checkpoint"]["checkpoint_id"] == base][:1]

    def is_whole(self, states: Sequence[State]) -> bool:
        """Whether these reach back to where the run began: to its input, or before it was made."""
        if self._is_wider:
            return any(map(self._is_before, states))
        return any((state.get("metadata") or {}).get("source") == "input" for state in states)

    def is_complete(self, states: Sequence[State]) -> bool:
        """Whether the newest of these leaves nothing to do but to wait for an answer."""
        if not states or self._is_before(states[0]):
            return False
        if not states[0].get("next"):
            return True
        left = [task for task in states[0].get("tasks") or () if not task.get("result")]
        return bool(left) and all(task.get("interrupts") for task in left)

    def is_of_run_or_older(self, run_id: str | None) -> bool:
        """Whether an id is that of the run, or of one made before it."""
        return run_id == self._run_id or _made_s(run_id) < self._begun_s

    def _is_before(self, state: State) -> bool:
        """Whether a checkpoint was there before a run that goes on was made."""
        made = state.get("created_at")
        if not isinstance(made, str) or run_of(state) == self._run_id:
            return False
        return datetime.fromisoformat(made).timestamp() < self._begun_s


def _made_s(run_id: str | None) -> float:
    """When a run was made: LangGraph's servers name runs by UUIDs of version 7.

    Infinity, as if it were yet to come, where the id does not tell.
    """
    try:
        made = UUID(run_id or "")
    except ValueError:
        return math.inf
    return (made.int >> 80) / 1000 if made.version == 7 else math.inf
