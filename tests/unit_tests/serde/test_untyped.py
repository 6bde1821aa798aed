"""`maybe_add_typed_methods` and `SerializerCompat`, as savers use them, with our serializer.

Savers take serializers with tags, and older ones without, around which they put `SerializerCompat`.
"""

from __future__ import annotations

import copy
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.base import (
    SerializerCompat,
    SerializerProtocol,
    maybe_add_typed_methods,
)
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import SerdeError
from langgraph_once.serde import OnceSerializer

if TYPE_CHECKING:
    from pathlib import Path

ONCE = OnceSerializer(SerdeConfig(allowed_types=(f"{__name__}:Note",)))
CONFIG: Any = {"configurable": {"thread_id": "1"}}


@dataclass
class Note:
    text: str
    place: tuple[int, ...]


class Untyped:
    """What serializers were before there were tags: ours, in one string of bytes."""

    def dumps(self, obj: Any) -> bytes:
        tag, data = ONCE.dumps_typed(obj)
        return tag.encode() + b"\0" + data

    def loads(self, data: bytes) -> Any:
        tag, _, rest = data.partition(b"\0")
        return ONCE.loads_typed((tag.decode(), rest))


class OldSaver(InMemorySaver):
    """Has its serializer as a class attribute, which the constructor asks about."""

    serde: Any = ONCE


class State(TypedDict):
    messages: Annotated[list[Any], add_messages]
    note: Any


def run(saver: BaseCheckpointSaver[Any]) -> Any:
    """Run a graph of two steps with `saver`, and return what the thread holds."""
    graph = StateGraph(State)
    graph.add_node("work", lambda _: {"messages": "hi", "note": Note("n", (1, 2))})
    graph.add_edge(START, "work")
    graph.add_edge("work", END)
    app: Any = graph.compile(checkpointer=saver)
    app.invoke({"messages": [HumanMessage("hello")]}, CONFIG)
    app.invoke({"messages": [HumanMessage("again")]}, CONFIG)
    return app.get_state(CONFIG).values


def check(values: Any) -> None:
    assert [message.content for message in values["messages"]] == ["hello", "hi", "again", "hi"]
    assert values["note"] == Note("n", (1, 2))


def test_an_untyped_serializer_is_taken_as_it_is_and_so_are_its_clones() -> None:
    for once in (ONCE, copy.copy(ONCE), ONCE.with_msgpack_allowlist([("app", "Thing")])):
        assert isinstance(once, SerializerProtocol)
        assert maybe_add_typed_methods(once) is once
        assert InMemorySaver(serde=once).serde is once


def test_a_saver_that_has_it_as_a_class_attribute_keeps_it() -> None:
    saver = OldSaver()
    assert saver.serde is ONCE
    check(run(saver))


def test_a_saver_wraps_what_is_built_on_it_and_has_no_tags(tmp_path: Path) -> None:
    untyped: Any = Untyped()
    assert not isinstance(untyped, SerializerProtocol)
    with SqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite")) as opened:
        for saver in (InMemorySaver(serde=untyped), SqliteSaver(opened.conn, serde=untyped)):
            assert isinstance(saver.serde, SerializerCompat)
            check(run(saver))


def test_a_wrapped_one_gives_the_type_for_a_tag_and_ignores_it_on_reading() -> None:
    wrapped = maybe_add_typed_methods(Untyped())
    tag, data = wrapped.dumps_typed(Note("n", (1,)))
    assert tag == "Note"
    assert wrapped.loads_typed(("anything", data)) == Note("n", (1,))


def test_a_wrapped_one_gets_no_allowlist_from_a_saver(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    saver = InMemorySaver(serde=Untyped())  # type: ignore[arg-type]  # upstream takes it
    logger = logging.getLogger("langgraph.checkpoint.base")  # others may have set it up
    monkeypatch.setattr(logger, "disabled", False)
    monkeypatch.setattr(logger, "propagate", True)
    with caplog.at_level(logging.WARNING, logger.name):
        assert saver.with_allowlist([("app", "Thing")]) is saver
    assert "does not support msgpack allowlist" in caplog.text


def test_rows_of_a_wrapped_one_are_not_guessed_at() -> None:
    row = SerializerCompat(Untyped()).dumps_typed({"a": 1})
    with pytest.raises(SerdeError, match="dict"):
        ONCE.loads_typed(row)
    tag, _, data = row[1].partition(b"\0")
    assert ONCE.loads_typed((tag.decode(), data)) == {"a": 1}
