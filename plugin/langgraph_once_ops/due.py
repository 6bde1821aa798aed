"""What a checkpoint says is due. It needs no graph: names of channels tell the nodes they start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME, TASKS
from langgraph.constants import START
from langgraph.types import Send

from langgraph_once.config import ThreadStatus

_SENT = "pending_sends"
_FAILED = ERROR.rstrip("_")
"""Beside the error, the node that it is of may be noted."""
_NAMES_TARGETS = 3
"""From this version of checkpoints on, channels of edges are named for the nodes they lead to."""
_NO_TASK = "00000000-0000-0000-0000-000000000000"
"""Upstream's `NULL_TASK_ID` (langgraph 1.2.24, _internal/_constants.py): it stands for the task of
what a `Command` of the caller writes, as its `resume`."""


@dataclass(slots=True)
class Due:
    """What would be run next by the graph that wrote a checkpoint.

    Attributes:
        nodes: Those that an edge started; of an input that nobody has read, `START`.
        sends: Those that a `Send` names.
        later: Those that wait for others, or for the end of the step, with what starts them.
        ended: Those that ended last, in a checkpoint before version 3, if nobody has gone on from
            them before: only the graph knows where their edges lead.
    """

    nodes: set[str] = field(default_factory=set)
    sends: set[str] = field(default_factory=set)
    later: set[tuple[str, str]] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)

    @property
    def all(self) -> set[str]:
        """Nodes and sends."""
        return self.nodes | self.sends

    def __bool__(self) -> bool:
        return bool(self.nodes or self.sends)


def due_in(checkpoint: Mapping[str, Any], writes: Iterable[tuple[str, str, Any]]) -> Due:
    """Return what is due by the rules of `prepare_next_tasks` (langgraph 1.2.24).

    Args:
        checkpoint: The checkpoint.
        writes: What tasks of its step have written since.
    """
    due = Due()
    values, seen = checkpoint["channel_values"], checkpoint["versions_seen"]
    for channel, version in checkpoint["channel_versions"].items():
        if channel not in values:
            continue
        if channel == START and all(_is_newer(version, each.get(START)) for each in seen.values()):
            due.nodes.add(START)
        if is_node_channel(channel, values[channel], checkpoint):
            _add_readers(due, channel, version, seen)
        node = _started(channel)
        if node is None or not _is_newer(version, seen.get(node, {}).get(channel)):
            continue
        ready = _is_ready(channel, values[channel])
        if ready:
            due.nodes.add(node)
        elif ready is not None:
            due.later.add((channel, node))
    due.sends = {each.node for each in sends_in(checkpoint)}
    for _, channel, value in writes:
        node = value.node if isinstance(value, Send) else _started(channel)
        if node is not None:
            due.later.add((channel, node))
    return due


def status_of(head: CheckpointTuple) -> ThreadStatus:
    """How a thread stands, as its newest checkpoint and the writes on that say."""
    writes = head.pending_writes or ()
    tasks = task_states(writes)
    if tasks.waiting:
        return "interrupted"
    if tasks.failed:
        return "error"
    return "unfinished" if due_in(head.checkpoint, writes) else "idle"


class TaskStates(NamedTuple):
    """The ids of the tasks of a step, by how they stand.

    Attributes:
        waiting: They wait for an answer.
        done: They gave something.
        failed: They failed, and did not succeed later.
    """

    waiting: set[str]
    done: set[str]
    failed: set[str]


def task_states(writes: Iterable[tuple[str, str, Any]]) -> TaskStates:
    """How the tasks of a step stand, as their writes say."""
    writes = [*writes]
    own = [each for each in writes if each[0] != _NO_TASK]
    done = {task for task, channel, _ in own if not is_note(channel)}
    waiting = {task for task, channel, _ in own if channel == INTERRUPT}
    failed = {task for task, channel, _ in writes if channel == ERROR}
    return TaskStates(waiting - done, done, failed - done)


def is_note(channel: str) -> bool:
    """Whether a write tells how a task stands, and is nothing that it gave."""
    return channel in (INTERRUPT, RESUME) or channel.startswith(_FAILED)


def is_internal(channel: str) -> bool:
    """Whether a channel is LangGraph's own, in this or an older form."""
    return channel.startswith(("branch:", "join:", "start:", "__"))


def is_node_channel(channel: str, value: Any, checkpoint: Mapping[str, Any]) -> bool:
    """Whether a channel only says that a node ended, whose name it has, as before version 3."""
    is_old = checkpoint.get("v", _NAMES_TARGETS) < _NAMES_TARGETS
    return is_old and isinstance(value, str) and value == channel


def sends_in(checkpoint: Mapping[str, Any]) -> list[Send]:
    """What a checkpoint sends to nodes; before version 4 it stood outside of the channels."""
    sent = checkpoint["channel_values"].get(TASKS)
    return [*_sends(sent), *_sends(checkpoint.get(_SENT))]


def _add_readers(
    due: Due, channel: str, version: Any, seen: Mapping[str, Mapping[str, Any]]
) -> None:
    """Add who goes on from the channel of a node that ended."""
    readers = {
        name: each[channel]
        for name, each in seen.items()
        if channel in each and not name.startswith("__")
    }
    due.nodes |= {name for name, before in readers.items() if _is_newer(version, before)}
    if not readers:
        due.ended.add(channel)


def _started(channel: str) -> str | None:
    """The node that a channel starts; `start:…` and four parts are of checkpoints before v3."""
    kind, _, rest = channel.partition(":")
    return rest.rpartition(":")[2] if rest and kind in ("branch", "join", "start") else None


def _is_newer(version: Any, seen: Any) -> bool:
    return seen is None or bool(version > seen)


def _is_ready(channel: str, value: Any) -> bool | None:
    """Whether a channel starts its node; None if it is empty."""
    value, finished = _of_deferred(value)
    starts = join_starts(channel)
    if not starts:
        return finished
    if not value:
        return None
    return finished and starts == {*value}


def join_starts(channel: str) -> set[str]:
    """The nodes that a join waits for, by the name of its channel; none if it is of no join."""
    kind, _, rest = channel.partition(":")
    return {*rest.rpartition(":")[0].split("+")} if kind == "join" else set()


def join_marks(value: Any) -> set[str]:
    """The nodes before a join that have run, as its channel holds them."""
    return {*_of_deferred(value)[0]}


def _of_deferred(value: Any) -> tuple[Any, bool]:
    """What a channel of a node holds, and whether it is final: that of a deferred one says so."""
    match value:
        case (inner, bool(finished)):
            return inner, finished
    return value, True


def _sends(value: Any) -> list[Send]:
    # A `Topic` once stored what it had seen, too (langgraph 1.2.24, channels/topic.py, reads it).
    if isinstance(value, tuple) and len(value) == 2:
        value = value[1]
    return [each for each in value or () if isinstance(each, Send)]
