"""Channels and tokens are watched apart from each other, each where it was asked for."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Send

from langgraph_once.events import (
    ChannelConfig,
    ChannelMode,
    ChannelStreamingProcessor,
    Event,
    TokenStreamingConfig,
    to_dict,
)
from langgraph_once.stream import Part
from tests.corpus.graphs import node
from tests.corpus.models import answers
from tests.unit_tests.events.team import QUESTION, team

EVERYWHERE = TokenStreamingConfig(enabled_namespaces={"**"})
CHANNELS = [
    ChannelConfig(key="messages", stream_mode=ChannelMode.BOTH),
    ChannelConfig(key="notes", artifact_type="Document"),
]
OF_CHANNELS = ("channel_value", "channel_update", "artifact")


class State(TypedDict, total=False):
    """A question, its answer and notes."""

    messages: Annotated[list[AnyMessage], add_messages]
    title: str
    notes: Annotated[list[str], operator.add]


def research() -> Any:
    """A graph with a graph inside."""
    builder = StateGraph(State).add_node("write", lambda _: {"title": "inside"})
    inner: Any = builder.add_edge(START, "write").compile()
    outer = StateGraph(State).add_node("research", inner)
    outer.add_node("end", lambda _: {"title": "done"})
    return outer.add_edge(START, "research").add_edge("research", "end").compile()


def bare(events: list[Event], *, of_channels: bool) -> list[Any]:
    """The events of channels, or all others but the end, without what differs between runs."""
    told = []
    for event in events:
        if (event.type in OF_CHANNELS) is of_channels and event.type != "stream_ended":
            plain = to_dict(event)
            kept = {"type", "path", "node", "key", "content_delta", "artifact_id", "name", "total"}
            told.append({key: plain[key] for key in kept & plain.keys()})
    return told


def test_channels_and_tokens_tell_together_what_each_tells_alone() -> None:
    def told(*how: Any) -> list[Event]:
        return ChannelStreamingProcessor(*how).stream_sync(team(), QUESTION).collect()

    both, channels, tokens = told(CHANNELS, EVERYWHERE), told(CHANNELS), told((), EVERYWHERE)
    assert bare(both, of_channels=True) == bare(channels, of_channels=True)
    assert bare(both, of_channels=False) == bare(tokens, of_channels=False)
    assert bare(channels, of_channels=False) == []
    assert bare(tokens, of_channels=True) == []


def places(mode: ChannelMode, *namespaces: str) -> list[tuple[Any, ...]]:
    channel = ChannelConfig(key="title", stream_mode=mode, namespaces=namespaces or None)
    events = ChannelStreamingProcessor([channel]).stream_sync(research(), {"title": "?"})
    return [
        ("/".join(event.path), event.node, getattr(event, "value", getattr(event, "update", "")))
        for event in events
        if event.type in OF_CHANNELS
    ]


OUTER = [("", None, "?"), ("", None, "inside"), ("", None, "done")]
INNER = [("research", None, "?"), ("research", None, "inside")]


def test_values_are_told_in_every_graph_or_in_those_that_are_named() -> None:
    assert places(ChannelMode.VALUES_ONLY) == [OUTER[0], *INNER, *OUTER[1:]]
    assert places(ChannelMode.VALUES_ONLY, "main") == OUTER
    assert places(ChannelMode.VALUES_ONLY, "research") == INNER
    assert places(ChannelMode.VALUES_ONLY, "write") == []


def test_updates_are_told_of_the_nodes_and_paths_that_are_named() -> None:
    inside, through, end = ("research", "write", "inside"), ("", "research", "inside"), "end"
    assert places(ChannelMode.UPDATES_ONLY) == [inside, through, ("", end, "done")]
    assert places(ChannelMode.UPDATES_ONLY, "research/*") == [inside]
    assert places(ChannelMode.UPDATES_ONLY, "wri*") == [inside]
    assert places(ChannelMode.UPDATES_ONLY, end) == [("", end, "done")]


class Recording:
    """A graph, and what it was asked for."""

    def __init__(self) -> None:
        self.asked: dict[str, Any] = {}

    def stream(self, input: Any, config: Any = None, **asked: Any) -> Any:
        self.asked = asked
        return team().stream(input, config, **asked)


@pytest.mark.parametrize(
    ("how", "modes", "subgraphs"),
    [
        ({"token_streaming": TokenStreamingConfig()}, ["messages"], False),
        ({"token_streaming": EVERYWHERE}, ["messages"], True),
        ({"channels": CHANNELS}, ["updates", "values"], True),
    ],
)
def test_a_graph_is_asked_for_no_more_and_for_what_else_the_caller_wants(
    how: Any, modes: list[str], subgraphs: bool
) -> None:
    graph = Recording()
    events = ChannelStreamingProcessor(**how).stream_sync(
        graph, QUESTION, interrupt_before=["supervisor"]
    )
    told = events.collect()
    assert graph.asked == {
        "stream_mode": modes,
        "subgraphs": subgraphs,
        "version": "v2",
        "interrupt_before": ["supervisor"],
    }
    assert told[-1].type == "stream_ended"
    assert "answer" not in {event.node for event in told}


@pytest.mark.parametrize("is_async", [False, True])
async def test_what_else_the_caller_wants_reaches_a_compiled_graph(is_async: bool) -> None:
    watching = ChannelStreamingProcessor(token_streaming=TokenStreamingConfig())
    how: Any = {"interrupt_before": ["supervisor"]}
    if is_async:
        told = await watching.stream(team(), QUESTION, **how).collect()
    else:
        told = watching.stream_sync(team(), QUESTION, **how).collect()
    assert "supervisor" not in {event.node for event in told}
    whole = watching.stream_sync(team(), QUESTION).collect()
    assert "supervisor" in {event.node for event in whole}


def workers() -> Any:
    """Three tasks of one node, whose models all give their answers the same id."""

    def ask(state: Any) -> Any:
        call: Any = {"name": "find", "args": {"n": state["title"]}, "id": "c"}
        model = answers(AIMessage(f"I am {state['title']}.", id="same", tool_calls=[call]))
        return {"messages": [(yield model, "?")], "notes": [state["title"]]}

    builder = StateGraph(State).add_node("worker", node(ask))
    sends = [Send("worker", {"title": name}) for name in ("one", "two", "three")]
    builder.add_conditional_edges(START, lambda _: sends, ["worker"])
    return builder.compile()


async def test_parallel_tasks_of_one_node_do_not_mix() -> None:
    channel = ChannelConfig(key="notes", stream_mode=ChannelMode.UPDATES_ONLY)
    watching = ChannelStreamingProcessor([channel], TokenStreamingConfig())
    told = await watching.stream(workers(), {"title": "?"}).collect()
    for kind, count in [
        ("message_completed", 3),
        ("tool_call_completed", 3),
        ("channel_update", 3),
    ]:
        assert sum(event.type == kind for event in told) == count
    tasks = {event.task_id for event in told if event.type == "token"}
    assert len(tasks) == 3
    for task in tasks:
        mine = [event for event in told if event.task_id == task]
        (said,) = [e.message for e in mine if e.type == "message_completed"]
        assert "".join(e.content_delta for e in mine if e.type == "token") == said.text
        (call,) = [e for e in mine if e.type == "tool_call_completed"]
        assert said.text == f"I am {call.parsed_args['n']}."
    written = [event.update for event in told if event.type == "channel_update"]
    assert sorted(written) == [["one"], ["three"], ["two"]]


def test_a_value_is_told_as_it_was_fed() -> None:
    """What a graph of this process has in its state is not JSON, whatever it looks like."""
    log = [AIMessage("Hi.", id="m").model_dump()]
    watching = ChannelStreamingProcessor([ChannelConfig(key="log")], dedup=None)
    (told,) = watching.feed(Part((), "values", {"log": log}))
    assert told.type == "channel_value"
    assert told.value is log
