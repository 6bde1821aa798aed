"""The values that `write_upstream` stores and that the stored blobs must come back as.

Each is made on demand: old versions lack some of the classes. A name once stored stays.
"""

from __future__ import annotations

import importlib
import ipaddress
import re
import uuid
from collections import deque
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pydantic
from langchain_core import messages
from langchain_core.documents import Document

from tests.data.blobs import model

if TYPE_CHECKING:
    from collections.abc import Callable

    Makers = dict[str, Callable[[], Any]]

NOW = datetime(2025, 3, 1, 12, 30, 5, 7, tzinfo=timezone.utc)  # noqa: UP017  (as they are read back)
NOON = time(12, 1, 2, 3, fold=1)
CALL = {"name": "search", "args": {"query": "cats", "top": 3}, "id": "call_1", "type": "tool_call"}
USAGE: Any = {"input_tokens": 11, "output_tokens": 5, "total_tokens": 16}


def _module(name: str) -> Any:
    return importlib.import_module(name)


def _send(*args: Any) -> Any:
    try:
        return _module("langgraph.types").Send(*args)
    except ImportError:
        return _module("langgraph.constants").Send(*args)


def _item() -> Any:
    return _module("langgraph.store.base").Item(
        value={"a": 1}, key="k", namespace=("n", "m"), created_at=NOW, updated_at=NOW
    )


def _array(order: str) -> Any:
    numpy = _module("numpy")
    return numpy.array([[1, 2, 3], [4, 5, 6]], dtype="<i4", order=order)


PLAIN: Makers = {
    "none": lambda: None,
    "true": lambda: True,
    "int": lambda: -7,
    "int_64": lambda: 2**63,
    "float": lambda: 1.5,
    "infinity": lambda: float("inf"),
    "text": lambda: "snow ☃",
    "surrogate": lambda: {"text": "half \ud83d of a pair", "when": NOW},
    "bytes": lambda: b"\x00\xff",
    "bytearray": lambda: bytearray(b"ab"),
    "bytes_inside": lambda: {"b": b"\x00\xff", "a": bytearray(b"ab")},
    "list": lambda: [1, [2, {"a": [None, False]}], []],
    "dict": lambda: {"a": {"b": [1.0]}, "": {}},
    "tuple": lambda: (1, ("two", 3)),
    "int_keys": lambda: {1: "x", -2: "y"},
}

STANDARD: Makers = {
    "set": lambda: {1, 2},
    "frozenset": lambda: frozenset({"a"}),
    "set_of_tuples": lambda: {(1, 2)},
    "empty_set": lambda: {"s": set()},
    "deque": lambda: deque([1, [2]]),
    "datetime": lambda: NOW,
    "naive": lambda: NOW.replace(tzinfo=None),
    "zoned": lambda: NOW.replace(tzinfo=ZoneInfo("Europe/Berlin")),
    "date": lambda: date(2024, 2, 29),
    "time": lambda: NOON,
    "timedelta": lambda: timedelta(days=-1, microseconds=3),
    "timezone": lambda: timezone(timedelta(hours=2), "EET"),
    "zone": lambda: ZoneInfo("Europe/Berlin"),
    "uuid": lambda: uuid.UUID(int=7),
    "decimal": lambda: Decimal("1.50"),
    "path": lambda: Path("/srv/data/x"),
    "pattern": lambda: re.compile("a+(b)", re.IGNORECASE),
    "ipv4": lambda: ipaddress.ip_address("10.0.0.1"),
    "ipv6": lambda: ipaddress.ip_address("::1"),
    "ipv4_network": lambda: ipaddress.ip_network("10.0.0.0/8"),
    "ipv6_network": lambda: ipaddress.ip_network("2001:db8::/64"),
    "ipv4_interface": lambda: ipaddress.ip_interface("10.0.0.1/8"),
    "ipv6_interface": lambda: ipaddress.ip_interface("::1/64"),
    "exception": lambda: {"error": ValueError("no")},
    "array": lambda: _array("C"),
    "array_fortran": lambda: _array("F"),
}

