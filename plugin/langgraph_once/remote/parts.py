"""Server-sent events as the parts that a local graph streams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from langgraph.errors import ParentCommand
from langgraph.pregel.remote import RemoteException
from langgraph.types import Command, Send

from langgraph_once.errors import StreamError
from langgraph_once.remote.state import as_config, as_tuples, error_of
from langgraph_once.stream import Part, sdk_part
from langgraph_once.stream.part.envelope import INTERRUPT_KEY
from langgraph_once.stream.part.from_json import revive, revive_part
from langgraph_once.stream.part.messages_within import DEFAULT_KEY

__all__ = ["as_local", "local_parts", "put_tuples"]

WIRE_KEYS = frozenset({"checkpoint", "parent_checkpoint"})
SERVER_PREFIXES = ("__", "langgraph_")
"""Keys of a config that are the server's own; it refuses a config that has them."""

TUPLES = ("langgraph_path", "langgraph_triggers")
"""Keys of the metadata of a message whose values are tuples."""

ROLES = frozenset({"ai", "assistant", "developer", "human", "system", "user"})
"""What a message that is written as a pair begins with."""

COMMAND_KEY = "command"
"""Where the error of a run that hands over to a parent tells the command, if the graph does."""


def local_parts(event: Any) -> Iterator[Part]:
    """The part that an event of `client.runs.stream` says, if it says one.

    Raises:
        RemoteException: The run failed.
        ParentCommand: The run hands over to the graph around it.
        StreamError: The event has another shape than those of a server.
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
    """A part of JSON as a local graph says it."""
    part = revive_part(part)
    if part.mode == "messages":
        meta = dict(part.meta)
        put_tuples(meta)
        return part._replace(meta=meta)
    if part.mode == "values":
        return _values(part)
    shape = SHAPES.get(part.mode)
    return part if shape is None else part._replace(data=shape(part.data))


def put_tuples(meta: dict[str, Any]) -> None:
    """Put tuples into the metadata of a message, just read, where a local graph has them."""
    for key in TUPLES:
        if type(value := meta.get(key)) is list:
            meta[key] = as_tuples(value)


def _values(part: Part) -> Part:
    """A state apart from the interrupts that come with it, as in v2."""
    if not isinstance(part.data, dict) or INTERRUPT_KEY not in part.data:
        return part
    state = {key: value for key, value in part.data.items() if key != INTERRUPT_KEY}
    return part._replace(data=state, meta={"interrupts": part.data[INTERRUPT_KEY]})


def _error(data: Any) -> Exception:
    if isinstance(data, Mapping) and isinstance(data.get(COMMAND_KEY), Mapping):
        return ParentCommand(_command(data[COMMAND_KEY]))
    return RemoteException(data)


def _command(data: Mapping[str, Any]) -> Command[Any]:
    goto = data.get("goto") or ()
    targets = goto if isinstance(goto, list) else [goto]
    return Command(
        graph=Command.PARENT,
        update=_update(revive(data.get("update"))),
        resume=revive(data.get("resume")),
        goto=[_target(target) for target in targets if target != ()],
    )


def _update(update: Any) -> Any:
    """An update of pairs is written as lists of two."""
    if isinstance(update, list) and all(_is_pair(item) for item in update):
        return [tuple(item) for item in update]
    return update


def _is_pair(item: Any) -> bool:
    return isinstance(item, list) and len(item) == 2 and isinstance(item[0], str)


def _target(target: Any) -> Any:
    if not isinstance(target, Mapping):
        return target
    arg = target["input"] if "input" in target else target.get("args")
    return Send(target["node"], revive(arg))


def _checkpoint(payload: Any) -> Any:
    """A checkpoint without what the server adds, and with its tasks as a graph says them."""
    if not isinstance(payload, Mapping):
        return payload
    said = {key: value for key, value in payload.items() if key not in WIRE_KEYS}
    said["tasks"] = [_checkpoint_task(task) for task in payload.get("tasks", ())]
    for key in ("config", "parent_config"):
        if said.get(key):
            said[key] = {"configurable": _own_keys(said[key]["configurable"])}
    return said


def _own_keys(configurable: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: value for key, value in configurable.items() if not key.startswith(SERVER_PREFIXES)
    }


def _checkpoint_task(task: Mapping[str, Any]) -> dict[str, Any]:
    said = {key: value for key, value in task.items() if key != "checkpoint"}
    if "interrupts" in said:
        said["interrupts"] = tuple(said["interrupts"])
    if "checkpoint" in task:
        said["state"] = as_config(task["checkpoint"])
    if "error" in said:
        said["error"] = error_of(said["error"])
    return said


def _task(payload: Any) -> Any:
    if not isinstance(payload, Mapping):
        return payload
    said = {**payload}
    if "error" in said:
        said["error"] = error_of(said["error"])
    if "triggers" in said:
        said["triggers"] = as_tuples(said["triggers"])
    return said


def _debug(event: Any) -> Any:
    if not isinstance(event, Mapping):
        return event
    shape = _checkpoint if event.get("type") == "checkpoint" else _task
    return {**event, "payload": shape(event.get("payload"))}


def _updates(data: Any) -> Any:
    """Updates with the messages that a node says as pairs: JSON has them as lists of two."""
    if not isinstance(data, dict):
        return data
    return {node: _paired(update) for node, update in data.items()}


def _paired(update: Any) -> Any:
    if isinstance(update, list):  # of commands
        return [_paired(item) for item in update]
    said = update.get(DEFAULT_KEY) if isinstance(update, dict) else None
    if not isinstance(said, list):
        return update
    return {**update, DEFAULT_KEY: _told(said) or [_told(item) or item for item in said]}


def _told(said: Any) -> tuple[Any, ...] | None:
    """A list of a role and a text as the pair that it was."""
    return tuple(said) if _is_pair(said) and said[0] in ROLES else None


SHAPES = {"updates": _updates, "checkpoints": _checkpoint, "debug": _debug, "tasks": _task}
