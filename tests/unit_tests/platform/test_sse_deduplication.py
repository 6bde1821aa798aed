"""`SseDeduplication`: real graphs' events as the server writes them, each thing once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, RemoveMessage

from langgraph_once import DedupConfig, Deduplicator
from langgraph_once.platform.sse import SseDeduplication
from langgraph_once.platform.sse.deduplication import FrameFilter
from langgraph_once.platform.sse.raw_frames import RawFrameReader, frame_bytes
from tests.integration_tests.served import HELLO, builder
from tests.unit_tests.platform.streaming import Recorder, answered, request, streaming
from tests.unit_tests.stream.scenes import ALL, BYE, DRAFT, JOINED, team

HEARTBEAT = b": heartbeat\r\n\r\n"
MODES: Any = ["messages", "updates", "values"]
HIDE_NOT: Any = {}


def plain_frames() -> Iterator[bytes]:
    """What the server sends of a graph that is not wrapped, with resumable ids."""
    ids = (f"{i}-0" for i in itertools.count(1))
    yield frame_bytes("metadata", {"run_id": "r", "attempt": 1}, next(ids))
    asked: Any = {"messages": [{"role": "user", "content": "Hello?"}]}
    for mode, data in builder.compile().stream(asked, stream_mode=MODES):
        yield frame_bytes(mode, data, next(ids))


FRAMES = list(plain_frames())


async def received(
    frames: list[bytes], header: str | None = "1", *, by_default: bool = False, hide: Any = HIDE_NOT
) -> list[bytes]:
    config = DedupConfig(hide=hide)
    app = SseDeduplication(streaming(frames), by_default=by_default, config=config)
    scope = request() if header is None else request(x_once=header)
    return (await answered(app, scope)).bodies


def texts(bodies: list[bytes]) -> dict[str, str]:
    """The text of each message in mode `messages`, by its id."""
    found: dict[str, str] = {}
    for frame in RawFrameReader().feed(b"".join(bodies)):
        if frame.event == "messages":
            message = frame.data[0]
            found[message["id"]] = found.get(message["id"], "") + message["content"]
    return found


async def test_a_copy_is_left_out_and_the_rest_keeps_its_bytes() -> None:
    assert sorted(texts(FRAMES).values()) == [HELLO, HELLO]
    bodies = await received(FRAMES)
    assert list(texts(bodies).values()) == [HELLO]
    assert [body for body in bodies if body] == [frame for frame in FRAMES if frame in bodies]


async def test_nothing_changes_unless_it_is_asked_for() -> None:
    assert await received(FRAMES, None) == [*FRAMES, b""]
    assert await received(FRAMES, "0", by_default=True) == [*FRAMES, b""]
    assert len(texts(await received(FRAMES, None, by_default=True))) == 1


@pytest.mark.parametrize("header", ["1", None], ids=["exact", "stock"])
async def test_what_is_hidden_is_left_out_of_messages_alone(header: str | None) -> None:
    """By its tag, which its tokens bear; its copy bears none."""
    frames = [
        frame_bytes(mode, data, None)
        for mode, data in team().stream({"messages": [("user", "?")]}, stream_mode=MODES)
    ]
    hide = {"tags": ["draft"], "nodes": ["talk"]}
    bodies = await received(frames, header, by_default=True, hide=hide)
    assert set(texts(bodies).values()) == ALL - {DRAFT, JOINED, BYE}
    states = [f.data for f in RawFrameReader().feed(b"".join(bodies)) if f.event == "values"]
    assert {message["content"] for message in states[-1]["messages"]} >= ALL


async def test_another_value_of_the_header_is_passed_over() -> None:
    """Who may not ask at all must be told so first, by the server behind this."""
    assert await received(FRAMES, "please") == [*FRAMES, b""]
    assert len(texts(await received(FRAMES, "please", by_default=True))) == 1


async def test_other_routes_and_responses_pass_untouched() -> None:
    app = SseDeduplication(streaming(FRAMES), by_default=True, config=DedupConfig())
    sent = await answered(app, request("/threads/t/stream/events"))
    assert sent.bodies == [*FRAMES, b""]
    headers = [(b"content-type", b"application/json"), (b"content-length", b"2")]
    app = SseDeduplication(
        streaming([b"{}"], headers=headers), by_default=True, config=DedupConfig()
    )
    sent = await answered(app, request())
    assert (sent.messages[0]["headers"], sent.bodies) == (headers, [b"{}", b""])


def token(text: str, message_id: str = "m", **fields: Any) -> list[Any]:
    metadata = {"langgraph_checkpoint_ns": "node:1"}
    return [AIMessageChunk(content=text, id=message_id, **fields), metadata]


def copy(text: str) -> list[Any]:
    return [AIMessage(text, id="copy"), token("")[1]]


async def test_the_id_of_what_is_left_out_comes_with_the_next_heartbeat() -> None:
    frames = [
        frame_bytes("messages", token("Hello", chunk_position="last"), "1-0"),
        frame_bytes("messages", copy("Hello"), "2-0"),
        HEARTBEAT,
        HEARTBEAT,
        frame_bytes("custom", {"a": 1}, "3-0"),
    ]
    assert await received(frames) == [
        frames[0],
        b"id: 2-0\r\n" + HEARTBEAT,
        HEARTBEAT,
        frames[4],
        b"",
    ]


async def test_the_id_of_what_is_left_out_gives_way_to_a_later_one() -> None:
    frames = [
        frame_bytes("messages", token("Hello", chunk_position="last"), "1-0"),
        frame_bytes("messages", copy("Hello"), "2-0"),
        frame_bytes("custom", {"a": 1}, "3-0"),
        HEARTBEAT,
    ]
    assert await received(frames) == [frames[0], frames[2], HEARTBEAT, b""]


async def test_a_copy_that_says_more_brings_the_rest() -> None:
    frames = [
        frame_bytes("messages", token("Hello"), "1-0"),
        frame_bytes("messages", [AIMessage("Hello, world", id="m"), token("")[1]], "2-0"),
    ]
    bodies = await received(frames)
    assert texts(bodies) == {"m": "Hello, world"}
    (rest,) = RawFrameReader().feed(bodies[1])
    assert (rest.data[0]["content"], rest.data[0]["type"]) == (", world", "AIMessageChunk")
    assert rest.id == "2-0"


async def test_of_several_frames_for_one_only_the_last_has_the_id() -> None:
    """Cut between them, a client that re-joins is sent all of them again."""
    frames = [
        frame_bytes("messages", token("Hello", chunk_position="last"), "1-0"),
        frame_bytes("messages", [AIMessage("Redacted", id="m"), token("")[1]], "2-0"),
    ]
    removal, message = RawFrameReader().feed((await received(frames))[1])
    assert (removal.data[0]["type"], removal.id) == ("remove", None)
    assert (message.data[0]["content"], message.id) == ("Redacted", "2-0")


@pytest.mark.parametrize(
    "frame",
    [
        b'event: messages\r\ndata: {"method": "messages"}\r\n\r\n',
        b"event: messages\r\ndata: [1, 2]\r\n\r\n",
        b'event: messages\r\ndata: [{"type": "ai"}, {}]\r\n\r\n',
        b"event: messages\r\ndata: [{}, {}, {}]\r\n\r\n",
        frame_bytes("messages", [{**AIMessage("").model_dump(), "content": 5}, {}], None),
        frame_bytes("messages", [AIMessage("a", id="m"), [1]], None),
        b"event: messages\r\ndata: {oops\r\n\r\n",
        b"event: messages\r\ndata: null\r\n\r\n",
        b"event: values\r\ndata: 7\r\nid: 1\r\n\r\n",
        b'event: messages/partial\r\ndata: [{"type": "ai"}]\r\n\r\n',
        b'event: error\r\ndata: {"error": "E", "message": "m"}\r\n\r\n',
        b'event: made_up|a|b\r\ndata: {"a": 1}\r\n\r\n',
        b"retry: 500\r\n\r\n",
        b"id: 9\r\n\r\n",
        b"\r\n",
        HEARTBEAT,
    ],
)
async def test_what_is_not_understood_passes_untouched(frame: bytes) -> None:
    assert await received([frame, frame]) == [frame, frame, b""]


async def test_metadata_that_misleads_us_ends_no_stream(caplog: pytest.LogCaptureFixture) -> None:
    metadata = {"langgraph_checkpoint_ns": ["private"]}
    frames = [
        frame_bytes("messages", [message, metadata], f"{i}-0")
        for i, message in enumerate((token("a")[0], token("b")[0], AIMessage("ab", id="copy")))
    ]
    assert await received(frames) == [*frames[:2], b""]  # the last repeats what those say
    assert "private" not in caplog.text


async def test_a_frame_in_pieces_is_read_whole_and_a_rest_is_not_lost() -> None:
    whole = b"".join(FRAMES)
    pieces = [whole[i : i + 100] for i in range(0, len(whole), 100)]
    assert list(texts(await received(pieces)).values()) == [HELLO]
    assert (await received([b"event: values\r\ndata: {"]))[-1] == b"event: values\r\ndata: {"


async def test_an_error_in_the_stream_is_the_servers() -> None:
    app = SseDeduplication(
        streaming(FRAMES, error=ValueError("broken")), by_default=True, config=DedupConfig()
    )
    recorder = Recorder()
    with pytest.raises(ValueError, match="broken"):
        await app(request(), recorder.receive, recorder.send)
    assert list(texts(recorder.bodies).values()) == [HELLO]


async def test_nothing_is_held_back_whatever_the_settings_say() -> None:
    """A reader that re-joins after a later event would never get it."""

    def said(message: BaseMessage, source: str, attempt: int) -> list[Any]:
        annotation = {"v": 1, "source": source, "attempt": attempt, "at": "node:1"}
        return [message, {**token("")[1], "once": annotation}]

    messages = [
        said(AIMessageChunk(content="Hello", id="m1"), "model", 1),
        said(RemoveMessage(id="m1"), "retry", 2),
        said(AIMessageChunk(content="Hel", id="m2"), "model", 2),
    ]
    frames = [frame_bytes("messages", data, f"{i}-0") for i, data in enumerate(messages)]
    hold = DedupConfig(reexecution="hold")
    held = FrameFilter(Deduplicator(hold))
    assert [bool(held.feed(frame)) for frame in frames] == [True, False, False]
    app = SseDeduplication(streaming(frames), by_default=True, config=hold)
    assert (await answered(app, request())).bodies == [*frames, b""]
