"""A message is its id, for as long as its thread lives: over nodes, streams and processes."""

from __future__ import annotations

import uuid
from contextlib import closing
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, PIIMiddleware
from langchain_core.messages import AIMessage, AIMessageChunk, RemoveMessage, ToolMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.ui import AnyUIMessage, push_ui_message, ui_message_reducer
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, RetryPolicy, interrupt
from typing_extensions import TypedDict

from graphs.models import ScriptedChatModel
from langgraph_once import ChannelStreamingProcessor, Ledger, TokenStreamingConfig, once
from langgraph_once.events import ToolResultEvent, Transcript, UIEvent, UsageEvent
from langgraph_once.stream import Part
from tests.unit_tests.events.threads import (
    ASKED,
    answers,
    call,
    chained,
    play,
    said,
    shown,
    tokens,
    told_calls,
)

APPROVED: Any = Command(resume={"decisions": [{"type": "approve"}]})
EDITED: Any = Command(
    resume={
        "decisions": [
            {"type": "edit", "edited_action": {"name": "send", "args": {"to": "lee"}}},
        ]
    }
)

apart = pytest.mark.parametrize("is_apart", [False, True], ids=["one process", "two"])


@tool
def send(to: str) -> str:
    """Send it."""
    return f"sent to {to}"


def mailer(**how: Any) -> Any:
    """An agent that asks before it sends."""
    asks: Any = HumanInTheLoopMiddleware(interrupt_on={"send": True})
    model = answers(
        AIMessage("Sending.", tool_calls=[call("send", to="kim")]), "It is sent.", **how
    )
    return create_agent(model, [send], middleware=[asks], checkpointer=InMemorySaver())


# The call is in one stream, its result in the next.


@apart
def test_a_result_after_an_approval_belongs_to_the_call_before_it(is_apart: bool) -> None:
    events = list(play(mailer(), ASKED, APPROVED, is_apart=is_apart))
    assert told_calls(Transcript(events)) == [("send", {"to": "kim"}, ["sent to kim"])]
    (result,) = [event for event in events if isinstance(event, ToolResultEvent)]
    assert result.message_id is not None
    assert result.name == "send"


@apart
def test_who_sees_a_call_by_its_tag_sees_the_result_in_the_next_stream(is_apart: bool) -> None:
    public = tokens(message_tags={"public"})
    events = play(mailer(tags=["public"]), ASKED, APPROVED, make=public, is_apart=is_apart)
    assert [e.content for e in events if isinstance(e, ToolResultEvent)] == ["sent to kim"]


def chunks_of(graph: Any, asked: Any, thread: Any, *modes: str) -> Any:
    """The chunks of a stream that is over: no graph of this process tells who reads it what it
    began with."""
    return iter([*graph.stream(asked, thread, stream_mode=[*modes], version="v2")])


def test_chunks_under_way_tell_by_their_first_state_which_calls_were_there() -> None:
    graph, thread = once(mailer(tags=["public"])), {"configurable": {"thread_id": "chunks"}}
    list(chunks_of(graph, ASKED, thread, "messages", "values"))
    chunks = chunks_of(graph, APPROVED, thread, "messages", "values")
    events = tokens(message_tags={"public"})().stream_sync(chunks)
    (result,) = [event for event in events if isinstance(event, ToolResultEvent)]
    assert (result.content, result.name) == ("sent to kim", "send")
    assert result.message_id is not None


def test_a_result_of_a_stream_that_did_not_know_the_call_is_put_to_it() -> None:
    graph, thread = once(mailer()), {"configurable": {"thread_id": "chunks"}}
    transcript = Transcript()
    for turn in (ASKED, APPROVED):
        for event in tokens()().stream_sync(chunks_of(graph, turn, thread, "messages")):
            transcript.apply(event)
    assert told_calls(transcript) == [("send", {"to": "kim"}, ["sent to kim"])]


