"""Tokens, and what becomes of their messages."""

from __future__ import annotations

import json
from typing import Any

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessageChunk,
    HumanMessage,
    RemoveMessage,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import push_message
from langgraph.types import Command, interrupt

from langgraph_once import Deduplicator, Ledger
from langgraph_once.events import (
    ChannelStreamingProcessor,
    TokenStreamingConfig,
    Transcript,
)
from langgraph_once.events.thread_memory import KnownMessages
from langgraph_once.stream import Part
from langgraph_once.stream.places import Where
from tests.corpus.graphs import chain, nested, returns, says
from tests.corpus.scenario import ASKED
from tests.exact import exactly

MODEL = {"v": 1, "source": "model", "attempt": 1}
NODE = {"v": 1, "source": "node", "attempt": 1}


def meta(note: Any = MODEL, node: str = "model", task: str = "1", **more: Any) -> dict[str, Any]:
    return {
        "langgraph_checkpoint_ns": f"{node}:{task}",
        "langgraph_node": node,
        "once": note,
        **more,
    }


def said(text: str, message_id: str = "m1", *, last: bool = False, **how: Any) -> Part:
    given = meta(**how)
    position: Any = "last" if last else None
    chunk = AIMessageChunk(content=text, id=message_id, chunk_position=position)
    return Part((), "messages", chunk, given)


def fed(*parts: Part, **config: Any) -> list[Any]:
    processor = ChannelStreamingProcessor(
        token_streaming=TokenStreamingConfig(**config), dedup=None
    )
    events = [event for part in parts for event in processor.feed(part)]
    return [*events, *processor.close()]


def types(events: Any) -> list[str]:
    return [event.type for event in events]


def test_a_message_that_is_missing_its_end_gets_it_and_is_replaced_by_the_whole() -> None:
    events = fed(said("One", last=True), said(" two."))
    assert types(events) == [
        "token",
        "message_completed",
        "token",
        "message_replaced",
        "stream_ended",
    ]
    assert events[2].accumulated_content == "One two."
    assert [m.text for m in Transcript(events).messages()] == ["One two."]


def test_a_removal_before_a_message_of_its_id_is_a_replacement() -> None:
    gone = Part((), "messages", RemoveMessage(id="m1"), meta(NODE))
    edited = Part((), "messages", AIMessage("Edited.", id="m1"), meta(NODE))
    events = fed(said("One."), said("", last=True), gone, edited)
    assert types(events)[-2:] == ["message_replaced", "stream_ended"]
    assert [m.text for m in Transcript(events).messages()] == ["Edited."]


def test_a_removal_that_something_other_than_its_replacement_follows_is_a_removal() -> None:
    gone = Part((), "messages", RemoveMessage(id="m1"), meta(NODE))
    for following in (said("Two.", "m2", last=True), Part((), "values", {})):
        events = fed(said("One.", last=True), gone, following)
        assert "message_removed" in types(events)
        assert "One." not in [m.text for m in Transcript(events).messages()]


def test_a_removal_at_the_end_is_told() -> None:
    gone = Part((), "messages", RemoveMessage(id="m1"), meta(NODE))
    assert types(fed(said("One.", last=True), gone))[-2:] == ["message_removed", "stream_ended"]


def test_a_removal_with_a_new_run_of_the_model_supersedes() -> None:
    part = said("Again.", "m2", last=True)
    gone = part._replace(data=RemoveMessage(id="m1"))
    events = fed(said("One.", last=True), gone, part)
    (void,) = [e for e in events if e.type == "message_superseded"]
    assert (void.old_id, void.new_id, void.reason) == ("m1", "m2", "rerun")


def test_what_a_node_said_before_an_interrupt_is_superseded_also_behind_a_wire() -> None:
    drafts = iter(range(1, 3))

    def node(_: Any) -> Any:
        draft = next(drafts)
        push_message(AIMessage(f"Draft {draft}.", id=f"m{draft}"), state_key=None)
        return {"messages": [AIMessage(interrupt("Go on?"), id="m3")]}

    graph = exactly(chain(node).copy({"checkpointer": InMemorySaver()}))
    thread: Any = {"configurable": {"thread_id": "1"}}
    ledger, came = Ledger(), list[Part]()
    asked: Any
    for asked in (ASKED, Command(resume="Done.")):
        dedup = Deduplicator(ledger=ledger)
        for message, about in graph.stream(asked, thread, stream_mode="messages"):
            part = Part((), "messages", message, json.loads(json.dumps(about)))
            came += dedup.feed(part)
    (void,) = [e for e in fed(*came) if e.type in {"message_superseded", "message_removed"}]
    assert (void.type, void.old_id, void.new_id) == ("message_superseded", "m1", "m2")
    assert void.reason == "rerun"


def test_a_removal_of_what_was_not_shown_is_not_shown() -> None:
    gone = Part((), "messages", RemoveMessage(id="m1"), meta(NODE))
    events = fed(said("Hidden.", last=True), gone, message_tags={"public"})
    assert types(events) == ["stream_ended"]


def test_tags_pick_messages() -> None:
    public = said("Shown.", "m2", last=True, tags=["public", "other"])
    events = fed(said("Hidden.", last=True), public, message_tags={"public"})
    assert [m.text for m in Transcript(events).messages()] == ["Shown."]


