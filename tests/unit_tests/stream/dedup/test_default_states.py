"""Nobody who asks for nothing special loses a state: `dedup` leaves them whole."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_once import Ledger, adedup, dedup
from tests.unit_tests.stream.scenes import ASKED, chain, messages_in, nested, says, says_copy

QUESTION = "Please begin."
TEXTS = ["First.", "Second."]
MODES = pytest.mark.parametrize(
    "modes", [["messages", "values"], ["messages", "updates", "values"]], ids="+".join
)
SHAPES = pytest.mark.parametrize("version", ["v1", "v2"])


def graph() -> Any:
    return chain(says("First."), nested(says_copy("Second."), 2))


def read(chunk: Any) -> tuple[str, Any]:
    return (chunk["type"], chunk["data"]) if isinstance(chunk, dict) else chunk


def said(data: Any) -> list[str]:
    return [str(message.text) for message in messages_in(data)]


def states(chunks: list[Any], mode: str) -> list[list[str]]:
    return [said(data) for kind, data in map(read, chunks) if kind == mode]


@MODES
@SHAPES
async def test_states_and_updates_are_those_of_the_plain_graph(modes: Any, version: Any) -> None:
    asked: Any = {"stream_mode": modes, "version": version}
    plain = list(graph().stream(ASKED, **asked))
    ours = list(dedup(graph().stream(ASKED, **asked), **asked))
    unsync = [chunk async for chunk in adedup(graph().astream(ASKED, **asked), **asked)]
    for told in (ours, unsync):
        assert states(told, "updates") == states(plain, "updates")
        assert states(told, "values") == states(plain, "values")
        assert states(told, "values")[-1] == [QUESTION, *TEXTS]


def test_texts_come_once_in_messages_all_the_same() -> None:
    asked: Any = {"stream_mode": ["messages", "values"], "subgraphs": True}
    told = list(dedup(graph().stream(ASKED, **asked), **asked))
    assert "".join(str(data[0].text) for _, mode, data in told if mode == "messages") == "".join(
        TEXTS
    )
    root = [said(data) for ns, mode, data in told if mode == "values" and not ns]
    assert root[-1] == [QUESTION, *TEXTS]


def test_a_later_stream_with_the_ledger_has_whole_states_too() -> None:
    twice = chain(lambda _: {"messages": [AIMessage("ok", id="ok")]})
    twice = twice.copy({"checkpointer": InMemorySaver()})
    config: Any = {"configurable": {"thread_id": "1"}}
    asked: Any = {"stream_mode": ["messages", "values"]}
    ledger = Ledger()
    for turn in (1, 2):
        told = list(dedup(twice.stream(ASKED, config, **asked), **asked, ledger=ledger))
        assert len(states(told, "values")[-1]) == turn + 1
