"""What a state holds beside messages costs no stream: what refers to itself, or is very large.

Each object of a state is looked into once, so these tests end; by paths there would be billions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage
from langgraph.graph import START, StateGraph, add_messages

from langgraph_once import (
    ChannelConfig,
    ChannelStreamingProcessor,
    DedupConfig,
    TokenStreamingConfig,
    Transcript,
    dedup,
    once,
)


@dataclass(eq=False, repr=False)
class Person:
    name: str
    knows: list[Person] = field(default_factory=list)
    notes: list[AnyMessage] = field(default_factory=list)


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    beside: Any


def team() -> list[Person]:
    people = [Person(f"p{at}") for at in range(12)]
    for person in people:
        person.knows = [other for other in people if other is not person]
    people[7].notes.append(AIMessage("a note", id="note"))
    return people


def doubling() -> Any:
    levels: Any = "the end"
    for _ in range(40):
        levels = [levels, levels]
    return levels


def ring() -> Any:
    held: dict[str, Any] = {}
    held["me"] = [held]
    return held


BESIDE = {
    "a team": team(),
    "lists that hold each other twice": doubling(),
    "a ring": ring(),
    "a very large number": 10**5000,
}
ASKED: Any = {"messages": [("user", "q")]}
HOW = {
    "stock": DedupConfig(form="stock"),
    "exact": DedupConfig(form="exact"),
    "cut": DedupConfig(form="exact", state="new_messages"),
}


def graph(beside: Any) -> Any:
    built = StateGraph(State)
    built.add_node("meet", lambda _: {"beside": beside, "messages": [AIMessage("met", id="m")]})
    built.add_node("greet", lambda _: {"messages": [AIMessage("hello", id="h")]})
    built.add_edge(START, "meet")
    built.add_edge("meet", "greet")
    return built.compile()


def ids(chunks: Any) -> list[Any]:
    return [message.id for mode, (message, _) in _of(chunks, "messages")]


def _of(chunks: Any, wanted: str) -> list[Any]:
    return [(mode, data) for mode, data in chunks if mode == wanted]


@pytest.mark.parametrize("modes", [["messages"], ["messages", "values"], ["messages", "updates"]])
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("beside", BESIDE)
def test_a_wrapped_graph_streams_what_the_plain_one_does(
    beside: str, how: str, modes: list[str]
) -> None:
    plain = [*graph(BESIDE[beside]).stream(ASKED, stream_mode=modes)]
    ours = [*once(graph(BESIDE[beside]), HOW[how]).stream(ASKED, stream_mode=modes)]
    assert {*ids(plain)} <= {*ids(ours)}
    for mode in {*modes} - {"messages"}:
        assert len(_of(ours, mode)) == len(_of(plain, mode))


@pytest.mark.parametrize("mode", ["values", "updates"])
@pytest.mark.parametrize("beside", BESIDE)
def test_a_filter_passes_its_states(beside: str, mode: str) -> None:
    plain = [*graph(BESIDE[beside]).stream(ASKED, stream_mode=["messages", mode])]
    told = [*dedup(iter(plain), stream_mode=["messages", mode])]
    assert len(_of(told, mode)) == len(_of(plain, mode))
    assert {"m", "h"} <= {*ids(told)}


@pytest.mark.parametrize("beside", BESIDE)
def test_the_typed_events_tell_its_messages(beside: str) -> None:
    beside_told = ChannelConfig(key="beside", artifact_type="beside")
    reader = ChannelStreamingProcessor([beside_told], TokenStreamingConfig())
    transcript = Transcript(reader.stream_sync(once(graph(BESIDE[beside])), ASKED))
    assert [message.text for message in transcript.messages()][-2:] == ["met", "hello"]
