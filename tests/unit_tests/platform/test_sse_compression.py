"""`SseCompression`: event streams, event by event, and nothing else."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from langgraph_once.platform.sse import SseCompression
from tests.unit_tests.platform.streaming import (
    EVENT_STREAM,
    Recorder,
    answered,
    request,
    streaming,
)
from tests.unit_tests.platform.test_sse_encodings import EVENTS, decoder

ALL = ("zstd", "br", "gzip")
HEARTBEAT = b": heartbeat\r\n\r\n"
BODIES = [*EVENTS[:3], HEARTBEAT, *EVENTS[3:]]


async def send_body(send: Send, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})


async def compressed(**asked: str) -> Recorder:
    """What a client is sent that asks so."""
    return await answered(SseCompression(streaming(BODIES), encodings=ALL), request(**asked))


@pytest.mark.parametrize("encoding", ALL)
async def test_every_event_leaves_at_once_and_whole(encoding: str) -> None:
    decode = decoder(encoding)
    sent = await compressed(accept_encoding=encoding)
    assert sent.headers["content-encoding"] == encoding
    assert [decode(body) for body in sent.bodies] == [*BODIES, b""]
    assert [message["more_body"] for message in sent.messages[1:]] == [True] * 10 + [False]


async def test_the_headers_say_what_was_done_and_the_apps_are_not_changed() -> None:
    headers = [*EVENT_STREAM, (b"content-length", b"99"), (b"vary", b"Origin"), (b"x-a", b"b")]
    app = streaming(BODIES, headers=headers)
    plain = await answered(app, request())
    sent = await answered(SseCompression(app, encodings=ALL), request(accept_encoding="gzip"))
    assert sent.headers == {
        "content-type": "text/event-stream; charset=utf-8",
        "vary": "Origin, Accept-Encoding",
        "x-a": "b",
        "content-encoding": "gzip",
    }
    assert plain.messages[0]["headers"] == headers


@pytest.mark.parametrize("accepted", ["identity", "gzip;q=0", "deflate", "gzip;q=0.1, identity"])
async def test_a_client_that_takes_no_encoding_gets_none(accepted: str) -> None:
    sent = await compressed(accept_encoding=accepted)
    assert sent.bodies == [*BODIES, b""]
    assert "content-encoding" not in sent.headers
    assert sent.headers["vary"] == "Accept-Encoding"  # a cache must not mix the two up


@pytest.mark.parametrize("browser", [{"origin": "http://page"}, {"sec_fetch_mode": "cors"}])
async def test_a_page_that_joins_a_run_from_its_begin_gets_it_as_the_server_sends_it(
    browser: dict[str, str],
) -> None:
    app = SseCompression(streaming(BODIES), encodings=ALL)
    asked = {"accept_encoding": "gzip", **browser, "last_event_id": "-1"}
    sent = await answered(app, request(**asked))
    assert sent.bodies == [*BODIES, b""]
    assert "content-encoding" not in sent.headers


@pytest.mark.parametrize(
    "asked",
    [
        {"origin": "http://page"},
        {"origin": "http://page", "last_event_id": "1790000000000-0"},
        {"last_event_id": "-1"},
    ],
    ids=["it begins a run", "it goes on behind an event", "it is no browser"],
)
async def test_readers_that_are_not_the_page_get_the_stream_compressed(
    asked: dict[str, str],
) -> None:
    sent = await compressed(accept_encoding="gzip", **asked)
    assert sent.headers["content-encoding"] == "gzip"


@pytest.mark.parametrize(
    ("scope", "options"),
    [
        ({}, {"headers": [(b"content-type", b"application/json")]}),
        ({}, {"headers": []}),
        ({}, {"headers": [*EVENT_STREAM, (b"content-encoding", b"br")]}),
        ({}, {"headers": [*EVENT_STREAM, (b"cache-control", b"no-store, no-transform")]}),
        ({}, {"status": 206}),
        ({}, {"status": 500}),
        ({"method": "HEAD"}, {}),
    ],
    ids=["json", "no type", "encoded", "no-transform", "partial", "error", "HEAD"],
)
async def test_everything_else_passes_untouched(
    scope: dict[str, Any], options: dict[str, Any]
) -> None:
    app = streaming([b"one", b"two"], **options)
    asked = {**request(accept_encoding="gzip"), **scope}
    sent = await answered(SseCompression(app, encodings=ALL), asked)
    assert sent.messages == (await answered(app, asked)).messages


@pytest.mark.parametrize("kind", ["websocket", "lifespan"])
async def test_requests_that_are_not_http_pass_uncompressed(kind: str) -> None:
    seen: list[Any] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append((scope, receive, send))

    scope, recorder = {"type": kind}, Recorder()
    receive, send = recorder.receive, recorder.send
    await SseCompression(app, encodings=ALL)(scope, receive, send)
    assert seen == [(scope, receive, send)]


async def test_other_messages_of_the_response_pass_untouched() -> None:
    trailers: Message = {"type": "http.response.trailers", "headers": [], "more_trailers": False}
    events = streaming(BODIES)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await events(scope, receive, send)
        await send(trailers)

    sent = await answered(SseCompression(app, encodings=ALL), request(accept_encoding="gzip"))
    assert sent.messages[-1] is trailers


async def test_only_the_encodings_of_the_settings_are_offered() -> None:
    for encodings, expected in ((("gzip",), "gzip"), ((), None)):
        app = SseCompression(streaming(BODIES), encodings=encodings)
        sent = await answered(app, request(accept_encoding="zstd, gzip"))
        assert sent.headers.get("content-encoding") == expected


async def test_an_error_in_the_stream_is_the_servers_and_what_came_before_it_is_read() -> None:
    app = SseCompression(streaming(BODIES, error=ValueError("broken")), encodings=ALL)
    recorder = Recorder()
    with pytest.raises(ValueError, match="broken"):
        await app(request(accept_encoding="gzip"), recorder.receive, recorder.send)
    stream = zlib.decompressobj(31)
    assert b"".join(map(stream.decompress, recorder.bodies)) == b"".join(BODIES)
    assert not stream.eof  # a stream that broke must not look as if it had ended


async def test_a_cancelled_heartbeat_does_not_break_what_follows() -> None:
    """The server cancels the task of its heartbeats while it may wait for a slow client."""
    recorder, is_slow = Recorder(), asyncio.Event()

    async def send(message: Message) -> None:
        if is_slow.is_set():
            await asyncio.Event().wait()
        await recorder.send(message)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": EVENT_STREAM})
        await send_body(send, EVENTS[0])
        is_slow.set()
        heartbeat = asyncio.create_task(send_body(send, HEARTBEAT))
        await asyncio.sleep(0)
        heartbeat.cancel()
        await asyncio.wait([heartbeat])
        is_slow.clear()
        await send_body(send, EVENTS[1])
        await send({"type": "http.response.body"})

    await SseCompression(app, encodings=ALL)(
        request(accept_encoding="gzip"), recorder.receive, send
    )
    whole = gzip.decompress(b"".join(recorder.bodies))
    assert whole == EVENTS[0] + HEARTBEAT + EVENTS[1]


async def test_events_and_heartbeats_of_two_tasks_stay_in_order() -> None:
    recorder = Recorder()

    async def slow_first(message: Message) -> None:
        if message["type"] == "http.response.body" and len(recorder.messages) == 1:
            await asyncio.sleep(0.01)
        await recorder.send(message)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": EVENT_STREAM})
        async with asyncio.TaskGroup() as tasks:
            for body in BODIES:
                tasks.create_task(send_body(send, body))
        await send({"type": "http.response.body"})

    await SseCompression(app, encodings=ALL)(
        request(accept_encoding="gzip"), recorder.receive, slow_first
    )
    assert gzip.decompress(b"".join(recorder.bodies)) == b"".join(BODIES)


async def test_other_requests_have_their_turn_while_a_large_event_is_compressed() -> None:
    event = b"data: " + b"x" * 1_000_000 + b"\r\n\r\n"
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    app = SseCompression(streaming([event]), encodings=ALL)
    sent = await answered(app, request(accept_encoding="gzip"))
    task.cancel()
    assert turns >= len(event) // (64 * 1024)
    assert zlib.decompressobj(31).decompress(sent.bodies[0]) == event  # in one message
