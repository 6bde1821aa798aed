"""v3 over a network: a client that keeps a list of messages by id shows each thing once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from langchain_core.language_models._compat_bridge import message_to_events
from langchain_core.language_models.chat_model_stream import ChatModelStream
from langchain_core.messages import AIMessage, AIMessageChunk, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, RetryPolicy, interrupt
from langgraph_sdk.stream.decoders import MessagesDecoder

from langgraph_once import once
from langgraph_once.config import READER_KEY
from langgraph_once.stream import v2_part
from tests.corpus.models import answers
from tests.corpus.screen import SERVED, Screen
from tests.unit_tests.stream.scenes import (
    ASKED,
    chain,
    fails_after,
    folded,
    model,
    nested,
    says,
    says_copy,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore:The v3 streaming protocol:langchain_core._api.LangChainBetaWarning"
)

RETRY = RetryPolicy(initial_interval=0.001, jitter=False, retry_on=Exception)


def shown(graph: Any, given: Any = ASKED, screen: Screen | None = None, thread: str = "") -> Screen:
    screen = screen or Screen()
    config = {**SERVED, "configurable": {"thread_id": thread}}
    for event in graph.stream_events(given, config, version="v3"):
        screen.show(event)
    return screen


def dying(*texts: str) -> Any:
    """A node that says one text after the other, and dies after each but the last."""
    words = list(texts)

    def node(state: Any) -> Any:
        answer = model(words.pop(0)).invoke(state["messages"])
        if words:
            raise ValueError
        return {"messages": [answer]}

    return node


def retried(*texts: str, before: Any = ()) -> Any:
    graph = chain(*before, dying(*texts))
    graph.nodes[f"n{len(before)}"].retry_policy = [RETRY]
    return once(graph)


def edits_last(state: Any) -> Any:
    last = state["messages"][-1]
    return {"messages": [AIMessage("Edited.", id=last.id)]}


def edits_to_blocks(state: Any) -> Any:
    call = {"name": "look", "args": {"at": "it"}, "id": "c1"}
    blocks: Any = [
        {"type": "reasoning", "reasoning": "Hm."},
        {"type": "reasoning", "id": "rs_1"},
        {"type": "image", "url": "https://example.com/it.png"},
        {"type": "text", "text": "Edited."},
    ]
    last = state["messages"][-1]
    return {"messages": [AIMessage(blocks, id=last.id, tool_calls=[call])]}


def drafts(state: Any) -> Any:
    model("A plan.").invoke(state["messages"])
    return {"messages": [model("Done.").invoke(state["messages"])]}


def says_and_keeps_nothing(state: Any) -> Any:
    model("For the eyes alone.").invoke(state["messages"])


def copies_by_name(state: Any) -> Any:
    answer = model("One two.").invoke(state["messages"])
    return {"messages": [AIMessage(answer.text, id="own")]}


@pytest.mark.parametrize("later", ["One two.", "One two. And more.", "One other.", "Another."])
def test_a_later_attempt_takes_the_place_of_the_one_that_died(later: str) -> None:
    screen = shown(retried("One two.", later))
    assert screen.said == [later]


def test_a_later_attempt_is_held_while_it_repeats_and_nothing_vanishes() -> None:
    screen = shown(retried("One two.", "One two. And more."))
    began = screen.seen.index(["One two."])
    assert all("".join(said).startswith("One two.") for said in screen.seen[began:])
    twice = [said for said in screen.seen if len(said) > 1]
    assert len(twice) <= 2  # the later one is complete before the other goes


def test_what_repeats_and_dies_leaves_what_is_shown() -> None:
    graph = chain(fails_after(answers("One two three.", breaks={1: 3})))
    graph.nodes["n0"].retry_policy = [RETRY]
    screen = shown(once(graph))
    assert screen.said == ["One two three."]
    began = screen.seen.index(["One two three."])
    assert all("One two three." in said for said in screen.seen[began:])


def test_what_died_goes_with_the_state_that_lacks_it() -> None:
    attempts = iter([answers("One two."), None])

    def node(_: Any) -> Any:
        if model := next(attempts):
            model.invoke("?")
            raise ValueError
        return {"messages": [AIMessage("Done.", id="own")]}

    graph = chain(node)
    graph.nodes["n0"].retry_policy = [RETRY]
    assert shown(once(graph)).said == ["Done."]


def test_three_attempts_are_shown_as_one_message() -> None:
    assert shown(retried("One two three.", "One two.", "One two three four.")).said == [
        "One two three four."
    ]


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ((says_copy("One two."),), ["One two."]),
        ((copies_by_name,), ["One two."]),
        ((says("One two."), edits_last), ["Edited."]),
        ((says("One."), says("Two."), edits_last), ["One.", "Edited."]),
        ((drafts,), ["Done."]),
        ((says_and_keeps_nothing, says("Done.")), ["Done.", "For the eyes alone."]),
        ((nested(says("Deep."), 2),), ["Deep."]),
        ((says("ok"), says("ok")), ["ok", "ok"]),
        ((says("One."), lambda s: {"messages": [RemoveMessage(id=s["messages"][-1].id)]}), []),
    ],
)
def test_the_screen_says_what_the_state_says_and_loses_nothing(nodes: Any, said: list[str]) -> None:
    assert shown(once(chain(*nodes))).said == said


def test_an_edit_is_said_block_by_block_as_upstream_says_a_message() -> None:
    graph: Any = once(chain(says("One."), edits_to_blocks))
    events = list(graph.stream_events(ASKED, SERVED, version="v3"))
    (edited,) = [e for e in events if e["method"] == "values"][-1]["params"]["data"]["messages"][1:]
    told = [e["params"] for e in events if e["method"] == "messages" and "node" in e["params"]]
    ours = [params["data"][0] for params in told]
    assert {event.pop("id") for event in ours} == {edited.id}
    upstream = [dict(event) for event in message_to_events(edited)]
    del upstream[0]["id"]
    assert ours == upstream


def test_what_an_interrupted_task_says_again_is_shown_once() -> None:
    def asks(state: Any) -> Any:
        answer = model("May I go on?").invoke(state["messages"])
        interrupt("?")
        return {"messages": [answer]}

    builder = StateGraph(MessagesState)
    builder.add_node("asks", asks)
    builder.add_edge(START, "asks")
    graph = once(builder.compile(checkpointer=InMemorySaver()))
    screen = shown(graph, thread="1")
    assert screen.said == ["May I go on?"]
    screen.seen.clear()
    assert shown(graph, Command(resume="yes"), screen, thread="1").said == ["May I go on?"]
    assert [] not in screen.seen


def test_a_call_that_an_interrupted_task_does_not_repeat_is_taken_back() -> None:
    call: Any = {"name": "look", "args": {}, "id": "c1"}
    asked = answers(AIMessage("", tool_calls=[call]), AIMessage("Done."))

    def asks(state: Any) -> Any:
        answer = asked.invoke(state["messages"])
        interrupt("?")
        return {"messages": [answer]}

    graph: Any = once(chain(asks).copy({"checkpointer": InMemorySaver()}))
    config = {**SERVED, "configurable": {"thread_id": "1"}}

    def begun(given: Any) -> list[str]:
        events = graph.stream_events(given, config, version="v3")
        told = [event["params"]["data"][0] for event in events if event["method"] == "messages"]
        events = [event for event in told if isinstance(event, Mapping)]
        return [event["id"] for event in events if event["event"] == "message-start"]

    (called,) = begun(ASKED)
    assert called in begun(Command(resume="yes"))


async def side_by_side() -> list[Any]:
    """The events of two nodes that each ask two models at a time."""
    builder = StateGraph(MessagesState)
    for name in ("left", "right"):

        async def node(state: Any, name: str = name) -> Any:
            both = [model(f"{name} {i} says this").ainvoke(state["messages"]) for i in (1, 2)]
            return {"messages": await asyncio.gather(*both)}

        builder.add_node(name, node)
        builder.add_edge(START, name)
    graph: Any = once(builder.compile())
    run = await graph.astream_events(ASKED, SERVED, version="v3")
    return [event async for event in run if event["method"] == "messages"]


BESIDE = {f"{name} {i} says this" for name in ("left", "right") for i in (1, 2)}


async def test_nodes_that_speak_at_a_time_are_told_apart() -> None:
    screen = Screen()
    for event in await side_by_side():
        screen.show(event)
    assert set(screen.said) == BESIDE


async def test_of_four_at_a_time_the_first_needs_no_name_and_one_alone_gets_its_nodes() -> None:
    events = [event["params"] for event in await side_by_side()]
    told = [params["data"][0]["event"] for params in events]
    assert told.index("message-finish") > [*told, "message-start"].index("content-block-delta")
    names = {params.get("node") for params in events}
    assert (len(names), names & {None, "left", "right"}) == (4, {None, "left", "right"})


def read_by_sdk(events: Any) -> list[str]:
    """The texts of `thread.messages` of the Python SDK, but for empty ones."""
    streams: list[Any] = []
    decoder = MessagesDecoder(namespace=[], stream_factory=ChatModelStream)
    for event in events:
        if event["method"] == "messages":
            payload = event["params"]["data"][0]
            params = {**event["params"], "data": payload}
            streams += decoder.feed({**event, "params": params})
    assert all(stream.done for stream in streams)
    return [text for text in (str(stream.text) for stream in streams) if text]


async def test_the_python_sdk_tells_parallel_messages_apart() -> None:
    assert set(read_by_sdk(await side_by_side())) == BESIDE


def test_the_sdk_of_python_reads_attempts_to_their_ends() -> None:
    graph = retried("One two.", "One other.")
    events = graph.stream_events(ASKED, SERVED, version="v3")
    assert read_by_sdk(events) == ["One two.", "One other."]


def test_a_message_whose_model_died_ends_for_the_sdk_of_python() -> None:
    says = answers("One two three.", "Another.", breaks={0: 3})
    graph = chain(lambda state: {"messages": [says.invoke(state["messages"])]})
    graph.nodes["n0"].retry_policy = [RETRY]
    events = once(graph).stream_events(ASKED, SERVED, version="v3")
    assert read_by_sdk(events) == ["One two", "Another."]


def test_the_sdk_of_python_reads_a_copy_once() -> None:
    events = once(chain(copies_by_name)).stream_events(ASKED, SERVED, version="v3")
    assert read_by_sdk(events) == ["One two."]


def test_the_channel_says_what_it_says_to_every_reader() -> None:
    configs: list[Any] = [SERVED, {}]
    for config in configs:
        run: Any = retried("One two.", "One other.").stream_events(ASKED, config, version="v3")
        parts = [v2_part(chunk) for chunk in run.extensions["once"]]
        said = [(part.data, part.meta) for part in parts if part.mode == "messages"]
        assert list(folded(said).values()) == ["One other."]
        assert all(isinstance(message, AIMessageChunk | RemoveMessage) for message, _ in said)


@pytest.mark.parametrize("config", [{}, {**SERVED, "configurable": {READER_KEY: "1"}}])
def test_whoever_reads_the_channel_or_is_in_the_process_gets_no_such_events(config: Any) -> None:
    run: Any = once(chain(copies_by_name)).stream_events(ASKED, config, version="v3")
    events = [event["params"] for event in run if event["method"] == "messages"]
    starts = [p for p in events if isinstance(p["data"][0], Mapping)]
    assert sum(p["data"][0]["event"] == "message-start" for p in starts) == 1
    assert not any("node" in params for params in events)
