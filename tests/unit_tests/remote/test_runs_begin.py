"""Runs that do not begin, and frames that are none."""

from __future__ import annotations

import json
import resource

import httpx
import pytest
from langgraph_sdk.client import SyncLangGraphClient
from langgraph_sdk.errors import AuthenticationError, ConflictError, InternalServerError

from langgraph_once.config import RemoteConfig
from langgraph_once.errors import StreamError
from langgraph_once.remote import stream_run
from tests.unit_tests.remote.clients import BEGUN, CUSTOM, SUCCESS, Client, custom, numbers
from tests.unit_tests.remote.raw_server import THREAD, RawServer, answer, events, stream

REPEATED = stream(events(custom(3)))


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
    def test_a_refusal(self, client: Client, status: str, error: type[Exception]) -> None:
        with (
            RawServer(answer({"detail": "thread is busy"}, status)) as server,
            pytest.raises(error, match="thread is busy"),
        ):
            client.run(server)
        assert len(server.requests) == 1

    def test_nobody_listens(self) -> None:
        with RawServer(b"") as server:
            url = server.url
        with (
            SyncLangGraphClient(httpx.Client(base_url=url)) as client,
            pytest.raises(httpx.ConnectError),
        ):
            list(stream_run(client, THREAD, "graph", **CUSTOM))

    def test_another_content_type(self, client: Client) -> None:
        with (
            RawServer(answer(b"<html>", media_type="text/html")) as server,
            pytest.raises(httpx.TransportError, match="got text/html"),
        ):
            client.run(server)


def test_the_states_are_asked_for_unless_another_mode_is(client: Client) -> None:
    with RawServer(stream(events([BEGUN, ("end", None, "2-0")]))) as server:
        client.run(server, stream_mode=None)
    assert json.loads(server.bodies[0])["stream_mode"] == ["values"]


class TestFrames:
    @pytest.mark.parametrize("data", [b"{", b"<html>", b'"\xff', b'{"a":1}}'])
    def test_one_that_holds_no_json(self, client: Client, data: bytes) -> None:
        with (
            RawServer(stream(events([BEGUN, ("custom", data, "2-0")]))) as server,
            pytest.raises(StreamError, match="is no JSON"),
        ):
            client.run(server)

    def test_bytes_that_are_no_utf_8_are_replaced_as_the_standard_wants(
        self, client: Client
    ) -> None:
        body = events([BEGUN, ("custom", b'{"n": "a\xffb"}', "2-0")])
        with RawServer(stream(body), stream(body), SUCCESS) as server:
            assert numbers(client.run(server)) == ["a\ufffdb"]

    @pytest.mark.parametrize("piece", [b"x" * 1024, b"data: x\r\n"], ids=["line", "lines"])
    def test_one_that_does_not_end_is_refused_before_it_fills_the_memory(
        self, client: Client, piece: bytes
    ) -> None:
        endless = stream(b"data: " + piece * (50 * 1024 * 1024 // len(piece)), whole=False)
        bounded = RemoteConfig(max_frame_bytes=1024 * 1024)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with (
            RawServer(endless) as server,
            pytest.raises(StreamError, match=r"longer than 1048576 bytes; .*max_frame_bytes"),
        ):
            client.run(server, remote=bounded)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30 * 1024

    def test_a_large_one_passes_where_that_is_allowed(self, client: Client) -> None:
        large = events([BEGUN, ("custom", {"n": "x" * 2_000_000}, "2-0"), *custom(3)])
        with RawServer(stream(large), REPEATED, SUCCESS) as server:
            assert len(numbers(client.run(server))[0]) == 2_000_000

    def test_an_unfinished_one_is_none(self, client: Client) -> None:
        """Of a response whose length nobody told, a cut looks like the end."""
        head = stream(b"").split(b"Transfer-Encoding")[0] + b"\r\n"
        cut = head + events([BEGUN, *custom(1)]) + b'event: custom\r\ndata: {"n": 2}\r\n'
        rest = stream(events(custom(1, 2)))
        with RawServer(cut, rest, stream(events(custom(2))), SUCCESS) as server:
            assert numbers(client.run(server)) == [1, 2]