def test_who_does_not_see_a_call_does_not_see_its_result_in_the_next_stream() -> None:
    events = play(mailer(tags=["own"]), ASKED, APPROVED, make=tokens(message_tags={"public"}))
    assert not [event for event in events if isinstance(event, ToolResultEvent)]


@apart
def test_a_call_that_a_human_edited_is_answered(
    is_apart: bool,
) -> None:
    (made,) = Transcript(play(mailer(), ASKED, EDITED, is_apart=is_apart)).tool_calls()
    (result,) = made.results
    assert result.content.endswith("sent to lee")


@apart
def test_a_result_in_a_graph_inside_belongs_to_the_call_before_the_pause(is_apart: bool) -> None:
    @tool
    def ask(q: str) -> str:
        """Ask a human."""
        return f"said {interrupt(q)}"

    asking = answers(AIMessage("", tool_calls=[call("ask", q="May I?")]))
    builder: Any = chained(said(asking), ToolNode([ask]), is_inside=True)
    everywhere = tokens(enabled_namespaces={"**"})
    events = play(
        chained(builder), ASKED, Command(resume="yes"), make=everywhere, is_apart=is_apart
    )
    assert told_calls(Transcript(events)) == [("ask", {"q": "May I?"}, ["said yes"])]


@apart
def test_calls_alone_are_answered_in_the_next_stream(is_apart: bool) -> None:
    def calls() -> ChannelStreamingProcessor:
        return ChannelStreamingProcessor(include=["tool_calls"])

    transcript = Transcript(play(mailer(), ASKED, APPROVED, make=calls, is_apart=is_apart))
    assert told_calls(transcript) == [("send", {"to": "kim"}, ["sent to kim"])]


# A later node says more under the id of a message.


def footer(text: str = " Sources: a, b.", *, is_new: bool = False) -> Any:
    def node(state: Any) -> Any:
        last = next(m for m in reversed(state["messages"]) if isinstance(m, AIMessage))
        if isinstance(last.content, str):
            return {"messages": [last.model_copy(update={"content": last.content + text})]}
        *before, block = last.content
        longer: Any = {**block, "text": block["text"] + text} if isinstance(block, dict) else block
        return {"messages": [last.model_copy(update={"content": [*before, longer]})]}

    return node


@pytest.mark.parametrize("wrap", [once, lambda graph: graph], ids=["wrapped", "plain"])
def test_a_message_that_the_next_node_extends_stays_one(wrap: Any) -> None:
    events = list(play(chained(said(answers("Oslo it is.")), footer()), ASKED, wrap=wrap))
    assert shown(events) == ["Oslo it is. Sources: a, b."]
    assert [event.type for event in events if event.type.startswith("message")] == [
        "message_completed",
        "message_replaced",
    ]


def test_a_message_that_two_nodes_extend_stays_one() -> None:
    graph = chained(said(answers("Oslo it is.")), footer(" One."), footer(" Two."))
    events = list(play(graph, ASKED))
    assert shown(events) == ["Oslo it is. One. Two."]
    *_, token = [event for event in events if event.type == "token"]
    assert token.accumulated_content == "Oslo it is. One. Two."


@apart
def test_a_message_that_is_extended_after_a_pause_stays_one(is_apart: bool) -> None:
    def pauses(_: Any) -> Any:
        interrupt("Go on?")
        return {}

    graph = chained(said(answers("Oslo it is.")), pauses, footer())
    events = list(play(graph, ASKED, Command(resume="yes"), is_apart=is_apart))
    assert shown(events) == ["Oslo it is. Sources: a, b."]


def test_a_message_of_blocks_that_the_next_node_extends_has_the_blocks_of_the_state() -> None:
    answer = AIMessage([{"type": "text", "text": "Oslo it is."}], id="a1")
    graph = chained(lambda _: {"messages": [answer]}, footer())
    (message,) = Transcript(play(graph, ASKED)).messages()
    assert message.content == [{"type": "text", "text": "Oslo it is. Sources: a, b."}]


# A model is paid once.


