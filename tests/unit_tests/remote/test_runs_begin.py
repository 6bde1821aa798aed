"""Runs that do not begin, and frames that are none."""

from __future__ import annotations

import json
import time
from typing import Any

import httpx
import pytest
from langgraph_sdk.client import SyncLangGraphClient
from langgraph_sdk.errors import (
    APIStatusError,
    AuthenticationError,
    ConflictError,
    InternalServerError,
    RateLimitError,
)

from langgraph_once.config import RemoteConfig
from langgraph_once.errors import StreamError
from langgraph_once.remote import stream_run
from tests.unit_tests.remote.clients import (
    BEGUN,
    CUSTOM,
    SUCCESS,
    Client,
    custom,
    cut_run,
    numbers,
    rest_of,
)
from tests.unit_tests.remote.raw_server import (
    THREAD,
    RawServer,
    answer,
    events,
    stream,
    unsized,
)


class TestBeginning:
    """Before a run has begun there is nothing to come back to: errors come as the SDK has them."""

    @pytest.mark.parametrize(
        ("status", "error"),
        [
            ("401 Unauthorized", AuthenticationError),
            ("409 Conflict", ConflictError),
            ("500 Internal Server Error", InternalServerError),
        ],
    )
    def test_a_run_that_the_server_refuses(
        self, client: Client, status: str, error: type[Exception]
    ) -> None:
        _, server = client.fails(
            error, answer({"detail": "thread is busy"}, status), match="thread is busy"
        )
        assert len(server.requests) == 1

    def test_a_run_at_an_address_where_nobody_listens(self) -> None:
        with RawServer(b"") as server:
            url = server.url
        with (
            SyncLangGraphClient(httpx.Client(base_url=url)) as client,
            pytest.raises(httpx.ConnectError),
        ):
            list(stream_run(client, THREAD, "graph", **CUSTOM))

    def test_a_stream_of_another_content_type_is_refused(self, client: Client) -> None:
        client.fails(
            httpx.TransportError, answer(b"<html>", media_type="text/html"), match="got text/html"
        )


def test_the_states_are_asked_for_unless_another_mode_is(client: Client) -> None:
    with RawServer(stream(events([BEGUN, ("end", None, "2-0")]))) as server:
        client.run(server, stream_mode=None)
    assert json.loads(server.bodies[0])["stream_mode"] == ["values"]


class TestFrames:
    @pytest.mark.parametrize("data", [b"{", b"<html>", b'"\xff', b'{"a":1}}'])
    def test_a_frame_that_holds_no_json_is_refused(self, client: Client, data: bytes) -> None:
        client.fails(
            StreamError, stream(events([BEGUN, ("custom", data, "2-0")])), match="is no JSON"
        )

    def test_bytes_that_are_no_utf_8_are_replaced_as_the_standard_wants(
        self, client: Client
    ) -> None:
        body = events([BEGUN, ("custom", b'{"n": "a\xffb"}', "2-0")])
        assert client.numbers(stream(body), SUCCESS) == ["a\ufffdb"]

    def test_a_large_one_passes(self, client: Client) -> None:
        large = events([BEGUN, ("custom", {"n": "x" * 2_000_000}, "2-0"), *custom(3)])
        with RawServer(stream(large), SUCCESS) as server:
            assert len(numbers(client.run(server))[0]) == 2_000_000

    def test_an_unfinished_one_is_none(self, client: Client) -> None:
        """Of a response whose length nobody told, a cut looks like the end."""
        cut = unsized(events([BEGUN, *custom(1)]) + b'event: custom\r\ndata: {"n": 2}\r\n')
        assert client.numbers(cut, rest_of(1, 2), rest_of(2), SUCCESS) == [1, 2]


def refused(status: str, **headers: str) -> bytes:
    """An answer that says when to come back, if it does."""
    lines = "".join(f"\r\n{name.replace('_', '-')}: {value}" for name, value in headers.items())
    return answer({"detail": "later"}, status + lines)


BUSY, UNAVAILABLE = "429 Too Many Requests", "503 Service Unavailable"
BEGAN = stream(events([BEGUN, *custom(1), ("end", None, "3-0")]))
LATER: Any = {
    "Date": "Sun, 22 Nov 2026 20:00:00 GMT",
    "Retry_After": "Sun, 22 Nov 2026 20:00:01 GMT",
}


