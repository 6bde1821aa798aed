"""Answers in the chunks of each provider: the transcript is that of the answer as a whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk
from langgraph.graph import START, MessagesState, StateGraph

from langgraph_once.events import (
    ChannelConfig,
    ChannelStreamingProcessor,
    TokenStreamingConfig,
    Transcript,
    text_pieces,
)
from tests.corpus.graphs import node
from tests.corpus.models import answers
from tests.corpus.wires import (
    Wire,
    anthropic,
    deepseek,
    gemini,
    interleaved,
    numbered,
    openai,
    responses,
)


def unnumbered(answer: AIMessage) -> list[AIMessageChunk]:
    """All calls whole in one chunk, without an index.

    Fragments without an index exist too, but LangChain does not join them: what enters the
    state is broken, and so is not to be compared with.
    """
    first, *middle, last = openai(answer)
    texts = [chunk for chunk in middle if not chunk.tool_call_chunks]
    pieces = [
        tool_call_chunk(name=call["name"], args=json.dumps(call["args"]), id=call["id"])
        for call in answer.tool_calls
    ]
    calls = AIMessageChunk(content="", tool_call_chunks=pieces, id=first.id)
    return [first, *texts, calls, last]


CALLS: Any = [
    {"name": "search", "args": {"query": "weather in Paris", "days": 3}, "id": "call_1"},
    {"name": "search", "args": {"query": "weather in Oslo", "days": 1}, "id": "call_2"},
]
THOUGHT = "First I look it up."

ANSWERS = {
    "text": AIMessage("Hello on an ordinary day."),
    "calls": AIMessage("", tool_calls=CALLS),
    "text and calls": AIMessage("I look it up.", tool_calls=CALLS),
    "everything": AIMessage(
        "I look it up.", tool_calls=CALLS, additional_kwargs={"reasoning_content": THOUGHT}
    ),
}

WIRES: dict[str, Wire] = {
    "OpenAI chat": openai,
    "OpenAI Responses": responses,
    "Anthropic": anthropic,
    "Gemini": gemini,
    "DeepSeek": deepseek,
    "interleaved": interleaved,
    "id on the first chunk": numbered("first"),
    "no index": unnumbered,
}

THINKING = {"Anthropic", "OpenAI Responses", "DeepSeek"}


def told_of(model: Any, config: TokenStreamingConfig | None = None) -> list[Any]:
    """The events of a graph whose one node asks the model."""

    def ask(state: Any) -> Any:
        return {"messages": [(yield model, "?")]}

    builder = StateGraph(MessagesState)
    builder.add_node("ask", node(ask))
    builder.add_edge(START, "ask")
    watching = ChannelStreamingProcessor(
        [ChannelConfig(key="messages")], config or TokenStreamingConfig()
    )
    asked: Any = {"messages": [("user", "?")]}
    return watching.stream_sync(builder.compile(), asked).collect()


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("answer", ANSWERS)
def test_the_transcript_is_that_of_the_whole_answer(wire: str, answer: str) -> None:
    whole = ANSWERS[answer]
    told = Transcript(told_of(answers(whole, wire=WIRES[wire])))
    (message,) = told.messages()
    assert isinstance(message, AIMessage)
    assert str(message.text) == whole.text
    assert message.tool_calls == whole.tool_calls
    assert not message.invalid_tool_calls
    assert message.id
    assert [(c.name, c.parsed_args) for c in told.tool_calls()] == [
        (call["name"], call["args"]) for call in whole.tool_calls
    ]
    assert told.usage is None or told.usage["total_tokens"] == 8


@pytest.mark.parametrize("wire", sorted(set(WIRES) - {"no index"}))
@pytest.mark.parametrize("answer", ANSWERS)
def test_the_message_is_the_one_in_the_state(wire: str, answer: str) -> None:
    told = Transcript(told_of(answers(ANSWERS[answer], wire=WIRES[wire])))
    (message,), (*_, last) = told.messages(), told.channels()["messages"]
    assert plain(message) == plain(last)


def plain(message: Any) -> Any:
    return {**message.model_dump(), "id": None}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_that_does_not_stream_makes_the_same_transcript(wire: str, answer: str) -> None:
    if wire not in THINKING and answer == "everything":
        answer = "text and calls"  # such a wire carries no thoughts
    streams, whole = (
        told_of(answers(ANSWERS[answer], wire=WIRES[wire], disable_streaming=off))
        for off in (False, True)
    )
    assert len([e for e in whole if e.type == "token"]) < 3, "it does not stream"
    assert folded(streams) == folded(whole)


def folded(events: list[Any]) -> Any:
    """What a transcript of the events holds, whatever content blocks the provider makes."""
    told = Transcript(events)
    said = {"text": "", "reasoning": ""}
    for event in events:
        if event.type == "token":
            said[event.kind] += event.content_delta
    calls = [(c.tool_call_id, c.name, c.parsed_args, c.error) for c in told.tool_calls()]
    messages = [(m.type, str(m.text), getattr(m, "tool_calls", ())) for m in told.messages()]
    return said, messages, calls, told.usage


def test_a_token_tells_the_block_it_belongs_to() -> None:
    events = told_of(answers(ANSWERS["everything"], wire=anthropic))
    places = {(e.kind, e.block_index) for e in events if e.type == "token"}
    assert places == {("reasoning", 0), ("text", 1)}


def test_a_block_may_be_a_mere_text_and_a_thought_a_mapping() -> None:
    thought = {"type": "reasoning_content", "reasoning_content": {"text": "Hm."}}  # as Bedrock's
    said = text_pieces(AIMessage(["Hello", thought]))
    assert [*said] == [("text", 0, "Hello"), ("reasoning", 1, "Hm.")]


@pytest.mark.parametrize("wire", sorted(THINKING))
def test_reasoning_is_told_as_such_and_before_the_text(wire: str) -> None:
    model = answers(ANSWERS["everything"], wire=WIRES[wire])
    events = told_of(model, TokenStreamingConfig())
    tokens = [event for event in events if event.type == "token"]
    kinds = [event.kind for event in tokens]
    assert kinds == sorted(kinds)
    said = {kind: "".join(e.content_delta for e in tokens if e.kind == kind) for kind in kinds}
    assert said == {"reasoning": THOUGHT, "text": "I look it up."}
    last = {event.kind: event.accumulated_content for event in tokens}
    assert last == said


def test_reasoning_may_be_left_out() -> None:
    model = answers(ANSWERS["everything"], wire=anthropic)
    events = told_of(model, TokenStreamingConfig(include_reasoning=False))
    assert {event.kind for event in events if event.type == "token"} == {"text"}


def test_tool_calls_may_be_left_out_of_the_events_but_not_of_the_message() -> None:
    model = answers(ANSWERS["calls"])
    events = told_of(model, TokenStreamingConfig(include_tool_calls=False))
    assert not [event for event in events if event.type.startswith("tool_call")]
    (completed,) = [event for event in events if event.type == "message_completed"]
    assert completed.message.tool_calls == ANSWERS["calls"].tool_calls
