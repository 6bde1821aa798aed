"""The server's JSON to objects of a local graph, and back. No I/O.

A thread as state snapshots; an event of a run as the part that a local graph would stream; the
arguments of `stream` as those of `client.runs.stream`; and the parts of a run folded, as `invoke`
gives them.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, cast

from langchain_core.messages import BaseMessage, BaseMessageChunk, message_chunk_to_message
from langchain_core.runnables import RunnableConfig
from langgraph.errors import ParentCommand
from langgraph.pregel.remote import RemoteException
from langgraph.types import Command, GraphOutput, Interrupt, PregelTask, Send, StateSnapshot
from pydantic import BaseModel

from langgraph_once.errors import StreamError
from langgraph_once.stream import (
    INTERRUPT_KEY,
    MESSAGE_KEYS,
    Part,
    StreamModes,
    Version,
    found_in_input,
    mode_set,
    revive,
    revive_part,
    sdk_part,
    writer,
)

STATES_PER_PAGE = 100
"""How many states are asked for at a time."""


def snapshot(state: Mapping[str, Any]) -> StateSnapshot:
    """A `ThreadState` of the server as the snapshot that a local graph gives."""
    tasks = tuple(map(_pregel_task, state["tasks"]))
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


def _pregel_task(task: Mapping[str, Any]) -> PregelTask:
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


SERVER_KEYS = frozenset({"checkpoint", "parent_checkpoint"})
SERVER_PREFIXES = ("__", "langgraph_")
"""Keys of a config that are the server's own; it refuses a config that has them."""

TUPLES = ("langgraph_path", "langgraph_triggers")
"""Keys of the metadata of a message whose values are tuples."""

ROLES = frozenset({"ai", "assistant", "developer", "human", "system", "user"})
"""The first half of a message that is written as a pair."""


def local_parts(event: Any) -> Iterator[Part]:
    """The part in an event of `client.runs.stream`, if there is one.

    Raises:
        RemoteException: The run failed.
        ParentCommand: The run hands over to the graph around it.
        StreamError: No server writes events of this shape.
    """
    part = sdk_part(event)
    if part is None:
        return
    if part.mode == "error":
        raise _error(part.data)
    try:
        if part.mode == "command":
            raise ParentCommand(_command(part.data))
        local = as_local(part)
    except (AttributeError, KeyError, TypeError) as error:
        raise StreamError(f"an event {part.mode!r} is not as servers say it") from error
    yield local


def as_local(part: Part) -> Part:
    """A part of JSON as a local graph streams it."""
    part = revive_part(part)
    if part.mode == "messages":
        # The tokens of a model run bear one object; so does its last chunk, read in another way.
        if any(type(part.meta.get(key)) is list for key in TUPLES):
            meta = dict(part.meta)
            put_tuples(meta)
            return part._replace(meta=meta)
        return part
    if part.mode == "values" and isinstance(part.data, dict) and INTERRUPT_KEY in part.data:
        state = {**part.data}  # apart from the interrupts that come with it, as in v2
        return part._replace(data=state, meta={"interrupts": state.pop(INTERRUPT_KEY)})
    shape = SHAPES.get(part.mode)
    return part if shape is None else part._replace(data=shape(part.data))


def put_tuples(meta: dict[str, Any]) -> None:
    """Turn lists in the metadata of a message into the tuples that a local graph has there."""
    for key in TUPLES:
        if type(value := meta.get(key)) is list:
            meta[key] = as_tuples(value)


def _error(data: Any) -> Exception:
    """The error of a run; one that hands over to a parent names its command in it."""
    match data:
        case {"command": Mapping() as command}:
            return ParentCommand(_command(command))
    return RemoteException(data)


def _command(data: Mapping[str, Any]) -> Command[Any]:
    goto, update = data.get("goto") or [], revive(data.get("update"))
    if isinstance(update, list) and all(map(_pair, update)):
        update = [*map(tuple, update)]
    return Command(
        graph=Command.PARENT,
        update=update,
        resume=revive(data.get("resume")),
        goto=[_goto(target) for target in (goto if isinstance(goto, list) else [goto])],
    )


def _pair(item: Any) -> tuple[Any, ...] | None:
    """A list of a text and another item as the pair that it was: JSON has lists for pairs."""
    match item:
        case [str(), _]:
            return tuple(item)
    return None


def _goto(target: Any) -> Any:
    if not isinstance(target, Mapping):
        return target
    return Send(target["node"], revive(target.get("input", target.get("args"))))


def _of_mapping(shape: Callable[[Mapping[str, Any]], Any]) -> Callable[[Any], Any]:
    """A function that leaves alone what is no mapping."""
    return lambda value: shape(value) if isinstance(value, Mapping) else value


