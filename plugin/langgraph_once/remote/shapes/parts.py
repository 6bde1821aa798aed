"""An event of a run, from JSON, as the part that a local graph would stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from langgraph.errors import ParentCommand
from langgraph.pregel.remote import RemoteException
from langgraph.types import Command, Send

from langgraph_once.errors import StreamError
from langgraph_once.remote.shapes.snapshots import as_config, as_tuples, error_of
from langgraph_once.stream import Part, sdk_part
from langgraph_once.stream.part.from_json import revive, revive_part
from langgraph_once.stream.part.shapes import INTERRUPT_KEY

__all__ = ["as_local", "local_parts", "put_tuples"]

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
        meta = dict(part.meta)
        put_tuples(meta)
        return part._replace(meta=meta)
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
        goto=[_target(target) for target in (goto if isinstance(goto, list) else [goto])],
    )


def _pair(item: Any) -> tuple[Any, ...] | None:
    """A list of a text and another item as the pair that it was: JSON has lists for pairs."""
    match item:
        case [str(), _]:
            return tuple(item)
    return None


def _target(target: Any) -> Any:
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
