"""What agents put values into: containers, messages, documents, commands, fields typed `Any`."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.types import Command, Interrupt, Overwrite, Send

from tests.unit_tests.serde.fidelity import kinds as k, model_kinds as m
from tests.unit_tests.serde.law import classes as c
from tests.unit_tests.serde.law.drawn import word


def _tool_call(value: Any, r: Random) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": "f", "args": {"a": value}, "id": "1"}])


def _private(value: Any, r: Random) -> c.Private:
    made = c.Private(name=word(r))
    made._cache["a"] = value
    return made


def _state(value: Any, r: Random) -> dict[str, Any]:
    return {"messages": [AIMessage(word(r), id="1")], "step": 3, word(r): value, "done": False}


WRAPPERS: Final[dict[str, Callable[[Any, Random], Any]]] = {
    "additional_kwargs": lambda value, r: AIMessage(word(r), additional_kwargs={"a": value}),
    "artifact": lambda value, r: ToolMessage(word(r), tool_call_id="c", artifact=value),
    "attrs class": lambda value, r: c.Point(1, value),
    "Command.resume": lambda value, r: Command(resume=value),
    "Command.update": lambda value, r: Command(goto="a", update={"x": value}),
    "dataclass": lambda value, r: c.Simple(word(r), value),
    "dict": lambda value, r: {word(r): value, "other": 1},
    "dict with keys that are numbers": lambda value, r: {1: value, 2: word(r)},
    "Interrupt.value": lambda value, r: Interrupt(value, id="i"),
    "list": lambda value, r: [word(r), value],
    "metadata": lambda value, r: Document(word(r), metadata={"a": value}),
    "namedtuple": lambda value, r: k.Point(1, value),
    "Overwrite": lambda value, r: Overwrite([value]),
    "private attribute": _private,
    "pydantic": lambda value, r: c.Anything(value=value),
    "pydantic 1": lambda value, r: c.OldAnything(value=value),
    "pydantic, extra field": lambda value, r: m.Open.model_validate(
        {"name": word(r), "more": value}
    ),
    "Send.arg": lambda value, r: Send(word(r), {"x": value}),
    "state": _state,
    "tool call": _tool_call,
    "tuple": lambda value, r: (word(r), value),
}
