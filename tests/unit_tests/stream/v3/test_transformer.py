"""v3: the channel `once`, and `run.messages`."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, RemoveMessage
from langgraph.types import RetryPolicy

from langgraph_once import DedupConfig, once
from langgraph_once.stream import v2_part
from tests.unit_tests.stream.scenes import ASKED, chain, folded, model, nested, says, says_copy

pytestmark = pytest.mark.filterwarnings(
    "ignore:The v3 streaming protocol:langchain_core._api.LangChainBetaWarning"
)


def removes_last(state: Any) -> Any:
    return {"messages": [RemoveMessage(id=state["messages"][-1].id)]}


def on_channel(graph: Any) -> list[Any]:
    run: Any = once(graph).stream_events(ASKED, version="v3")
    return [v2_part(chunk) for chunk in run.extensions["once"]]


def test_each_message_is_on_the_channel_under_its_id() -> None:
    parts = on_channel(chain(says_copy("One two."), nested(says("Deep."), 2)))
    said = [(part.data, part.meta) for part in parts if part.mode == "messages"]
    assert list(folded(said).values()) == ["One two.", "Deep."]
    assert all(message.id for message, _ in said)
    assert {len(part.ns) for part in parts} == {0, 1, 2}


def test_run_messages_has_each_message_once_and_no_removal() -> None:
    graph = once(chain(says_copy("Hello."), removes_last, says("Bye.")))
    run: Any = graph.stream_events(ASKED, version="v3")
    assert [str(message.text) for message in run.messages] == ["Hello.", "Bye."]


def test_a_removal_is_on_the_channel_and_in_the_events() -> None:
    graph = chain(says("Hello."), removes_last)
    parts = on_channel(graph)
    assert folded((p.data, p.meta) for p in parts if p.mode == "messages") == {}
    events = list(once(graph).stream_events(ASKED, version="v3"))
    payloads: Any = [e["params"]["data"][0] for e in events if e["method"] == "messages"]
    assert sum(isinstance(payload, RemoveMessage) for payload in payloads) == 1


def adds_to_it(state: Any) -> Any:
    answer = model("Hello.").invoke(state["messages"])
    return {"messages": [AIMessage(f"{answer.text} And more.", id=answer.id)]}


def test_what_a_node_adds_to_a_streamed_message_is_not_lost() -> None:
    parts = [part for part in on_channel(chain(adds_to_it)) if part.mode == "messages"]
    assert list(folded((p.data, p.meta) for p in parts).values()) == ["Hello. And more."]
    assert all(isinstance(part.data, AIMessageChunk) for part in parts)
    run: Any = once(chain(adds_to_it)).stream_events(ASKED, version="v3")
    assert [str(message.text) for message in run.messages] == ["Hello.", " And more."]


@pytest.mark.parametrize("edited", ["Hello. \n", " Hello.", "Other."])
def test_an_edit_and_other_white_space_are_not_in_run_messages(edited: str) -> None:
    def node(state: Any) -> Any:
        answer = model("Hello.").invoke(state["messages"])
        return {"messages": [AIMessage(edited, id=answer.id)]}

    run: Any = once(chain(node)).stream_events(ASKED, version="v3")
    assert [str(message.text) for message in run.messages] == ["Hello."]
    assert list(
        folded((p.data, p.meta) for p in on_channel(chain(node)) if p.mode == "messages").values()
    ) == [edited]


@pytest.mark.parametrize("policy", ["retract", "hold"])
@pytest.mark.parametrize("later", ["One two.", "One two. And more.", "One other.", "Another."])
def test_no_policy_loses_what_a_later_attempt_says(policy: Any, later: str) -> None:
    words, dies = iter(["One two.", later]), iter([True, False])

    def node(state: Any) -> Any:
        answer = model(next(words)).invoke(state["messages"])
        if next(dies):
            raise ValueError
        return {"messages": [answer]}

    graph = chain(node)
    retry = RetryPolicy(initial_interval=0.001, jitter=False, retry_on=ValueError)
    graph.nodes["n0"].retry_policy = [retry]
    run: Any = once(graph, DedupConfig(reexecution=policy)).stream_events(ASKED, version="v3")
    parts = [v2_part(chunk) for chunk in run.extensions["once"]]
    said = [(part.data, part.meta) for part in parts if part.mode == "messages"]
    assert list(folded(said).values()) == [later]


async def test_an_async_v3_run_with_a_retry_has_each_message_once() -> None:
    dies = iter([True, False])

    async def node(state: Any) -> Any:
        answer = await model("Hello.").ainvoke(state["messages"])
        if next(dies):
            raise ValueError
        return {"messages": [answer]}

    graph = chain(says("First."), node)
    policy = RetryPolicy(initial_interval=0.001, jitter=False, retry_on=ValueError)
    graph.nodes["n1"].retry_policy = [policy]
    run: Any = await once(graph).astream_events(ASKED, version="v3")
    said = []
    async for chunk in run.extensions["once"]:
        part = v2_part(chunk)
        if part.mode == "messages":
            said.append((part.data, part.meta))
    assert list(folded(said).values()) == ["First.", "Hello."]


def test_wrapping_twice_adds_one_channel() -> None:
    wrapped = once(once(chain(says("Hello."))))
    run: Any = wrapped.copy({"name": "other"}).stream_events(ASKED, version="v3")
    assert [part["type"] for part in run.extensions["once"]].count("values") == 2


@pytest.mark.parametrize("message_id", [None, "own"])
def test_what_a_node_streams_by_itself_and_returns_is_in_run_messages(
    message_id: str | None,
) -> None:
    """`model.stream` makes no events in v3, so the whole message is all that tells it."""

    def node(state: Any) -> Any:
        pieces = model("Said in pieces.").stream(state["messages"])
        text = "".join(str(chunk.text) for chunk in pieces)
        return {"messages": [AIMessage(text, id=message_id)]}

    run: Any = once(chain(node)).stream_events(ASKED, version="v3")
    assert [str(message.text) for message in run.messages] == ["Said in pieces."]