def test_places_are_left_out() -> None:
    one, two = said("A", "m1", last=True, node="a"), said("B", "m2", last=True, node="b")
    events = fed(one, two, exclude_namespaces={"b"})
    assert [m.text for m in Transcript(events).messages()] == ["A"]


def test_tokens_of_parallel_tasks_with_equal_ids_do_not_mix() -> None:
    ones, twos = meta(task="1"), meta(task="2")
    parts = [said("a"), said("x", task="2"), said("b", last=True), said("y", task="2", last=True)]
    events = fed(*parts)
    assert ones != twos
    texts = [e.message.text for e in events if e.type == "message_completed"]
    assert texts == ["ab", "xy"]
    assert [m.text for m in Transcript(events).messages()] == ["ab", "xy"]


def test_whole_messages_are_tokens_too_if_a_model_or_node_says_them() -> None:
    graph = chain(returns(AIMessage("Sorry.")), returns(HumanMessage("Me too.")))
    processor = ChannelStreamingProcessor(token_streaming=TokenStreamingConfig())
    events: list[Any] = processor.stream_sync(graph, ASKED).collect()
    assert types(events) == ["token", "message_completed", "message_completed", "stream_ended"]
    assert [e.message.text for e in events[1:3]] == ["Sorry.", "Me too."]


def test_usage_counts_what_is_not_shown_and_each_message_once() -> None:
    graph = chain(says("One."), nested(says("Two."), 2))
    processor = ChannelStreamingProcessor(
        token_streaming=TokenStreamingConfig(enabled_namespaces={"main", "n1"})
    )
    events: list[Any] = processor.stream_sync(graph, ASKED).collect()
    totals = [e.total["total_tokens"] for e in events if e.type == "usage"]
    assert totals == [8, 16]


def test_usage_in_the_midst_of_the_text_is_kept() -> None:
    usage: Any = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
    spent = AIMessageChunk(content=" two", id="m1", usage_metadata=usage)
    part = Part((), "messages", spent, meta())
    events = fed(said("One"), part, said(" three."), part, said("", last=True))
    (completed,) = [e for e in events if e.type == "message_completed"]
    assert completed.usage["total_tokens"] == 6
    assert completed.message.text == "One two three. two"


def test_a_message_of_many_chunks_is_whole() -> None:
    parts = [said(f"{at} ") for at in range(5_000)]
    events = fed(*parts, said("", last=True))
    (completed,) = [e for e in events if e.type == "message_completed"]
    assert completed.message.text == "".join(f"{at} " for at in range(5_000))
    assert events[4_999].accumulated_content == completed.message.text
    assert events[1].accumulated_content == "0 1 "


def test_no_repr_shows_what_was_said() -> None:
    secret = "sesame"
    graph = chain(
        says(AIMessage(secret, tool_calls=[{"name": "f", "args": {secret: 1}, "id": "c"}]))
    )
    processor = ChannelStreamingProcessor(token_streaming=TokenStreamingConfig())
    events = processor.stream_sync(graph, ASKED).collect()
    assert len(events) > 5
    assert secret not in repr(events)


def test_history_is_bounded() -> None:
    processor = ChannelStreamingProcessor(
        token_streaming=TokenStreamingConfig(), dedup=None, max_history=5
    )
    for at in range(50):
        list(processor.feed(said("One.", f"m{at}", last=True)))
    late = said(" more", "m1")
    assert [e.accumulated_content for e in processor.feed(late)] == [" more"]  # type: ignore[union-attr]  # only this kind of event has it


def test_history_of_one_id_in_many_places_is_bounded() -> None:
    history = KnownMessages(2)
    for task in "abc":
        history.add(Where((), "n", task), "m", AIMessage("One."))
    assert history.at(Where((), "n", "a"), "m") is None
    assert history.forget("m") == [True, True]


def test_as_many_message_ids_are_remembered_as_configured() -> None:
    history, here = KnownMessages(2), Where((), "n", "1")
    for message_id in "abc":
        history.add(here, message_id, AIMessage("One."))
    known = [history.at(here, message_id) is not None for message_id in "abc"]
    assert known == [False, True, True]


def test_a_message_in_json_is_read_as_a_message() -> None:
    for message in (AIMessage("One.", id="m"), AIMessageChunk(content="One.", id="m")):
        events = fed(Part((), "messages", message.model_dump(), meta()))
        assert types(events) == ["token", "message_completed", "stream_ended"]
        assert [m.text for m in Transcript(events).messages()] == ["One."]


def test_chunks_of_other_messages_add_up_too() -> None:
    chunks = [ChatMessageChunk(content=text, role="critic", id="m") for text in ("One ", "two.")]
    events = fed(*(Part((), "messages", chunk, meta()) for chunk in chunks))
    assert types(events) == ["token", "token", "message_completed", "stream_ended"]
    (message,) = Transcript(events).messages()
    assert (message.type, message.text) == ("chat", "One two.")


def test_a_message_of_other_shape_passes_as_no_event() -> None:
    assert types(fed(Part((), "messages", None, meta()))) == ["stream_ended"]
