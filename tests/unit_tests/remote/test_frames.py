"""Frames are those that the SDK reads, wherever the bytes are cut and however they were written."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import example, given, strategies as st
from langchain_core.messages import AIMessageChunk
from langgraph_sdk.sse import BytesLineDecoder, SSEDecoder

from langgraph_once.errors import StreamError
from langgraph_once.remote.alignment import Frame
from langgraph_once.remote.connection import FrameReader
from tests.examples import examples

META = {"langgraph_node": "a", "langgraph_path": ["a"], "tags": [{"x": 1}, {"y": 2}]}
TOKEN = {"content": 'a"},{"b\n', "type": "AIMessageChunk", "id": "m"}
WHOLE_TOKEN = AIMessageChunk(content='a"},{"b\n', id="m").model_dump()
BLOCKS = {**TOKEN, "content": [{"type": "text"}, {"type": "text"}]}
VALUES: list[Any] = [
    [TOKEN, META],
    [BLOCKS, META],
    [WHOLE_TOKEN, META],
    [{**WHOLE_TOKEN, "content": "ß"}, META],
    [TOKEN, {**META, "langgraph_node": "ß"}],
    [TOKEN, META, META],
    [TOKEN, 5, {}, META],
    [[TOKEN, META]],
    [{"a": [{"b": 1}, {"c": 2}]}],
    {"a": [{}, {"c": 2}]},
    {},
    [],
    None,
    "text",
]

json_texts = st.sampled_from([json.dumps(value, separators=(",", ":")) for value in VALUES])
line_ends = st.sampled_from(["\r\n", "\n", "\r"])
ids = st.sampled_from(["1-0", "2-0", "", "a b", "\0", "ü"])
usual = st.builds(
    "event: {}\r\ndata: {}\r\nid: {}\r\n\r\n".format, st.just("messages"), json_texts, ids
)
lines = st.one_of(
    st.builds("event: {}".format, st.sampled_from(["messages", "values|a:1", ""])),
    st.builds("data: {}".format, json_texts),
    st.builds("id: {}".format, ids),
    st.sampled_from([": heartbeat", "retry: 5", "data", "data:1", "\ufeff", "other: x", ""]),
)
odd = st.lists(st.builds("{}{}".format, lines, line_ends), max_size=6).map("".join)
streams = st.lists(st.one_of(usual, odd), max_size=8).map(lambda texts: "".join(texts).encode())
cuts = st.lists(st.integers(0, 400), max_size=12)


def pieces(body: bytes, sizes: list[int]) -> list[bytes]:
    """The body, cut after so many bytes each."""
    found, at = [], 0
    for size in sizes:
        found.append(body[at : at + size])
        at += size
    return [*found, body[at:]]


def read(data: list[bytes]) -> list[Frame]:
    reader = FrameReader()
    return [frame for piece in data for frame in reader.feed(piece)]


def as_json(value: Any) -> Any:
    """What a frame says as the server wrote it: a token comes as a message."""
    return orjson.loads(orjson.dumps(value, default=vars))


def outcome(data: list[bytes]) -> list[Frame] | str:
    try:
        return [frame._replace(data=as_json(frame.data)) for frame in read(data)]
    except StreamError as error:
        return str(error)


def told(data: list[bytes]) -> list[tuple[str, Any, str | None]]:
    """What the SDK says, less what says nothing."""
    decode_lines, decoder = BytesLineDecoder(), SSEDecoder()
    found = []
    for piece in data:
        for line in decode_lines.decode(piece):
            part = decoder.decode(bytes(line))
            if part is not None and (part.event or decoder.has_data):
                found.append((part.event, part.data, part.id))
    return found


@examples(75)
@given(body=streams, sizes=cuts)
@example(body=b"\xef\xbb\xbfevent: a\r\ndata: 1\r\nid: 1\r\n\r\n", sizes=[])
@example(body=b"event: a\r\ndata: 1\r\nid: 1\r\n\r\nid: 2\r\n\r\ndata: 2\r\n\r\n", sizes=[25, 3])
@example(body=b"event: a\r\ndata: [1]\n\r\nid: 2\r\n\r\n", sizes=[])
@example(body=b"event: a\r\ndata: [1]\r\r\nid: 2\r\n\r\n", sizes=[])
def test_our_frames_are_those_of_the_sdk(body: bytes, sizes: list[int]) -> None:
    cut = pieces(body, sizes)
    try:
        expected = told(cut)
    except orjson.JSONDecodeError:
        with pytest.raises(StreamError):
            read(cut)
        return
    said = [frame for frame in read(cut) if frame.event or frame.check]  # and no id alone
    assert [(event, as_json(data), i) for event, data, i, *_ in said] == expected


@given(body=streams, sizes=cuts)
def test_a_cut_changes_no_check(body: bytes, sizes: list[int]) -> None:
    assert outcome(pieces(body, sizes)) == outcome([body])


def test_one_frame_at_a_time_is_read_like_all_at_once() -> None:
    frames = [
        f"event: messages\r\ndata: {json.dumps(value)}\r\nid: {at}-0\r\n\r\n".encode()
        for at, value in enumerate(VALUES * 2)
    ]
    assert read(frames) == read([b"".join(frames)])
    assert [as_json(frame.data) for frame in read(frames)] == VALUES * 2


@pytest.mark.parametrize("event", ["messages", "messages|team:1|agent:2"])
def test_tokens_come_as_messages(event: str) -> None:
    text = json.dumps([WHOLE_TOKEN, META], separators=(",", ":"))
    (frame,) = read([f"event: {event}\r\ndata: {text}\r\nid: 1\r\n\r\n".encode()])
    assert frame.data == (AIMessageChunk(**WHOLE_TOKEN), {**META, "langgraph_path": ("a",)})


@pytest.mark.parametrize("mode", ["custom", "messages/partial", "values|messages:1"])
def test_what_looks_like_a_token_elsewhere_is_read_anew_each_time(mode: str) -> None:
    text = json.dumps([WHOLE_TOKEN, META], separators=(",", ":"))
    first, second = (
        frame.data
        for frame in read([f"event: {mode}\r\ndata: {text}\r\nid: 1\r\n\r\n".encode()] * 2)
    )
    assert first == second == [WHOLE_TOKEN, META]
    assert first[1] is not second[1]


def test_what_ends_like_a_token_is_no_token() -> None:
    text = json.dumps([TOKEN, META], separators=(",", ":"))
    bodies = [
        f"event: messages\r\ndata: {each}\r\nid: 1\r\n\r\n".encode()
        for each in (text, "(" + text[1:])
    ]
    with pytest.raises(StreamError, match="no JSON"):
        read(bodies)