class TestBeginningAgain:
    """A run is never begun twice: it is asked for again where it is certain that it was not."""

    @pytest.mark.parametrize(
        ("busy", "least_s"),
        [
            (refused(BUSY), 0),
            (refused(BUSY, Retry_After="1"), 1),
            (refused(UNAVAILABLE, Retry_After="0"), 0),
            (refused(UNAVAILABLE, **LATER), 1),
        ],
        ids=["busy", "busy for a second", "unavailable", "until a time"],
    )
    def test_a_server_that_took_nothing_on_is_asked_again_when_it_says(
        self, client: Client, busy: bytes, least_s: float
    ) -> None:
        began = time.monotonic()
        with RawServer(busy, BEGAN) as server:
            assert numbers(client.run(server)) == [1]
        assert time.monotonic() - began >= least_s
        assert [head.split()[0] for head in server.requests] == ["POST", "POST"]
        assert server.bodies[0] == server.bodies[1]

    @pytest.mark.parametrize(
        "doubtful",
        [
            refused("502 Bad Gateway", Retry_After="0"),
            refused("504 Gateway Timeout", Retry_After="0"),
            refused("500 Internal Server Error", Retry_After="0"),
            refused(UNAVAILABLE),
            refused(UNAVAILABLE, Retry_After="soon"),
            refused(BUSY, Retry_After="3600"),
            b"",
        ],
        ids=["502", "504", "500", "503", "503 soon", "429 in an hour", "cut"],
    )
    def test_a_run_that_may_have_begun_or_wants_no_retry_is_not_begun_again(
        self, client: Client, doubtful: bytes
    ) -> None:
        with (
            RawServer(doubtful, BEGAN) as server,
            pytest.raises((APIStatusError, httpx.RemoteProtocolError)),
        ):
            client.run(server)
        assert len(server.requests) == 1

    def test_nothing_can_be_missing_of_a_run_that_had_not_begun(self, client: Client) -> None:
        assert client.numbers(refused(BUSY), BEGAN, stream_resumable=False) == [1]

    def test_beginning_again_is_bounded_and_ends_with_what_the_server_said(
        self, client: Client
    ) -> None:
        _, server = client.fails(RateLimitError, refused(BUSY), match="later")
        assert len(server.requests) == 3

    def test_a_run_that_has_begun_is_asked_for_when_the_server_says(self, client: Client) -> None:
        began = time.monotonic()
        cut, rest = cut_run(1), rest_of(1, 2)
        busy = refused(BUSY, Retry_After="1")
        assert client.numbers(cut, busy, rest, rest_of(2), SUCCESS) == [1, 2]
        assert time.monotonic() - began >= 1


class TestSilence:
    """A connection that says nothing is dead where the server would send heartbeats."""

    IMPATIENT = RemoteConfig(max_retries=2, idle_timeout_s=0.2)
    SILENT = cut_run(1)

    def test_silence_is_noticed_after_three_heartbeats_unless_configured(self) -> None:
        assert RemoteConfig().idle_timeout_s == 15

    def test_a_server_may_take_long_to_begin_a_run(self, client: Client) -> None:
        with RawServer((0.6, stream(events([BEGUN, ("end", None, "2-0")])))) as server:
            assert client.run(server, remote=self.IMPATIENT) == []
        assert len(server.requests) == 1

    @pytest.mark.parametrize("missing", ["offer", "wish"])
    def test_what_could_not_be_read_on_is_waited_for(self, client: Client, missing: str) -> None:
        begun = self.SILENT
        if missing == "offer":
            begun = begun.replace(b"\r\nLocation: ", b"\r\nX-Location: ")
        end = events([("end", None, "9-0")])
        last = b"%x\r\n%b\r\n0\r\n\r\n" % (len(end), end)
        with RawServer((begun, 0.6, last)) as server:
            options = {"stream_resumable": False} if missing == "wish" else {}
            assert numbers(client.run(server, remote=self.IMPATIENT, **options)) == [1]
        assert len(server.requests) == 1
