"""Runs of servers that answer badly: clear errors, bounded tries, bounded memory."""

from __future__ import annotations

import json
import resource
import time
from typing import Any

import httpx
import pytest
from langgraph.pregel.remote import RemoteException
from langgraph_sdk import get_client, get_sync_client
from langgraph_sdk.client import SyncLangGraphClient
from langgraph_sdk.errors import AuthenticationError, ConflictError, InternalServerError

from langgraph_once.config import RemoteConfig
from langgraph_once.errors import ConfigError, StreamError, StreamInterrupted
from langgraph_once.remote import join_run, stream_run
from langgraph_once.remote.reconcile import PAGE
from langgraph_once.stream import Ledger, Part
from tests.unit_tests.remote.raw_server import RUN, THREAD, RawServer, answer, events, stream

QUICK = RemoteConfig(max_retries=2, backoff_s=0, max_backoff_s=0)
BEGUN = ("metadata", {"run_id": RUN, "attempt": 1}, "1-0")
CUSTOM: Any = {"stream_mode": "custom", "remote": QUICK}
SUCCESS = answer({"run_id": RUN, "status": "success"})
NOT_FOUND = answer({"detail": "not found"}, "404 Not Found")
FIFTH = {"checkpoint_id": "5"}


def custom(*numbers: int) -> list[tuple[str, Any, str | None]]:
    return [("custom", {"n": n}, f"{n + 1}-0") for n in numbers]


def run(server: RawServer, **options: Any) -> list[Part]:
    with get_sync_client(url=server.url) as client:
        return list(stream_run(client, THREAD, "graph", **{**CUSTOM, **options}))


def numbers(parts: list[Part]) -> list[Any]:
    return [part.data if part.mode == "gap" else part.data["n"] for part in parts]


WHOLE = stream(events([BEGUN, *custom(1, 2, 3)]))
EMPTY = stream(b"")
REPEATED = stream(events(custom(3)))


class TestGoingOn:
    def test_a_run_is_asked_for_once_more_and_for_its_status(self) -> None:
        slow = RemoteConfig(backoff_s=5)
        began = time.monotonic()
        with RawServer(WHOLE, REPEATED, SUCCESS) as server:
            assert numbers(run(server, remote=slow)) == [1, 2, 3]
            assert time.monotonic() - began < 4  # what ended by itself is not waited for
            assert [head.split()[0] for head in server.requests] == ["POST", "GET", "GET"]
            assert "last-event-id: 3-0" in server.requests[1].lower()

    def test_an_end_that_is_said_is_enough(self) -> None:
        ended = stream(events([BEGUN, *custom(1), ("end", {"status": "success"}, "3-0")]))
        with RawServer(ended) as server:
            assert numbers(run(server)) == [1]
            assert len(server.requests) == 1

    def test_a_cut_is_not_the_end(self) -> None:
        cut = stream(events([BEGUN, *custom(1)]) + b"event: custom\r\nda", whole=False)
        with RawServer(cut, stream(events(custom(1, 2))), stream(events(custom(2))), SUCCESS) as s:
            assert numbers(run(s)) == [1, 2]

    def test_an_end_that_looks_clean_is_not_believed(self) -> None:
        """A proxy that closes idle connections, say."""
        closed = stream(events([BEGUN, *custom(1)]))
        rest = stream(events(custom(1, 2)))
        with RawServer(closed, rest, stream(events(custom(2))), SUCCESS) as server:
            assert numbers(run(server)) == [1, 2]

    def test_a_run_that_goes_on_is_read_on(self) -> None:
        running = answer({"run_id": RUN, "status": "running"})
        again = stream(events(custom(1)))
        rest = stream(events(custom(1, 2)))
        last = stream(events(custom(2)))
        with RawServer(
            stream(events([BEGUN, *custom(1)])), again, running, rest, last, SUCCESS
        ) as server:
            assert numbers(run(server)) == [1, 2]

    def test_heartbeats_are_nothing(self) -> None:
        beating = stream(b": heartbeat\r\n\r\n" + events([BEGUN]) + b": heartbeat\r\n\r\n:\r\n\r\n")
        with RawServer(beating, stream(events([BEGUN])), SUCCESS) as server:
            assert run(server) == []

    def test_a_silent_connection_counts_as_cut(self) -> None:
        impatient = RemoteConfig(max_retries=2, backoff_s=0, max_backoff_s=0, idle_timeout_s=0.2)
        first = stream(events([BEGUN, *custom(1)]), whole=False)
        with RawServer(
            first, None, stream(events(custom(1, 2))), stream(events(custom(2))), SUCCESS
        ) as s:
            assert numbers(run(s, remote=impatient)) == [1, 2]

    @pytest.mark.parametrize("status", ["503 Service Unavailable", "429 Too Many Requests"])
    def test_a_server_that_is_busy_is_asked_again(self, status: str) -> None:
        cut = stream(events([BEGUN, *custom(1)]), whole=False)
        busy = answer({"detail": "later"}, status)
        patient = RemoteConfig(max_retries=3, backoff_s=0, max_backoff_s=0)
        page = answer(b"<html>", media_type="text/html")
        last = stream(events(custom(2)))
        with RawServer(cut, busy, page, stream(events(custom(1, 2))), last, SUCCESS) as server:
            assert numbers(run(server, remote=patient)) == [1, 2]

    def test_an_event_that_the_server_does_not_keep_is_not_waited_for(self) -> None:
        cut = stream(events([BEGUN, *custom(1), ("feedback", {}, "3-0")]), whole=False)
        with RawServer(cut, stream(events(custom(1, 4))), stream(events(custom(4))), SUCCESS) as s:
            assert [part.mode for part in run(s)] == ["custom", "feedback", "custom"]


