"""What a message carries beside its text is told when it changes, once."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.types import Command, interrupt

from langgraph_once import DedupConfig, dedup, once
from langgraph_once.events import MessageReplacedEvent, Transcript
from tests.unit_tests.events.threads import ASKED, answers, chained, play, said

THREAD: Any = {"configurable": {"thread_id": "1"}}


def changes(*, in_place: bool = False, **update: Any) -> Any:
    """A node that changes the last message."""

    def node(state: Any) -> Any:
        last = state["messages"][-1]
        if in_place:
            for name, value in update.items():
                setattr(last, name, value)
            return {"messages": [last]}
        return {"messages": [last.model_copy(update=update)]}

    return node


def fields(message: Any) -> Any:
    kwargs, about = message.additional_kwargs, message.response_metadata
    return str(message.text), message.name, kwargs, about


def last_in_state(graph: Any) -> Any:
    return fields(graph.get_state(THREAD).values["messages"][-1])


def told(graph: Any, *inputs: Any, **how: Any) -> tuple[Any, int]:
    """What a transcript has of the last message, and how often a message was replaced."""
    events = list(play(graph, *inputs, thread=THREAD, **how))
    replaced = [event for event in events if isinstance(event, MessageReplacedEvent)]
    return fields(Transcript(events).messages()[-1]), len(replaced)


CHANGES: list[dict[str, Any]] = [
    {"name": "oslo"},
    {"additional_kwargs": {"sources": ["a", "b"]}},
    {"response_metadata": {"grade": 1}},
    {"name": "oslo", "content": "Oslo it is. Sources: a."},
    {"additional_kwargs": {"sources": ["a"]}, "content": "Oslo it is. Sources: a."},
    {"additional_kwargs": {"sources": ["a"]}, "content": "Bergen."},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: "-".join(change))
def test_what_the_next_node_changes_is_told_once(change: dict[str, Any]) -> None:
    if "response_metadata" in change:
        change = {"response_metadata": {**answer_metadata(), **change["response_metadata"]}}
    graph = chained(said(answers("Oslo it is.")), changes(**change))
    assert told(graph, ASKED) == (last_in_state(graph), 1)


def answer_metadata() -> dict[str, Any]:
    graph = chained(said(answers("Oslo it is.")))
    graph.invoke(ASKED, THREAD)
    return dict(last_in_state(graph)[-1])


def names_its_answer() -> Any:
    """A node that adds to the answer of its model."""
    model = answers("Oslo it is.")

    def node(state: Any) -> Any:
        answer = model.invoke(state["messages"])
        answer.name = "oslo"
        answer.additional_kwargs["sources"] = ["a"]
        return {"messages": [answer]}

    return node


def test_what_the_node_of_the_model_adds_is_told_once() -> None:
    graph = chained(names_its_answer())
    assert told(graph, ASKED) == (last_in_state(graph), 1)


def test_what_changes_in_place_is_told_once() -> None:
    graph = chained(said(answers("Oslo it is.")), changes(in_place=True, name="oslo"))
    assert told(graph, ASKED) == (last_in_state(graph), 1)


@pytest.mark.parametrize("is_apart", [False, True])
def test_what_changes_after_a_pause_is_told_once(is_apart: bool) -> None:
    def pauses(_: Any) -> Any:
        interrupt("?")
        return {}

    kwargs = {"sources": ["a"]}
    graph = chained(said(answers("Oslo it is.")), pauses, changes(additional_kwargs=kwargs))
    found = told(graph, ASKED, Command(resume="yes"), is_apart=is_apart)
    assert found == (last_in_state(graph), 1)


def test_what_a_message_that_is_none_of_a_model_carries_is_told() -> None:
    answer = ToolMessage("Found.", tool_call_id="c1", id="t1")
    graph = chained(lambda _: {"messages": [answer]}, changes(name="find"))
    assert told(graph, ASKED) == (last_in_state(graph), 1)


def test_what_does_not_change_is_not_told() -> None:
    def echoes(state: Any) -> Any:
        return {"messages": [message.model_copy() for message in state["messages"]]}

    graph = chained(said(answers("Oslo it is.")), echoes, echoes)
    assert told(graph, ASKED) == (last_in_state(graph), 0)


def test_chunks_in_exact_form_fold_to_what_the_message_carries() -> None:
    kwargs = {"sources": ["a"]}
    graph = chained(
        said(answers("Oslo it is.")),
        changes(additional_kwargs=kwargs),
        changes(additional_kwargs={"sources": ["b"]}, name="oslo"),
    )
    streamed = once(graph, DedupConfig(form="exact")).stream(ASKED, THREAD, stream_mode="messages")
    assert fields(folded(streamed))[:3] == ("Oslo it is.", "oslo", {"sources": ["b"]})


def test_a_filter_behind_an_exact_stream_adds_them_to_the_text() -> None:
    graph = chained(names_its_answer())
    streamed = once(graph, DedupConfig(form="exact")).stream(ASKED, THREAD, stream_mode="messages")
    *_, last = chunks = [*dedup(streamed, stream_mode="messages")]  # as a client does
    answer = folded(chunks)
    assert (answer.text, answer.additional_kwargs) == ("Oslo it is.", {"sources": ["a"]})
    assert last[0].name == "oslo"  # which `+` of two chunks does not add (langchain-core 1.7)


def folded(chunks: Any) -> Any:
    """The answer that these chunks add up to."""
    has: dict[str, Any] = {}
    for message, _ in chunks:
        if message.type == "remove":
            has.pop(message.id)
        else:
            has[message.id] = has[message.id] + message if message.id in has else message
    (answer,) = [message for message in has.values() if isinstance(message, AIMessage)]
    return answer


def test_a_stock_reader_is_told_nothing_more() -> None:
    def count(*nodes: Any) -> int:
        graph = once(chained(*nodes), DedupConfig(form="stock"))
        return len(list(graph.stream(ASKED, THREAD, stream_mode="messages")))

    one = count(said(answers("Oslo it is.")))
    assert count(said(answers("Oslo it is.")), changes(name="oslo")) == one
