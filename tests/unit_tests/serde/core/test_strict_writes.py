"""What strict reading would refuse is refused when it is written, while it can be helped."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypedDict

import pytest
from langgraph.checkpoint.serde.event_hooks import register_serde_event_listener
from langgraph.graph import START, StateGraph

from langgraph_once.checkpoint import open_sqlite_saver
from langgraph_once.errors import EncodeError
from langgraph_once.serde import OnceSerializer, UnstoredError
from tests.unit_tests.serde.fidelity import kinds as k
from tests.unit_tests.serde.strictly import strict_config

PLAIN = f"{k.Plain.__module__}:Plain"


def serde(*names: str, **settings: Any) -> OnceSerializer:
    return OnceSerializer(strict_config(allowed_types=names, **settings))


@pytest.mark.parametrize(
    "value", [k.Plain("x"), k.Colour.RED, k.Point(1, 2), k.Slug("a"), k.Rows([1])]
)
def test_a_refused_write_names_the_place_the_type_and_the_setting(value: Any) -> None:
    name = f"{k.__name__}:{type(value).__qualname__}"
    with pytest.raises(EncodeError) as caught:
        serde().dumps_typed({"docs": [1, value]})
    assert caught.value.path == "[key 0][1]"
    assert f'add "{name}" to `allowed_types`' in str(caught.value)
    allowed = serde(name)
    assert type(allowed.loads_typed(allowed.dumps_typed([value]))[0]) is type(value)


def test_an_exception_that_may_not_be_stored_becomes_text_as_with_langgraph() -> None:
    error = serde().loads_typed(serde().dumps_typed([k.AppError(3)]))[0]
    assert type(error) is UnstoredError
    assert error.type_name == f"{k.__name__}:AppError"
    allowed = serde(f"{k.__name__}:AppError")
    assert type(allowed.loads_typed(allowed.dumps_typed(k.AppError(3)))) is k.AppError


def test_a_nested_class_is_named_so_that_the_setting_takes_it() -> None:
    with pytest.raises(EncodeError, match=r':Outer\.Part" to `allowed_types`'):
        serde().dumps_typed(k.Outer.Part("x"))
    serde(f"{k.__name__}:Outer.Part").dumps_typed(k.Outer.Part("x"))


def test_open_enforcement_changes_nothing() -> None:
    events: list[Any] = []
    unregister = register_serde_event_listener(events.append)
    lenient = serde(enforcement="open")
    data = lenient.dumps_typed([k.Plain("x")])
    unregister()
    assert events == []
    assert data == serde(PLAIN).dumps_typed([k.Plain("x")])
    assert lenient.loads_typed(data) == [k.Plain("x")]


def test_each_copy_has_a_view_of_its_own() -> None:
    narrow = serde()
    with pytest.raises(EncodeError):
        narrow.dumps_typed(k.Plain("x"))
    wide = narrow.with_msgpack_allowlist([k.Plain])
    assert wide.loads_typed(wide.dumps_typed(k.Plain("x"))) == k.Plain("x")
    for other in (narrow, narrow.with_msgpack_allowlist([k.Colour])):
        with pytest.raises(EncodeError):
            other.dumps_typed(k.Plain("x"))
    assert wide.loads_typed(wide.dumps_typed(k.Plain("y"))) == k.Plain("y")


class State(TypedDict):
    count: int
    extra: Any


async def test_a_graph_fails_at_the_step_that_writes_it(tmp_path: Path) -> None:
    builder = StateGraph(State)
    builder.add_node("node", lambda _: {"extra": k.Plain("x")})
    builder.add_edge(START, "node")
    config: Any = {"configurable": {"thread_id": "1"}}
    async with open_sqlite_saver(str(tmp_path / "threads.sqlite"), serde=serde()) as saver:
        graph = builder.compile(checkpointer=saver)
        with pytest.raises(EncodeError, match=f'add "{PLAIN}" to `allowed_types`'):
            await graph.ainvoke({"count": 1, "extra": None}, config)
        assert (await graph.aget_state(config)).values["count"] == 1