@_of_mapping
def _checkpoint(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A checkpoint without what the server adds, and with its tasks as a graph has them."""
    local = {key: value for key, value in payload.items() if key not in SERVER_KEYS}
    local["tasks"] = [_checkpoint_task(task) for task in payload.get("tasks", ())]
    for key in ("config", "parent_config"):
        if local.get(key):
            named = local[key]["configurable"].items()
            own = {key: value for key, value in named if not key.startswith(SERVER_PREFIXES)}
            local[key] = {"configurable": own}
    return local


def _checkpoint_task(task: Mapping[str, Any]) -> dict[str, Any]:
    local: dict[str, Any] = {**_task(task)}
    if "interrupts" in local:
        local["interrupts"] = tuple(local["interrupts"])
    if "checkpoint" in local:
        local["state"] = as_config(local.pop("checkpoint"))
    return local


@_of_mapping
def _task(payload: Mapping[str, Any]) -> dict[str, Any]:
    made = {key: make(payload[key]) for key, make in TASK_FIELDS.items() if key in payload}
    return {**payload, **made}


@_of_mapping
def _debug(event: Mapping[str, Any]) -> dict[str, Any]:
    shape = _checkpoint if event.get("type") == "checkpoint" else _task
    return {**event, "payload": shape(event.get("payload"))}


@_of_mapping
def _updates(data: Mapping[str, Any]) -> dict[str, Any]:
    """Updates, with messages that a node wrote as pairs; JSON has lists of two for them."""
    return {node: _paired(update) for node, update in data.items()}


def _paired(update: Any) -> Any:
    if isinstance(update, list):  # of commands
        return [_paired(item) for item in update]
    match update:
        case {"messages": list() as messages}:
            pairs = [_role_pair(item) or item for item in messages]
            return {**update, "messages": _role_pair(messages) or pairs}
    return update


def _role_pair(item: Any) -> tuple[Any, ...] | None:
    """A list of a role and a text as the pair that it was."""
    pair = _pair(item)
    return pair if pair and pair[0] in ROLES else None


TASK_FIELDS: Mapping[str, Callable[[Any], Any]] = {"error": error_of, "triggers": as_tuples}
SHAPES = {"updates": _updates, "checkpoints": _checkpoint, "debug": _debug, "tasks": _task}


INNER_PREFIX = "__pregel_"
"""Keys of a config that a running graph uses for itself; they mean nothing elsewhere."""

CHECKPOINT_KEYS = ("thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint_map")


def wire_modes(modes: Collection[str]) -> list[str]:
    """The modes as the server names them.

    `updates` is always among them. Without it the server tells an interrupt by an extra `values`
    event, which no local graph streams.
    """
    return sorted(({*map(wire_mode, modes)} | {"updates"}) - {"events"})


def wire_mode(mode: str) -> str:
    """A mode as the server names it. The server's own `messages` has another form."""
    return "messages-tuple" if mode == "messages" else mode


def stepped(input: Any) -> dict[str, Any]:
    """The input of a run, or the command in its place."""
    if not isinstance(input, Command):
        return {"input": sent(input)}
    goto = input.goto if isinstance(input.goto, list | tuple) else [input.goto]
    return {
        "command": {
            "update": sent(input.update),
            "resume": sent(input.resume),
            "goto": [_target(target) for target in goto],
        }
    }


def sent(value: Any) -> Any:
    """A value, with its messages in the form that the server reads best.

    The server reads a message with `convert_to_messages`. That function refuses chunks, and takes
    every field that it does not know, even an empty one, for an additional argument. The keys by
    which `revive` knows a message stay, because the server sends the input back.
    """
    if isinstance(value, BaseMessageChunk):
        value = message_chunk_to_message(value)
    if isinstance(value, BaseMessage):
        dumped = value.model_dump().items()
        return {key: item for key, item in dumped if item or key in MESSAGE_KEYS}
    if isinstance(value, dict):
        return {key: sent(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset | deque):
        return [sent(item) for item in value]
    if isinstance(value, type):
        return value
    if isinstance(value, BaseModel):
        plain = value.model_dump()
        held = {key: sent(item) for key, item in value if key in plain and _holds_messages(item)}
        return {**plain, **held}
    if is_dataclass(value) and _holds_messages(value):
        return {field.name: sent(getattr(value, field.name)) for field in fields(value)}
    return value


def _holds_messages(value: Any) -> bool:
    return any(True for _ in found_in_input({"": value}))


def _target(target: Any) -> Any:
    return {"node": target.node, "input": sent(target.arg)} if isinstance(target, Send) else target


def checkpoint_of(configurable: Mapping[str, Any]) -> dict[str, Any]:
    """The checkpoint that a run is to start from; empty if the config names none."""
    if not configurable.get("checkpoint_id"):
        return {}
    return {key: configurable[key] for key in CHECKPOINT_KEYS if key in configurable}


class Result:
    """Folds a run.

    Args:
        stream_mode: `values` for the last state; any other, or a list, for all chunks.
        subgraphs: Whether chunks of the graphs inside are among them.
        version: Shape of the chunks.
    """

    def __init__(self, stream_mode: StreamModes, subgraphs: bool, version: Version) -> None:
        self._is_state = stream_mode == "values"
        self._version = version
        self.modes = frozenset({"updates", "values"}) if self._is_state else mode_set(stream_mode)
        self._write = writer(stream_mode, subgraphs=subgraphs, version=version)
        self._chunks: list[Any] = []
        self._state: Any = None
        self._interrupts: list[Interrupt] = []

    def feed(self, part: Part) -> None:
        """Take the next part."""
        if not self._is_state:
            self._chunks.append(self._write(part))
        elif part.mode == "values":
            self._state = part.data
            if self._version == "v2":
                self._interrupts += part.interrupts or ()
        elif self._version == "v1":
            self._interrupts += part.interrupts or ()

    def close(self) -> Any:
        """What the run came to."""
        if not self._is_state:
            return self._chunks
        if self._version == "v2":
            return GraphOutput(value=self._state, interrupts=tuple(self._interrupts))
        if not self._interrupts:
            return self._state
        state = self._state if isinstance(self._state, dict) else {}
        return {**state, INTERRUPT_KEY: self._interrupts}
