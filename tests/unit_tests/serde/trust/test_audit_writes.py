"""Writes of types that are not allowed are events, too: one run of an app names them all."""

from __future__ import annotations

import enum
import json
import logging
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.event_hooks import register_serde_event_listener
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from pydantic import BaseModel
from typing_extensions import TypedDict

from langgraph_once.errors import EncodeError
from langgraph_once.serde import Audit, OnceSerializer, storable
from tests.unit_tests.serde.strictly import strict_config

HERE = __name__
WARN = OnceSerializer(strict_config(enforcement="warn"))


@dataclass
class Task:
    text: str
    owners: list[Any] = field(default_factory=list)


class Colour(enum.Enum):
    RED = 1


class Person(BaseModel):
    name: str


class Home:
    @dataclass
    class Room:
        size: int


class ToolError(Exception):
    pass


@storable
@dataclass
class Marked:
    text: str


class Page(BaseModel):
    number: int


ALL = [Task("a secret"), Colour.RED, Person(name="ann"), Home.Room(1), ToolError("no"), Task]
NAMES = tuple(f"{HERE}:{n}" for n in ("Colour", "Home.Room", "Person", "Task", "ToolError"))


def proposed(audit: Audit) -> list[str]:
    found: list[str] = json.loads("{" + audit.proposal().split("\n")[0] + "}")["allowed_types"]
    return found


def test_every_type_that_is_written_is_heard() -> None:
    with Audit() as audit:
        WARN.dumps_typed({"all": ALL, "fine": [Marked("x"), HumanMessage("x"), 1.5, {1: (2,)}]})
    assert audit.unregistered == NAMES
    assert audit.blocked == ()


@pytest.mark.parametrize("value", ALL, ids=lambda value: getattr(value, "__name__", repr(value)))
def test_the_audit_hears_of_a_type_that_was_written_before_it_listened(value: Any) -> None:
    once = OnceSerializer(strict_config(enforcement="warn"))
    for _ in range(3):
        once.dumps_typed([value, value])
        once.dumps_typed({"a": [HumanMessage("x"), value]})
    with Audit() as audit:
        once.dumps_typed({"a": [HumanMessage("x"), {"b": value}]})
    assert len(audit.unregistered) == 1


@pytest.mark.parametrize("value", [*ALL, [Task("x")] * 2, [Colour.RED, {Colour.RED}]])
def test_what_is_written_so_comes_back(value: Any) -> None:
    kept = {"it": value, "again": [value, HumanMessage("x", id="1")]}
    once = OnceSerializer(strict_config(allowed_types=NAMES))
    back = once.loads_typed(WARN.dumps_typed(kept))
    assert type(back["it"]) is type(value)
    assert isinstance(value, Exception) or back == kept
    assert (back["it"] is back["again"][0]) == (kept["it"] is kept["again"][0])


class State(TypedDict):
    messages: Annotated[list[Any], add_messages]
    task: Any
    room: Any


def work(state: State) -> dict[str, Any]:
    return {
        "messages": [HumanMessage("hello")],
        "task": Task("a secret", [Person(name="ann")]),
        "room": {Colour.RED: Home.Room(1)},
    }


def app(serde: OnceSerializer) -> Any:
    graph = StateGraph(State)
    graph.add_node("work", work)
    graph.add_edge(START, "work")
    graph.add_edge("work", END)
    return graph.compile(checkpointer=InMemorySaver(serde=serde))


def test_one_run_of_an_app_proposes_all_that_its_threads_hold() -> None:
    config: Any = {"configurable": {"thread_id": "1"}}
    with Audit() as audit:
        app(WARN).invoke({"messages": []}, config)
    wanted = [f"{HERE}:{name}" for name in ("Colour", "Home.Room", "Person", "Task")]
    assert proposed(audit) == wanted
    strict = app(OnceSerializer(strict_config(allowed_types=tuple(proposed(audit)))))
    strict.invoke({"messages": []}, config)
    assert strict.get_state(config).values["room"] == {Colour.RED: Home.Room(1)}
    with pytest.raises(EncodeError):
        app(OnceSerializer(strict_config())).invoke({"messages": []}, config)


def test_reading_and_writing_give_a_nested_class_the_same_name() -> None:
    row = WARN.dumps_typed([Home.Room(1), Task("x")])
    with Audit() as audit:
        WARN.loads_typed(row)
    assert proposed(audit) == [f"{HERE}:Home.Room", f"{HERE}:Task"]


def test_what_strict_enforcement_does_not_write_is_heard_as_blocked() -> None:
    with Audit() as audit:
        for value in (Home.Room(1), Colour.RED, Task):
            with pytest.raises(EncodeError):
                OnceSerializer(strict_config()).dumps_typed({"it": value})
    assert audit.blocked == tuple(f"{HERE}:{name}" for name in ("Colour", "Home.Room", "Task"))
    once = OnceSerializer(strict_config(allowed_types=tuple(proposed(audit))))
    assert once.loads_typed(once.dumps_typed(Home.Room(1))) == Home.Room(1)


@pytest.mark.parametrize("enforcement", ["strict", "warn"])
def test_an_allowed_type_is_no_event_of_the_audit(enforcement: Literal["strict", "warn"]) -> None:
    once = OnceSerializer(strict_config(allowed_types=NAMES, enforcement=enforcement))
    with Audit() as audit:
        once.loads_typed(once.dumps_typed([*ALL, Marked("x")]))
    assert audit.counts == {}


def test_what_is_allowed_is_written_as_under_strict_enforcement() -> None:
    warn, strict = (
        OnceSerializer(strict_config(allowed_types=NAMES, enforcement=enforcement))
        for enforcement in ("warn", "strict")
    )
    value = {"tasks": [Task("x"), Task("y"), Colour.RED], "page": HumanMessage("x", id="1")}
    assert warn.dumps_typed(value) == strict.dumps_typed(value)


def test_an_allowlist_that_grows_ends_the_events() -> None:
    once = OnceSerializer(strict_config(enforcement="warn"))
    once.dumps_typed(Page(number=1))
    with Audit() as audit:
        once.with_msgpack_allowlist([Page]).dumps_typed(Page(number=1))
    assert audit.counts == {}


def test_the_log_names_each_type_once_and_nothing_of_its_content(
    caplog: pytest.LogCaptureFixture,
) -> None:
    once = OnceSerializer(strict_config(enforcement="warn"))
    for _ in range(2):
        once.loads_typed(once.dumps_typed([Task("a secret"), Task("a secret")]))
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.getMessage().startswith(
        f"Stored {HERE}:Task (of this project), which is not in `allowed_types`"
    )


def test_a_listener_of_your_own_hears_what_upstream_would_tell_it() -> None:
    heard: list[Any] = []
    stop = register_serde_event_listener(heard.append)
    try:
        WARN.dumps_typed(Home.Room(1))
    finally:
        stop()
    expected = {"kind": "msgpack_unregistered_allowed", "module": HERE, "name": "Home.Room"}
    assert expected in heard
    assert all(event == expected for event in heard)