class TestGivingUp:
    def test_tries_in_vain_are_bounded_and_the_error_carries_all_that_is_needed(self) -> None:
        cut = stream(events([BEGUN, *custom(1, 2)]), whole=False)
        ledger = Ledger()
        with (
            RawServer(cut, stream(b"", whole=False)) as server,
            pytest.raises(StreamInterrupted, match="gave up after 2") as caught,
        ):
            run(server, ledger=ledger)
        error = caught.value
        assert len(server.requests) == 3
        assert (error.thread_id, error.run_id, error.last_event_id) == (THREAD, RUN, "3-0")
        assert error.ledger is ledger
        assert isinstance(error.__cause__, httpx.TransportError)
        assert "n" not in error.position

    def test_an_event_that_is_new_makes_them_start_afresh(self) -> None:
        pieces = [
            stream(events([BEGUN, *custom(1)]), whole=False),
            *(stream(events(custom(n, n + 1)), whole=False) for n in range(1, 9)),
            stream(events(custom(9))),
            SUCCESS,
        ]
        with RawServer(*pieces) as server:
            assert numbers(run(server)) == list(range(1, 10))

    def test_no_retries_at_all(self) -> None:
        none = RemoteConfig(max_retries=0)
        with (
            RawServer(stream(events([BEGUN]), whole=False)) as server,
            pytest.raises(StreamInterrupted),
        ):
            run(server, remote=none)
        assert len(server.requests) == 1

    def test_a_server_that_refuses_is_not_asked_again(self) -> None:
        cut = stream(events([BEGUN, *custom(1)]), whole=False)
        with (
            RawServer(cut, answer({"detail": "who?"}, "401 Unauthorized")) as server,
            pytest.raises(StreamInterrupted, match="refused with 401"),
        ):
            run(server)
        assert len(server.requests) == 2

    def test_a_run_that_is_unknown_and_not_complete_is_an_error_after_what_is_known(self) -> None:
        cut = stream(events([BEGUN, *custom(1)]), whole=False)
        with (
            RawServer(cut, NOT_FOUND) as server,
            get_sync_client(url=server.url) as client,
        ):
            parts = stream_run(client, THREAD, "graph", **CUSTOM)
            assert numbers([next(parts), next(parts)]) == [1, "the server no longer knows the run"]
            with pytest.raises(StreamInterrupted, match="no longer knows it"):
                next(parts)

    def test_so_it_is_where_the_stream_says_that_it_is_unknown(self) -> None:
        cut = stream(events([BEGUN, *custom(1)]), whole=False)
        error = {"error": "HTTPException", "message": "404: Run not found"}
        unknown = stream(events([("error", error, None)]))
        with (
            RawServer(cut, unknown, NOT_FOUND) as server,
            pytest.raises(StreamInterrupted, match="no longer knows it"),
        ):
            run(server)

    def test_a_run_that_is_unknown_but_complete_ends(self) -> None:
        cut = stream(events([BEGUN, *custom(1)]), whole=False)
        states = answer([{"values": {}, "next": [], "tasks": []}])
        with RawServer(cut, NOT_FOUND, NOT_FOUND, states) as server:
            assert numbers(run(server)) == [1, "the server no longer knows the run"]

    def test_a_run_without_a_thread_that_is_cut_and_cannot_be_joined(self) -> None:
        thread = f"/threads/{THREAD}".encode()
        whole, cut = (
            stream(events([BEGUN, *custom(1)]), whole=whole).replace(thread, b"")
            for whole in (True, False)
        )
        with RawServer(whole, NOT_FOUND) as s, get_sync_client(url=s.url) as client:
            assert numbers(list(stream_run(client, None, "graph", **CUSTOM))) == [1]
        with RawServer(cut, NOT_FOUND) as s, get_sync_client(url=s.url) as client:
            with pytest.raises(StreamInterrupted):
                list(stream_run(client, None, "graph", **CUSTOM))
            assert f"GET /runs/{RUN}/stream" in s.requests[1]


