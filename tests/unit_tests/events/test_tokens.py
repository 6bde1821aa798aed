"""The fast way of tokens tells what the slow one tells."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given, strategies as st
from langchain_core.messages import AIMessageChunk
from langchain_core.messages.ai import add_ai_message_chunks

from langgraph_once.events import (
    ChannelStreamingProcessor,
    Event,
    MessageCompletedEvent,
    TokenStreamEvent,
    TokenStreamingConfig,
)
from langgraph_once.events.messages import MAX_KEPT
from langgraph_once.stream import Part

META = {"langgraph_checkpoint_ns": "model:1", "langgraph_node": "model"}


WORDS = st.sampled_from(["a", "b ", ""])
INDEXES = st.sampled_from([0, 1, "x"])
TEXT = st.builds(lambda text, at: {"type": "text", "text": text, "index": at}, WORDS, INDEXES)
THOUGHT = st.builds(
    lambda text, at: {"type": "thinking", "thinking": text, "index": at}, WORDS, INDEXES
)
REASON = st.builds(
    lambda text, at: {"type": "reasoning", "reasoning": text, "index": at}, WORDS, INDEXES
)
ODD: Any = st.sampled_from(
    [
        {"type": "text", "text": "no index"},
        {"type": "text", "text": "cited", "index": 0, "citations": []},
        {"type": "thinking", "signature": "s", "index": 0},
        {"type": "text_delta", "text": "other", "index": 0},
        "a string",
    ]
)
CONTENT = (
    WORDS
    | st.lists(TEXT | THOUGHT, min_size=1, max_size=1)
    | st.lists(TEXT | THOUGHT | REASON | ODD, max_size=2)
)
PROVIDER: Any = st.sampled_from([{}, {}, {"model_provider": "anthropic"}])
USAGE: Any = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
EXTRA: Any = st.sampled_from([{}, {}, {}, {"usage_metadata": USAGE}])


ARGS = st.sampled_from(['{"a"', ": 1", "}", "{}", ""])
FORMS = st.sampled_from(["", "input_json_delta", "function_call", "said beside"])


@st.composite
def asking(draw: Any) -> dict[str, Any]:
    """The content and the fragment of a chunk that writes arguments, as one provider or another."""
    args, at, form = draw(ARGS), draw(st.sampled_from([0, 1, None])), draw(FORMS)
    named = draw(st.sampled_from([{}, {}, {"id": "c1", "name": "find"}, {"name": "find"}]))
    key = "partial_json" if form == "input_json_delta" else "arguments"
    block = {"type": form, key: args, "index": at or 0}
    content: Any = [block] if "_" in form else form
    pieces = [{"id": None, "name": None, "args": args, "index": at, **named}]
    return {"content": content, "tool_call_chunks": pieces * draw(st.sampled_from([1, 1, 2]))}


@st.composite
def chunks(draw: Any) -> list[AIMessageChunk]:
    """Chunks of up to two messages; some go on as the one before them."""
    drawn: list[AIMessageChunk] = []
    for _ in range(draw(st.integers(1, 12))):
        if drawn and draw(st.booleans()):
            drawn.append(drawn[-1].model_copy())
            continue
        said = draw(st.builds(lambda content: {"content": content}, CONTENT) | asking())
        how = {"response_metadata": draw(PROVIDER), **draw(EXTRA)}
        drawn.append(AIMessageChunk(**said, id=draw(st.sampled_from("mmn")), **how))
    return drawn


def told(drawn: list[AIMessageChunk], **config: Any) -> list[Event]:
    """The events of the chunks, and of the end."""
    tokens = TokenStreamingConfig(**config)
    watching = ChannelStreamingProcessor(token_streaming=tokens, dedup=None)
    events = [e for one in drawn for e in watching.feed(Part((), "messages", one, META))]
    return [*events, *watching.close()]


def parts_of(events: list[Event]) -> list[Any]:
    """The events, with texts read at the end, when all of them are known."""
    return [(event, str(getattr(event, "so_far", ""))) for event in events]


@given(chunks(), st.booleans(), st.booleans())
def test_any_chunks_are_told_as_they_are_to_who_filters_which_is_the_slow_way(
    drawn: list[AIMessageChunk], reasons: bool, calls: bool
) -> None:
    config: Any = {"include_reasoning": reasons, "include_tool_calls": calls}
    fast, slow = told(drawn, **config), told(drawn, **config, filter_fn=lambda _: True)
    assert parts_of(fast) == parts_of(slow)


def openai(args: str, **named: str) -> AIMessageChunk:
    piece: Any = {"id": None, "name": None, **named, "args": args, "index": 0}
    return AIMessageChunk(content="", tool_call_chunks=[piece], id="m")


def anthropic(args: str, **named: str) -> AIMessageChunk:
    chunk = openai(args, **named)
    return chunk.model_copy(
        update={"content": [{"type": "input_json_delta", "partial_json": args, "index": 0}]}
    )


@pytest.mark.parametrize("wire", [openai, anthropic])
def test_arguments_that_go_on_go_the_fast_way(wire: Any) -> None:
    watching = ChannelStreamingProcessor(token_streaming=TokenStreamingConfig(), dedup=None)
    for chunk in (wire("[", id="c1", name="find"), wire("1")):
        list(watching.feed(Part((), "messages", chunk, META)))
    (progress,), count = counted(watching, Part((), "messages", wire("2"), META))
    assert progress.type == "tool_call_progress"
    assert (progress.args_delta, progress.accumulated_args) == ("2", "[12")
    assert count < 30


@pytest.mark.parametrize(
    "wire", [openai, anthropic, lambda text: AIMessageChunk(content=text, id="m")]
)
def test_a_message_of_many_chunks_is_what_they_add_up_to(wire: Any) -> None:
    drawn = [wire(f"{at} ") for at in range(3 * MAX_KEPT)]
    (completed,) = (e for e in told(drawn) if isinstance(e, MessageCompletedEvent))
    assert completed.message.content == add_ai_message_chunks(*drawn).content


A_BLOCK: Any = [{"type": "text", "text": "word ", "index": 0}]


@pytest.mark.parametrize(
    "contents", [("", "a", A_BLOCK), (A_BLOCK, "", A_BLOCK), ("a", A_BLOCK, A_BLOCK, "b", "c")]
)
def test_a_message_of_texts_and_blocks_is_what_they_add_up_to(contents: Any) -> None:
    piece: Any = {"id": "c1", "name": "find", "args": "{}", "index": 0}
    more: Any = {**piece, "id": None, "name": None, "args": " "}
    how: Any = [[piece], *([] if content else [more] for content in contents[1:])]
    drawn = [
        AIMessageChunk(content=content, tool_call_chunks=calls, id="m")
        for content, calls in zip(contents, how, strict=True)
    ]
    (completed,) = (e for e in told(drawn) if isinstance(e, MessageCompletedEvent))
    assert completed.message.content == add_ai_message_chunks(*drawn).content


def counted(watching: ChannelStreamingProcessor, part: Part) -> tuple[list[Event], int]:
    """The events of a part, and how many functions it took; the slow way takes twice as many."""
    calls = []
    sys.setprofile(lambda *what: calls.append(what[1]))
    try:
        events = list(watching.feed(part))
    finally:
        sys.setprofile(None)
    return events, calls.count("call")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("word ", "text"),
        ([{"type": "text", "text": "word ", "index": 1}], "text"),
        ([{"type": "thinking", "thinking": "word ", "index": 1}], "reasoning"),
        ([{"type": "reasoning", "reasoning": "word ", "index": 1}], "reasoning"),
    ],
)
def test_a_token_like_the_one_before_goes_the_fast_way(content: Any, kind: str) -> None:
    watching = ChannelStreamingProcessor(token_streaming=TokenStreamingConfig(), dedup=None)
    part = Part((), "messages", AIMessageChunk(content=content, id="m"), META)
    (first,) = watching.feed(part)
    (second,), count = counted(watching, part)
    assert isinstance(first, TokenStreamEvent)
    assert isinstance(second, TokenStreamEvent)
    assert second.kind == kind
    assert second.accumulated_content == "word word "
    assert count < 25
