"""Values that upstream's serializer writes, and types that only a checkpoint of a user names."""

from __future__ import annotations

import ipaddress
import re
import uuid
from collections import deque
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo

import pydantic
import pydantic.v1
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.store.base import Item
from langgraph.types import Command, Interrupt, Overwrite, Send, StateSnapshot, TimeoutPolicy

from langgraph_once.errors import SerdeError

if TYPE_CHECKING:
    from langgraph_once.serde import OnceSerializer


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


class Outer:
    class Inner(Enum):
        ONE = 1


class Point(NamedTuple):
    x: int
    y: Any


@dataclass
class Task:
    name: str
    inner: Any = None


class Profile(pydantic.BaseModel):
    name: str
    tags: list[str] = []
    net: ipaddress.IPv6Network | None = None


class Refusing(pydantic.BaseModel):
    """Does not validate from its own dump."""

    even: int

    @pydantic.field_validator("even")
    @classmethod
    def _even(cls, value: int) -> int:
        if value % 2:
            raise ValueError
        return value


class Words(pydantic.RootModel[list[str]]):
    pass


class OldModel(pydantic.v1.BaseModel):
    name: str


class Tags(deque[Any]):
    pass


def allow(*types: type) -> tuple[str, ...]:
    """Return the names of `types` as `SerdeConfig.allowed_types` wants them."""
    return tuple(f"{cls.__module__}:{cls.__qualname__}" for cls in types)


def outcome(serde: OnceSerializer, data: tuple[str, bytes]) -> Any:
    """Return what reading gives: the value, or our error."""
    try:
        return serde.loads_typed(data)
    except SerdeError as error:
        return error


OWN_TYPES = allow(Colour, Level, Point, Task, Profile, Refusing, OldModel, Tags)

NOW = datetime(2025, 3, 1, 12, 30, 5, 7, tzinfo=UTC)

SAFE_VALUES: list[Any] = [
    *(
        None,
        True,
        0,
        -1,
        2**63,
        1.5,
        float("inf"),
        "",
        "snow ☃",
        b"",
        b"\x00\xff",
        bytearray(b"ab"),
    ),
    *([], {}, [1, [2, {"a": [None]}]], {"a": {"b": [1.0]}}, {1: "x", None: "y", (1, 2): "z"}),
    *(
        NOW,
        NOW.replace(tzinfo=None),
        date(2024, 2, 29),
        time(1, 2, 3, 4, fold=1),
        time(9, tzinfo=UTC),
    ),
    *(timedelta(days=-1, microseconds=3), UTC, timezone(timedelta(hours=2), "EET")),
    *(uuid.UUID(int=7), Decimal("1.50"), Decimal("Infinity"), ZoneInfo("Europe/Berlin")),
    *(Path("/tmp/x/y"), Path("a"), re.compile("a+(b)", re.IGNORECASE), re.compile(b"x")),
    *({1, 2}, frozenset({"a"}), set(), deque([1, [2]]), {"s": {"nested"}}),
    *(ipaddress.ip_address("10.0.0.1"), ipaddress.ip_address("::1")),
    *(ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("::/64")),
    *(ipaddress.ip_interface("10.0.0.1/8"), ipaddress.ip_interface("::1/64")),
    HumanMessage("hi", id="1"),
    HumanMessage([{"type": "text", "text": "x"}], additional_kwargs={"a": {"b": 1}}),
    AIMessage("", id="2", tool_calls=[{"name": "f", "args": {"a": 1}, "id": "c"}]),
    AIMessage(
        "x", usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}, name="bot"
    ),
    AIMessageChunk(
        content="y", tool_call_chunks=[{"name": "f", "args": '{"a', "id": "c", "index": 0}], id="3"
    ),
    SystemMessage("be nice"),
    ToolMessage("ok", tool_call_id="c", artifact={"net": ipaddress.ip_network("::/64")}),
    ToolMessage("no", tool_call_id="c", status="error", artifact=ipaddress.ip_network("::/0")),
    *(
        ChatMessage(content="x", role="r"),
        FunctionMessage(content="x", name="f"),
        RemoveMessage("4"),
    ),
    Document("page", metadata={"n": 1, "net": ipaddress.ip_network("10.0.0.0/8")}),
    *(
        Send("node", {"a": [HumanMessage("x")]}),
        Send("node", 1, timeout=TimeoutPolicy(run_timeout=3)),
    ),
    *(Interrupt("ask", id="i"), Interrupt({"q": 1}), Overwrite([1])),
    Command(goto=[Send("a", 1)], update={"messages": [AIMessage("x")]}, resume={"i": 1}),
    Command(graph=Command.PARENT, goto="b"),
    StateSnapshot({}, ("a",), {"configurable": {}}, None, None, None, (), ()),
    Item(value={"a": 1}, key="k", namespace=("n", "m"), created_at=NOW, updated_at=NOW),
    *(_DeltaSnapshot([HumanMessage("x")]), _DeltaSnapshot(None), [_DeltaSnapshot({"a": {1}})]),
]
"""Loaded under a strict allowlist without naming anything."""

OWN_VALUES: list[Any] = [
    *(Colour.RED, Level.HIGH, [Colour.RED, {"a": Level.HIGH}]),
    *(Point(1, 2), Point(1, Task("t")), Task("x"), Task("x", Task("y", {Colour.RED}))),
    *(Profile(name="x", tags=["a"]), Profile(name="n", net=ipaddress.IPv6Network("::/64"))),
    *(Refusing.model_construct(even=3), OldModel(name="old"), Tags([1, 2])),
    {"tasks": [Task("x", HumanMessage("y"))]},
]
"""Loaded where `OWN_TYPES` are allowed."""

_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.binary()
    | st.uuids()
    | st.datetimes()
    | st.decimals(allow_nan=False)
    | st.dates()
    | st.timedeltas()
    | st.ip_addresses()
    | st.sampled_from([HumanMessage("hi", id="1"), AIMessage("a", id="2"), Send("n", {"a": 1})])
    | st.frozensets(st.integers(0, 9))
)

VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)
"""Values that come back equal from upstream's serializer."""