MESSAGES: Makers = {
    "human": lambda: messages.HumanMessage("hi", id="1", name="ann"),
    "human_blocks": lambda: messages.HumanMessage([{"type": "text", "text": "hi"}, "there"]),
    "human_chunk": lambda: messages.HumanMessageChunk(content="hi", id="1"),
    "ai": lambda: messages.AIMessage(
        "", id="2", tool_calls=[CALL], usage_metadata=USAGE, response_metadata={"model": "m"}
    ),
    "ai_invalid_call": lambda: messages.AIMessage(
        "x",
        invalid_tool_calls=[
            {"name": "f", "args": "{", "id": "c", "error": "cut", "type": "invalid_tool_call"}
        ],
    ),
    "ai_chunk": lambda: messages.AIMessageChunk(
        content="y", id="3", tool_call_chunks=[{"name": "f", "args": '{"a', "id": "c", "index": 0}]
    ),
    "system": lambda: messages.SystemMessage("be nice", additional_kwargs={"a": {"b": 1}}),
    "system_chunk": lambda: messages.SystemMessageChunk(content="be"),
    "tool": lambda: messages.ToolMessage("ok", tool_call_id="call_1", artifact={"rows": [1]}),
    "tool_error": lambda: messages.ToolMessage("no", tool_call_id="call_1", status="error"),
    "tool_chunk": lambda: messages.ToolMessageChunk(content="o", tool_call_id="call_1"),
    "chat": lambda: messages.ChatMessage(content="x", role="judge"),
    "chat_chunk": lambda: messages.ChatMessageChunk(content="x", role="judge"),
    "function": lambda: messages.FunctionMessage(content="x", name="f"),
    "function_chunk": lambda: messages.FunctionMessageChunk(content="x", name="f"),
    "remove": lambda: messages.RemoveMessage(id="4"),
    "thread": lambda: {"messages": [messages.HumanMessage("q", id="1"), messages.AIMessage("a")]},
    "document": lambda: Document("page", metadata={"n": 1, "at": NOW}),
}

GRAPH: Makers = {
    "send": lambda: _send("node", {"a": [messages.HumanMessage("x", id="5")]}),
    "sends": lambda: [_send("a", 1), _send("b", None)],
    "send_timeout": lambda: _module("langgraph.types").Send(
        "node", 1, timeout=_module("langgraph.types").TimeoutPolicy(run_timeout=3)
    ),
    "command": lambda: _module("langgraph.types").Command(
        goto=[_send("a", 1)], update={"messages": [messages.AIMessage("x")]}, resume={"i": 1}
    ),
    "interrupt": lambda: _module("langgraph.types").Interrupt({"q": 1}, id="i"),
    "interrupt_by_namespace": lambda: _module("langgraph.types").Interrupt(
        value="ask", resumable=True, ns=["node:0b41", "inner:77"]
    ),
    "overwrite": lambda: _module("langgraph.types").Overwrite([1]),
    "delta": lambda: _module("langgraph.checkpoint.serde.types")._DeltaSnapshot({"a": {1}}),
    "item": _item,
}

OWN: Makers = {
    "enum": lambda: model.Colour.RED,
    "enum_inside": lambda: [model.Colour.RED, {"level": model.Level.HIGH}],
    "int_enum": lambda: model.Level.HIGH,
    "flag": lambda: model.Access.READ | model.Access.WRITE,
    "namedtuple": lambda: model.Point(1, [2]),
    "dataclass": lambda: model.Task("outer", model.Task("inner", {model.Colour.RED})),
    "dataclass_frozen": lambda: model.Fixed("x"),
    "pydantic": lambda: model.Profile(name="ann", tags=["a"], inner={"deep": [1, None]}),
    "pydantic_nested": lambda: model.Profile(name="ann", inner=model.Profile(name="bob")),
    "pydantic_v1": lambda: model.OldProfile(name="ann", tags=["a"]),
    "secret": lambda: pydantic.SecretStr("pst"),
}

VALUES: Makers = PLAIN | STANDARD | MESSAGES | GRAPH | OWN

ENCRYPTED = ("none", "bytes", "bytearray", "surrogate", "thread", "dataclass", "decimal")
"""Stored a second time, through `EncryptedSerializer`."""

AES_KEY = b"0123456789abcdef"
"""A test key: whatever is sealed with it is public."""
