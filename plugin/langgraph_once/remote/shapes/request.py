"""The request for a run: arguments of `stream` as arguments of `client.runs.stream`."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from langchain_core.messages import BaseMessage, BaseMessageChunk, message_chunk_to_message
from langgraph.types import Command, Send
from pydantic import BaseModel

from langgraph_once.stream.part.from_json import MESSAGE_KEYS
from langgraph_once.stream.part.messages_within import found_in_input

__all__ = ["INNER_PREFIX", "checkpoint_of", "sent", "stepped", "wire_mode", "wire_modes"]

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