class TestGaps:
    def test_another_log_is_a_gap(self) -> None:
        cut = stream(events([BEGUN, *custom(1)]), whole=False)
        other = stream(events(custom(7, 8)))
        last = stream(events(custom(8)))
        with RawServer(cut, other, last, SUCCESS, answer([])) as server:
            assert numbers(run(server)) == [
                1,
                "the server no longer has all events of the run",
                7,
                8,
            ]

    def test_a_run_that_cannot_be_resumed_goes_on_behind_a_gap(self) -> None:
        plain = [(event, data, None) for event, data, _ in (BEGUN, *custom(1))]
        cut = stream(events(plain), whole=False)
        rest = stream(events([("custom", {"n": 5}, None)]))
        with RawServer(cut, rest, SUCCESS, answer([])) as server:
            assert numbers(run(server)) == [
                1,
                "the run is not resumable, and a connection to it was cut",
                5,
            ]
            assert "last-event-id" not in server.requests[1].lower()

    def test_all_checkpoints_of_the_run_are_asked_for(self) -> None:
        cut = stream(events([BEGUN, ("updates", {"b": {}}, "2-0")]), whole=False)
        other = stream(events([("updates", {"c": {}}, "9-0")]))
        task = {"name": "a", "id": "1", "result": {"x": 1}}
        pages = [
            answer([{"checkpoint": FIFTH}] * PAGE),
            answer([{"tasks": [task], "metadata": {"source": "input"}}]),
        ]
        with RawServer(cut, other, other, SUCCESS, *pages) as server:
            parts = run(server, stream_mode="updates")
        assert [part.data for part in parts] == [{"b": {}}, {"c": {}}, {"a": {"x": 1}}]
        # As `Pages` asks: `langgraph dev` answers 500 where either form is missing.
        assert json.loads(server.bodies[-1])["before"] == {**FIFTH, "configurable": FIFTH}

    def test_a_run_whose_events_are_gone_is_told_by_its_state(self) -> None:
        asked = answer({"run_id": RUN, "status": "success", "kwargs": {"stream_mode": ["values"]}})
        states = answer([{"values": {"n": 5}, "next": [], "tasks": []}])
        with (
            RawServer(asked, stream(b""), SUCCESS, states) as server,
            get_sync_client(url=server.url) as client,
        ):
            (values,) = join_run(client, THREAD, RUN, remote=QUICK)
        assert (values.mode, values.data) == ("values", {"n": 5})

    def test_a_server_that_does_not_find_a_run_may_have_lost_events(self) -> None:
        cut = stream(events([BEGUN, *custom(1)]), whole=False)
        with RawServer(cut, NOT_FOUND, SUCCESS, answer([])) as server:
            assert numbers(run(server)) == [1, "the server no longer knows the run"]


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
    def test_a_refusal(self, status: str, error: type[Exception]) -> None:
        with (
            RawServer(answer({"detail": "thread is busy"}, status)) as server,
            pytest.raises(error, match="thread is busy"),
        ):
            run(server)
        assert len(server.requests) == 1

    def test_nobody_listens(self) -> None:
        with RawServer(b"") as server:
            url = server.url
        with (
            SyncLangGraphClient(httpx.Client(base_url=url)) as client,
            pytest.raises(httpx.ConnectError),
        ):
            list(stream_run(client, THREAD, "graph", **CUSTOM))

    def test_another_content_type(self) -> None:
        with (
            RawServer(answer(b"<html>", media_type="text/html")) as server,
            pytest.raises(httpx.TransportError, match="got text/html"),
        ):
            run(server)


