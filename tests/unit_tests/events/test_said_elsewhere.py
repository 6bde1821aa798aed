"""Who watches one graph has all that enters its state, also what was said in graphs inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from langgraph_once import ChannelConfig, ChannelStreamingProcessor, TokenStreamingConfig, once
from langgraph_once.events import Event, Transcript
from tests.corpus.graphs import Steps, chain, node, says
from tests.corpus.models import answers
from tests.corpus.scenario import ASKED

pytestmark = pytest.mark.filterwarnings(
    "ignore:The v3 streaming protocol:langchain_core._api.LangChainBetaWarning"
)

CALL: Any = {"name": "hand_over", "args": {}, "id": "call-1"}
TEAM = ["Bob knows that.", "Handed over.", "Bob answers.", "And so it ends."]


def team() -> Any:
    """Alice, in a graph of her own, hands over to Bob, in another."""
    model = answers(AIMessage("Bob knows that.", tool_calls=[CALL]))

    def hands_over(state: Any) -> Steps:
        called = yield model, "?"
        update = {"messages": [called, ToolMessage("Handed over.", tool_call_id="call-1")]}
        return Command(graph=Command.PARENT, goto="bob", update=update)

    builder = StateGraph(MessagesState)
    builder.add_node("alice", chain(node(hands_over)))
    builder.add_node("bob", chain(says("Bob answers.")))
    builder.add_node("ends", says("And so it ends."))
    builder.add_edge(START, "alice").add_edge("bob", "ends")
    return builder.compile()


def processor(*enabled: str, channels: Any = (), include: Any = (), **how: Any) -> Any:
    tokens = TokenStreamingConfig(enabled_namespaces=set(enabled), **how)
    return ChannelStreamingProcessor(channels, tokens, include=include)


def texts(events: list[Event]) -> list[str]:
    return [str(message.text) for message in Transcript(events).messages(None)]


def of_graph(graph: Any, watching: Any) -> list[Event]:
    return list(watching.stream_sync(graph, ASKED))


def of_v3(graph: Any, watching: Any) -> list[Event]:
    return list(watching.stream_sync(graph.stream_events(ASKED, version="v3")))


def of_channel(graph: Any, watching: Any) -> list[Event]:
    run = once(graph).stream_events(ASKED, version="v3")
    return list(watching.stream_sync(run.extensions["once"]))


def of_updates(graph: Any, watching: Any) -> list[Event]:
    asked: Any = {"stream_mode": ["messages", "updates"], "subgraphs": True, "version": "v2"}
    return list(watching.stream_sync(once(graph).stream(ASKED, **asked), **asked))


every_source = pytest.mark.parametrize("source", [of_graph, of_v3, of_channel, of_updates])
wrapped_or_not = pytest.mark.parametrize("wrap", [once, lambda graph: graph], ids=["once", "plain"])

Source = Callable[[Any, Any], list[Event]]


@wrapped_or_not
@every_source
@pytest.mark.parametrize(
    "watching",
    [
        processor("main"),
        processor("main", "nobody"),
        processor("main", include=["custom"]),
        processor("main", channels=[ChannelConfig(key="messages")]),
        processor("**", exclude_namespaces={"nobody"}),
    ],
    ids=["main", "main-and-nobody", "main-and-custom", "main-and-a-channel", "all-but-nobody"],
)
def test_all_of_the_state_is_told_once(
    watching: ChannelStreamingProcessor, source: Source, wrap: Any
) -> None:
    events = source(wrap(team()), watching)
    assert texts(events) == TEAM
    assert sum(event.type == "usage" for event in events) == 3
    results = [event.type for event in events if event.type.startswith("tool_")]
    assert (results[0], results[-1]) == ("tool_call_started", "tool_result")


@pytest.mark.parametrize("wrap", [once, lambda graph: graph], ids=["once", "plain"])
async def test_all_of_the_state_is_told_once_by_async_streams(wrap: Any) -> None:
    run = await wrap(team()).astream_events(ASKED, version="v3")
    assert texts([event async for event in processor("main").stream(run)]) == TEAM


@every_source
@pytest.mark.parametrize(
    ("enabled", "excluded", "expected"),
    [
        (("bob",), (), TEAM[2:3]),
        (("main", "bob"), (), TEAM),
        (("main",), ("bob",), [*TEAM[:2], *TEAM[3:]]),
        (("**",), ("bob",), [*TEAM[:2], *TEAM[3:]]),
        (("nobody",), (), []),
    ],
    ids=["bob", "main-and-bob", "main-but-bob", "all-but-bob", "nobody"],
)
def test_namespaces_that_are_left_out_stay_left_out_of_the_state(
    enabled: Any, excluded: Any, expected: list[str], source: Source
) -> None:
    """What a graph has from the one beside it is nothing that was said in it."""
    watching = processor(*enabled, exclude_namespaces=excluded)
    assert texts(source(once(team()), watching)) == expected


@every_source
def test_what_never_enters_the_state_is_not_told(source: Source) -> None:
    inner = chain(says("Never seen."))

    def asks(state: Any) -> Steps:
        yield inner, {"messages": []}
        return {"messages": [AIMessage("Seen.")]}

    assert texts(source(once(chain(node(asks))), processor("main", "nobody"))) == ["Seen."]


@every_source
def test_only_messages_with_the_tags_asked_for_are_told(source: Source) -> None:
    def graph() -> Any:
        tagged = answers("Tagged.", tags=["loud"])
        return chain(chain(node(lambda _: one(tagged))), chain(says("Not tagged.")))

    watching = processor("main", "nobody", message_tags={"loud"})
    assert texts(source(once(graph()), watching)) == ["Tagged."]


def one(model: Any) -> Steps:
    """A node's steps: what a model says."""
    return {"messages": [(yield model, "?")]}


def test_states_that_are_asked_for_as_well_tell_nothing_else() -> None:
    def asks(_: Any) -> Any:
        return {"messages": [interrupt("May I?")]}

    def kinds(watching: Any) -> set[str]:
        graph = once(chain(chain(asks), memory=True))
        thread: Any = {"configurable": {"thread_id": "1"}}
        return {event.type for event in watching.stream_sync(graph, ASKED, thread)}

    watching = processor("main", "nobody")
    assert watching.stream_modes == ("messages", "updates")
    assert "interrupt" not in kinds(watching)
    assert "interrupt" in kinds(processor("main", "nobody", include=["interrupts"]))
