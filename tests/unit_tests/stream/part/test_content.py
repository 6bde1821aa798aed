"""Content: streamed and whole forms of one message compare equal, different ones do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    ToolMessage,
)
from langchain_core.messages.tool import tool_call_chunk

from langgraph_once.stream.content import (
    NO_DETAILS,
    Content,
    StreamedContent,
    content_of,
    details_of,
)


def streamed(*chunks: AIMessageChunk) -> Content:
    content = StreamedContent(chunks[0])
    for chunk in chunks[1:]:
        content.extend(chunk)
    return content.content()


def test_details_that_cannot_be_compared_count_as_the_same() -> None:
    one, other = (AIMessage("Hi", additional_kwargs={"at": np.zeros(2)}) for _ in "ab")
    gained = details_of(one).gained_by(details_of(other))
    assert gained == NO_DETAILS


def test_what_a_block_lists_is_part_of_what_it_says() -> None:
    cited: Any = [{"type": "citations", "sources": ["a", {"page": 1}]}]
    others: Any = [{"type": "citations", "sources": ["a", {"page": 2}]}]
    assert streamed(AIMessageChunk(content=cited)) == content_of(AIMessage(cited))
    assert content_of(AIMessage(cited)) != content_of(AIMessage(others))


def test_calls_that_come_whole_bear_no_index() -> None:
    """As those of Google's models do."""
    calls = [("search", '{"query": "here"}', "call_1"), ("search", '{"query": "there"}', None)]
    pieces = [tool_call_chunk(name=name, args=args, id=its_id) for name, args, its_id in calls]
    chunks = [AIMessageChunk(content="", tool_call_chunks=[piece]) for piece in pieces]
    said = [{"name": "search", "args": {"query": at}} for at in ("here", "there")]
    whole: Any = [{**said[0], "id": "call_1"}, {**said[1], "id": None}]
    assert streamed(*chunks) == content_of(AIMessage("", tool_calls=whole))


@given(st.lists(st.text(min_size=1), min_size=1))
def test_text_in_pieces_is_the_whole_text(pieces: list[str]) -> None:
    chunks = [AIMessageChunk(content=piece, id="m") for piece in pieces]
    assert streamed(*chunks) == content_of(AIMessage("".join(pieces), id="other"))


@given(
    st.dictionaries(st.text(), st.integers() | st.text() | st.booleans()),
    st.integers(min_value=1, max_value=9),
)
def test_tool_calls_in_pieces_are_the_whole_calls(args: dict[str, Any], size: int) -> None:
    import json

    text = json.dumps(args)
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    first = tool_call_chunk(name="search", args="", id="call_1", index=0)
    chunks = [AIMessageChunk(content="", tool_call_chunks=[first])] + [
        AIMessageChunk(content="", tool_call_chunks=[tool_call_chunk(args=piece, index=0)])
        for piece in pieces
    ]
    whole = AIMessage("", tool_calls=[{"name": "search", "args": args, "id": "call_1"}])
    assert streamed(*chunks) == content_of(whole)


def test_blocks_in_pieces_are_the_whole_blocks() -> None:
    chunks = [
        AIMessageChunk(content=[{"type": "reasoning", "reasoning": "First ", "index": 0}]),
        AIMessageChunk(content=[{"type": "reasoning", "reasoning": "this.", "index": 0}]),
        AIMessageChunk(content=[{"type": "text", "text": "Then ", "index": 1}]),
        AIMessageChunk(content=[{"type": "text", "text": "that.", "index": 1}]),
    ]
    whole = AIMessage(
        [{"type": "reasoning", "reasoning": "First this."}, {"type": "text", "text": "Then that."}]
    )
    assert streamed(*chunks) == content_of(whole)


BASE = AIMessage("yes", tool_calls=[{"name": "f", "args": {"n": 1}, "id": "c"}])


@pytest.mark.parametrize(
    "other",
    [
        AIMessage("yes"),
        AIMessage("Yes", tool_calls=BASE.tool_calls),
        AIMessage("yes", tool_calls=[{"name": "f", "args": {"n": 2}, "id": "c"}]),
        AIMessage("yes", tool_calls=[{"name": "f", "args": {"n": True}, "id": "c"}]),
        AIMessage("yes", tool_calls=[{"name": "f", "args": {"n": 1}, "id": "d"}]),
        AIMessage(
            [{"type": "text", "text": "yes"}, {"type": "image", "url": "x"}],
            tool_calls=BASE.tool_calls,
        ),
        HumanMessage("yes"),
        ToolMessage("yes", tool_call_id="c"),
    ],
    ids=lambda message: repr(message.content)[:20] + message.type,
)
def test_messages_that_say_something_else_have_another_content(other: BaseMessage) -> None:
    assert content_of(BASE) != content_of(other)


def test_tool_results_differ_by_status_artifact_and_call() -> None:
    base = ToolMessage("5", tool_call_id="c", artifact={"n": 1})
    for change in ({"status": "error"}, {"artifact": {"n": True}}, {"tool_call_id": "d"}):
        assert content_of(base.model_copy(update=change)) != content_of(base)


def test_usage_and_ids_are_no_content() -> None:
    usage = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
    plain = AIMessage("yes", id="a")
    measured = AIMessage("yes", id="b", usage_metadata=usage, response_metadata={"x": 1})
    assert content_of(plain) == content_of(measured)


@pytest.mark.parametrize(
    ("cut", "is_beginning"),
    [
        (Content("ai", "He"), True),
        (Content("ai", "He", (), (("reasoning", "Let"),)), True),
        (Content("ai", "", (), (("reasoning", "Let"),)), True),
        (Content("ai", "He", (), (("reasoning", "No"),)), False),
        (Content("ai", "She", (), (("reasoning", "Let"),)), False),
        (Content("ai", "He", (), (("image", "Let"),)), False),
        (Content("ai", ""), False),
    ],
)
def test_what_was_cut_short_is_begun_with_in_all_that_it_says(
    cut: Content, is_beginning: bool
) -> None:
    whole = Content("ai", "Hello", (), (("reasoning", "Let me see"),))
    assert whole.begins_with(cut) is is_beginning


THOUGHT: Any = {"type": "thinking", "thinking": "Hm.", "index": 0}


def test_what_says_nothing_is_no_copy_of_a_thought() -> None:
    assert not content_of(AIMessage("")).is_copy_of(content_of(AIMessage([THOUGHT])))


def test_what_has_more_than_the_words_is_no_copy_of_them() -> None:
    image = HumanMessage(["Yes.", {"type": "image", "url": "there"}])
    assert not content_of(image).is_copy_of(content_of(AIMessage("Yes.")), in_any_role=True)


def test_thoughts_count_for_the_size_of_what_streams() -> None:
    said = StreamedContent(
        AIMessageChunk(content=[THOUGHT, {"type": "text", "text": "Yes.", "index": 1}])
    )
    assert said.size == len("Hm.Yes.")
