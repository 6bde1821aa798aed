"""Bytes into frames and back, wherever the bytes are cut."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessageChunk

from langgraph_once.platform.sse.raw_frames import RawFrame, RawFrameReader, frame_bytes, id_line

STREAM = (
    'event: messages|a:1\r\ndata: [{"content": "Grüße ✓"}, {}]\r\nid: 1-0\r\n\r\n'
    ": heartbeat\r\n\r\n"
    "event: values\r\ndata: {\r\ndata: }\r\n\r\n"
    "id: 2-0\r\n\r\n"
).encode()


@given(st.lists(st.integers(0, len(STREAM)), max_size=6), st.sampled_from(["\r\n", "\n", "\r"]))
def test_frames_are_the_same_wherever_the_bytes_are_cut(cuts: list[int], newline: str) -> None:
    stream = STREAM.replace(b"\r\n", newline.encode())
    edges = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    reader = RawFrameReader()
    pieces = (stream[a:b] for a, b in itertools.pairwise(edges))
    frames = [frame for piece in pieces for frame in reader.feed(piece)]
    assert b"".join(frame.raw for frame in frames) + reader.rest() == STREAM
    assert [frame[1:] for frame in frames] == [
        ("messages|a:1", [{"content": "Grüße ✓"}, {}], "1-0"),
        ("", None, None),
        ("values", {}, None),
        ("", None, "2-0"),
    ]


def test_what_is_no_json_keeps_its_bytes_and_its_id() -> None:
    raw = b"event: values\r\ndata: {oops\r\nid: 7\r\n\r\n"
    assert list(RawFrameReader().feed(raw)) == [RawFrame(raw, id="7")]


def test_what_is_not_complete_is_handed_out_at_the_end() -> None:
    reader = RawFrameReader()
    assert list(reader.feed(b"event: values\r\ndata: {")) == []
    assert reader.rest() == b"event: values\r\ndata: {"


@pytest.mark.parametrize("event_id", [None, "1-0"])
def test_a_frame_is_written_as_the_server_writes_it(event_id: str | None) -> None:
    """Ids first or last, the order of fields says nothing."""
    message: Any = AIMessageChunk(content="line\nbreak ✓", id="m")
    written = frame_bytes("messages|a:1", [message, {"step": 1}], event_id)
    (read,) = RawFrameReader().feed(written)
    assert read == RawFrame(written, "messages|a:1", [message.model_dump(), {"step": 1}], event_id)


def test_an_id_line_takes_effect_with_the_next_frame() -> None:
    (read,) = RawFrameReader().feed(id_line("5-1") + b": heartbeat\r\n\r\n")
    assert (read.event, read.data, read.id) == ("", None, "5-1")