def spent(events: Any) -> int:
    usage = Transcript(events).usage
    return usage["total_tokens"] if usage else 0


def test_an_answer_that_a_guard_redacts_is_paid_once() -> None:
    guard: Any = PIIMiddleware("email", strategy="redact", apply_to_output=True)
    agent = create_agent(
        answers("Write to kim@example.org today."),
        [],
        middleware=[guard],
        checkpointer=InMemorySaver(),
    )
    thread: Any = {"configurable": {"thread_id": "1"}}
    events = list(play(agent, ASKED, thread=thread))
    (answer,) = [m for m in agent.get_state(thread).values["messages"] if m.type == "ai"]
    assert shown(events) == [answer.text]
    if answer.usage_metadata is None:  # as langchain 1.2 leaves what it redacts
        pytest.skip("the state does not tell what was paid")
    assert spent(events) == answer.usage_metadata["total_tokens"]


def edits(text: str) -> Any:
    def node(state: Any) -> Any:
        last = next(m for m in reversed(state["messages"]) if isinstance(m, AIMessage))
        return {"messages": [last.model_copy(update={"content": text})]}

    return node


@apart
def test_an_answer_that_is_edited_in_the_next_turn_is_paid_once(is_apart: bool) -> None:
    def maybe(state: Any) -> Any:
        return edits("Edited.")(state) if len(state["messages"]) > 2 else {}

    model = answers("One.")
    graph = chained(maybe, lambda s: said(model)(s) if len(s["messages"]) < 2 else {})
    again: Any = {"messages": [("user", "Again.")]}
    events = list(play(graph, ASKED, again, is_apart=is_apart))
    assert shown(events) == ["Edited."]
    assert len([event for event in events if isinstance(event, UsageEvent)]) == 1


def test_an_answer_that_is_extended_is_paid_once() -> None:
    events = list(play(chained(said(answers("Oslo it is.")), footer()), ASKED))
    assert len([event for event in events if isinstance(event, UsageEvent)]) == 1


def test_an_attempt_in_vain_is_paid_and_so_is_the_next() -> None:
    failed: list[int] = []
    model = answers("One two.", "One two.")

    def fails_once(state: Any) -> Any:
        update = said(model)(state)
        if not failed:
            failed.append(1)
            raise ConnectionError
        return update

    retry = RetryPolicy(max_attempts=2, initial_interval=0.001, jitter=False)
    events = list(play(chained(fails_once, retry_policy=retry), ASKED))
    assert len([event for event in events if isinstance(event, UsageEvent)]) == 2


# An attempt that broke off leaves no calls.


class Cut(ScriptedChatModel):
    """Breaks off in the arguments of its first call."""

    texts: list[str]

    def _stream(self, messages: Any, *args: Any, **how: Any) -> Any:
        if not self.texts:
            yield from super()._stream(messages, *args, **how)
            return
        piece: Any = {"name": "look", "args": '{"q": "pa', "id": "c0", "index": 0}
        cut = AIMessageChunk(content="", tool_call_chunks=[piece])
        for chunk in (AIMessageChunk(content=self.texts.pop()), cut):
            yield ChatGenerationChunk(message=chunk)
        raise ConnectionError


@pytest.mark.parametrize("texts", [[""], ["Let me look."], ["", ""], []])
def test_a_call_of_an_attempt_that_broke_off_is_gone(texts: list[str]) -> None:
    answer = AIMessage("", tool_calls=[call("look", q="paris")])
    model = Cut(script=lambda _: answer, texts=[*texts])
    retry = RetryPolicy(max_attempts=3, initial_interval=0.001, jitter=False)
    transcript = Transcript(play(chained(said(model), retry_policy=retry), ASKED))
    assert told_calls(transcript) == [("look", {"q": "paris"}, [])]


# UI messages go on after a pause.