class TestFrames:
    @pytest.mark.parametrize("data", [b"{", b"<html>", b'"\xff', b'{"a":1}}'])
    def test_one_that_holds_no_json(self, data: bytes) -> None:
        with (
            RawServer(stream(events([BEGUN, ("custom", data, "2-0")]))) as server,
            pytest.raises(StreamError, match="is no JSON"),
        ):
            run(server)

    def test_bytes_that_are_no_utf_8_are_replaced_as_the_standard_wants(self) -> None:
        body = events([BEGUN, ("custom", b'{"n": "a\xffb"}', "2-0")])
        with RawServer(stream(body), stream(body), SUCCESS) as server:
            assert numbers(run(server)) == ["a\ufffdb"]

    @pytest.mark.parametrize("piece", [b"x" * 1024, b"data: x\r\n"], ids=["line", "lines"])
    def test_one_that_does_not_end_is_refused_before_it_fills_the_memory(
        self, piece: bytes
    ) -> None:
        endless = stream(b"data: " + piece * (50 * 1024 * 1024 // len(piece)), whole=False)
        bounded = RemoteConfig(max_frame_bytes=1024 * 1024)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with (
            RawServer(endless) as server,
            pytest.raises(StreamError, match=r"longer than 1048576 bytes; .*max_frame_bytes"),
        ):
            run(server, remote=bounded)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30 * 1024

    def test_a_large_one_passes_where_that_is_allowed(self) -> None:
        large = events([BEGUN, ("custom", {"n": "x" * 2_000_000}, "2-0"), *custom(3)])
        with RawServer(stream(large), REPEATED, SUCCESS) as server:
            assert len(numbers(run(server))[0]) == 2_000_000

    def test_an_unfinished_one_is_none(self) -> None:
        """Of a response whose length nobody told, a cut looks like the end."""
        head = stream(b"").split(b"Transfer-Encoding")[0] + b"\r\n"
        cut = head + events([BEGUN, *custom(1)]) + b'event: custom\r\ndata: {"n": 2}\r\n'
        rest = stream(events(custom(1, 2)))
        with RawServer(cut, rest, stream(events(custom(2))), SUCCESS) as server:
            assert numbers(run(server)) == [1, 2]


class TestFailures:
    def test_an_error_event_raises(self) -> None:
        failed = events([BEGUN, ("error", {"error": "ValueError", "message": "no"}, None)])
        with RawServer(stream(failed)) as server, pytest.raises(RemoteException, match="no"):
            run(server)

    def test_a_failure_whose_event_was_lost_raises_with_what_the_state_says(self) -> None:
        cut = stream(events([BEGUN, *custom(1)]), whole=False)
        status = answer({"run_id": RUN, "status": "error"})
        states = answer([{"values": {}, "next": ["a"], "tasks": [{"error": "ValueError: no"}]}])
        with (
            RawServer(cut, stream(events(custom(1))), status, states) as server,
            pytest.raises(RemoteException, match="ValueError: no"),
        ):
            run(server)


class TestClients:
    async def test_an_async_one_gets_the_same(self) -> None:
        cut = stream(events([BEGUN, *custom(1)]), whole=False)
        answers = (cut, stream(events(custom(1, 2))), stream(events(custom(2))), SUCCESS)
        with RawServer(*answers) as server:
            async with get_client(url=server.url) as client:
                got = [part async for part in stream_run(client, THREAD, "graph", **CUSTOM)]
        with RawServer(*answers) as server:
            assert run(server) == got

    def test_headers_of_the_client_and_of_the_call_go_with_each_request(self) -> None:
        cut = stream(events([BEGUN, *custom(1)]), whole=False)
        with (
            RawServer(cut, stream(events(custom(1))), SUCCESS) as server,
            get_sync_client(url=server.url, api_key="k", headers={"X-Mine": "1"}) as client,
        ):
            list(stream_run(client, THREAD, "graph", headers={"X-Call": "2"}, **CUSTOM))
            for head in server.requests:
                for line in ("x-api-key: k", "x-mine: 1", "x-call: 2"):
                    assert line in head.lower()
            assert len(server.requests) == 3

    def test_its_timeout_is_kept_unless_the_configuration_names_one(self) -> None:
        with (
            RawServer(stream(events([BEGUN]), whole=False), None) as server,
            get_sync_client(url=server.url, timeout=0.2) as client,
            pytest.raises(StreamInterrupted) as caught,
        ):
            list(stream_run(client, THREAD, "graph", **CUSTOM))
        assert isinstance(caught.value.__cause__, httpx.ReadTimeout)


def test_a_run_that_is_joined_is_read_from_its_beginning() -> None:
    asked = answer({"run_id": RUN, "status": "running", "kwargs": {"stream_mode": ["custom"]}})
    with (
        RawServer(asked, WHOLE, REPEATED, SUCCESS) as server,
        get_sync_client(url=server.url) as client,
    ):
        assert numbers(list(join_run(client, THREAD, RUN, remote=QUICK))) == [1, 2, 3]
        assert "last-event-id: -1" in server.requests[1].lower()


def test_another_process_goes_on_where_this_one_stopped() -> None:
    cut = stream(events([BEGUN, *custom(1, 2)]), whole=False)
    with RawServer(cut) as server, pytest.raises(StreamInterrupted) as caught:
        run(server, remote=RemoteConfig(max_retries=0))
    saved, position = caught.value.ledger.to_bytes(), caught.value.position
    rest = stream(events(custom(2, 3)))
    asked = answer({"run_id": RUN, "status": "running", "kwargs": {"stream_mode": ["custom"]}})
    with (
        RawServer(asked, rest, REPEATED, SUCCESS) as server,
        get_sync_client(url=server.url) as client,
    ):
        ledger = Ledger.from_bytes(saved)
        parts = join_run(client, THREAD, RUN, position=position, ledger=ledger, remote=QUICK)
        assert numbers(list(parts)) == [3]


@pytest.mark.parametrize("wrong", [{"max_retries": -1}, {"backoff_s": -1}, {"max_frame_bytes": 1}])
def test_a_wrong_setting_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="RemoteConfig"):
        RemoteConfig(**wrong)