@apart
def test_a_ui_message_that_is_merged_after_a_pause_keeps_its_properties(is_apart: bool) -> None:
    class State(TypedDict):
        ui: Annotated[list[AnyUIMessage], ui_message_reducer]

    def shows(_: Any) -> Any:
        push_ui_message("chart", {"title": "Sales", "rows": 1}, id="u1")
        return {}

    def merges(_: Any) -> Any:
        interrupt("More?")
        push_ui_message("chart", {"rows": 2}, id="u1", merge=True)
        return {}

    builder: Any = StateGraph(State)
    builder.add_node("shows", shows).add_node("merges", merges)
    builder.add_edge(START, "shows").add_edge("shows", "merges")
    graph = builder.compile(checkpointer=InMemorySaver())

    def ui() -> ChannelStreamingProcessor:
        return ChannelStreamingProcessor(include=["ui"])

    thread: Any = {"configurable": {"thread_id": uuid.uuid4().hex}}
    first: Any = {"ui": []}
    second: Any = Command(resume="yes")
    events = list(play(graph, first, second, make=ui, is_apart=is_apart, thread=thread))
    (kept,) = graph.get_state(thread).values["ui"]
    last = [event for event in events if isinstance(event, UIEvent)][-1]
    assert (last.action, last.props) == ("merge", kept["props"])
    assert last.props == {"title": "Sales", "rows": 2}


# What is unwatched until the next stream.


@apart
def test_what_was_said_inside_before_a_pause_is_told_when_it_enters_the_state(
    is_apart: bool,
) -> None:
    def pauses(_: Any) -> Any:
        interrupt("Go on?")
        return {}

    inner = chained(said(answers("Said inside.")), pauses, is_inside=True)
    watching = tokens(enabled_namespaces={"main", "nobody"})
    events = play(chained(inner), ASKED, Command(resume="yes"), make=watching, is_apart=is_apart)
    assert shown(events) == ["Said inside."]


def test_a_fork_begins_with_what_its_checkpoint_has() -> None:
    graph = chained(said(answers("One.", "Two.")))
    thread: Any = {"configurable": {"thread_id": "fork"}}
    wrapped, processor = once(graph), tokens()()
    list(processor.stream_sync(wrapped, ASKED, thread))
    (start,) = [s for s in graph.get_state_history(thread) if s.next == ("n0",)]
    events = list(processor.stream_sync(wrapped, None, start.config))
    assert shown(events)[-1:] == ["Two."]


def test_who_feeds_parts_of_a_thread_beside_its_ledger_goes_on() -> None:
    processor = ChannelStreamingProcessor(token_streaming=TokenStreamingConfig(), ledger=Ledger())
    meta = {"langgraph_checkpoint_ns": "model:1", "langgraph_node": "model"}
    asking = AIMessage("", tool_calls=[call("send", to="kim")], id="m1")
    answer = ToolMessage("sent", tool_call_id="c1", id="t1")
    tools = {"langgraph_checkpoint_ns": "tools:2", "langgraph_node": "tools"}
    events = []
    for data, about in ((asking, meta), (answer, tools)):
        events += [*processor.feed(Part((), "messages", data, about)), *processor.close()]
    assert told_calls(Transcript(events)) == [("send", {"to": "kim"}, ["sent"])]


def test_a_new_turn_repeats_no_update_of_the_one_before() -> None:
    ledger = Ledger()
    ledger.updates[b"of the turn before"] = ledger.epoch
    processor = ChannelStreamingProcessor(token_streaming=TokenStreamingConfig(), ledger=ledger)
    with closing(processor.stream_sync(chained(said(answers("One."))), ASKED)) as events:
        next(events)
        assert not ledger.updates


def test_a_message_that_is_removed_in_the_next_turn_is_gone() -> None:
    def removes(state: Any) -> Any:
        old = [m for m in state["messages"] if isinstance(m, AIMessage)]
        return {"messages": [RemoveMessage(id=str(m.id)) for m in old]}

    graph = chained(removes, said(answers("One.", "Two.")))
    again: Any = {"messages": [("user", "Again.")]}
    assert shown(play(graph, ASKED, again)) == ["Two."]
