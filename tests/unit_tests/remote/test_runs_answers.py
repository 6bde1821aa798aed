"""What a server is asked about a run, beside its stream, and answers badly; and odd events."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.pregel.remote import RemoteException
from langgraph_sdk import get_client, get_sync_client
from langgraph_sdk.errors import PermissionDeniedError

from langgraph_once import ChannelStreamingProcessor, TokenStreamingConfig
from langgraph_once.config import RemoteConfig
from langgraph_once.errors import StreamError, StreamInterrupted
from langgraph_once.remote import retries, stream_run
from langgraph_once.stream import Ledger
from tests.unit_tests.remote.clients import (
    BEGUN,
    CUSTOM,
    EVENTS_LOST,
    EVENTS_MISSING,
    RUN_UNKNOWN,
    SUCCESS,
    Client,
    custom,
    cut_run,
    numbers,
    rest_of,
    run_of,
)
from tests.unit_tests.remote.raw_server import (
    RUN,
    THREAD,
    RawServer,
    answer,
    events,
    stream,
    unsized,
)

RUNNING = answer({"run_id": RUN, "status": "running", "kwargs": {"stream_mode": ["custom"]}})
PAGE = answer(b"<html>", media_type="text/html")
BUSY = answer({"detail": "later"}, "503 Service Unavailable")
UNKNOWN = answer({"detail": "not found"}, "404 Not Found")
IN_VAIN = "gave up after 2"
FORBIDDEN = answer({"detail": "who?"}, "403 Forbidden")


CUT = cut_run(1)
REST = rest_of(1, 2)
LAST = rest_of(2)
OTHER = rest_of(7)
"""Another log: what lies between is gone, and the state is asked for."""


def watching() -> ChannelStreamingProcessor:
    return ChannelStreamingProcessor(token_streaming=TokenStreamingConfig())


class TestQuestions:
    @pytest.mark.parametrize(
        "bad", [PAGE, answer([1]), answer({}), BUSY], ids=["page", "list", "no status", "busy"]
    )
    def test_an_answer_that_is_none_is_asked_for_again(self, client: Client, bad: bytes) -> None:
        assert client.numbers(CUT, REST, LAST, bad, LAST, SUCCESS) == [1, 2]

    @pytest.mark.parametrize("bad", [PAGE, answer({}), answer([5])], ids=["page", "one", "items"])
    def test_a_history_that_is_no_list_of_states_leaves_a_gap(
        self, client: Client, bad: bytes
    ) -> None:
        answers = (CUT, OTHER, OTHER, SUCCESS, bad, OTHER, SUCCESS, answer([]))
        assert client.numbers(*answers) == [1, EVENTS_MISSING, 7]

    def test_a_history_that_ends_too_early_proves_nothing(self, client: Client) -> None:
        task = {"name": "a", "id": "1", "result": {"x": 1}}
        page = answer([{"checkpoint": {"checkpoint_id": "5"}, "tasks": [task]}] * 20)
        cut = stream(events([BEGUN, ("updates", {"b": {}}, "2-0")]), whole=False)
        other = stream(events([("updates", {"c": {}}, "9-0")]))
        with RawServer(cut, other, other, SUCCESS, page, UNKNOWN) as server:
            parts = client.run(server, stream_mode="updates")
        assert [part.data for part in parts] == [{"b": {}}, {"c": {}}]

    @pytest.mark.parametrize("answers", [(CUT, REST, LAST), (CUT, OTHER, OTHER, SUCCESS)])
    def test_a_refusal_is_told_with_the_ledger(self, client: Client, answers: Any) -> None:
        given, match = (*answers, FORBIDDEN), "refused with 403"
        ledger = Ledger()
        error, _ = client.fails(StreamInterrupted, *given, match=match, ledger=ledger)
        assert error.ledger is ledger

    @pytest.mark.parametrize("status", ["408 Request Timeout", "425 Too Early"])
    def test_a_refusal_for_now_is_none(self, client: Client, status: str) -> None:
        assert client.numbers(CUT, answer({}, status), REST, LAST, SUCCESS) == [1, 2]

    def test_a_run_that_is_unknown_after_an_end_without_word_may_have_said_more(
        self, client: Client
    ) -> None:
        clean = unsized(events([BEGUN, *custom(1)]))
        assert client.numbers(clean, UNKNOWN, SUCCESS, answer([])) == [1, RUN_UNKNOWN]

    def test_a_log_that_is_empty_after_a_cut_may_have_held_more(self, client: Client) -> None:
        assert client.numbers(CUT, stream(b""), SUCCESS, answer([])) == [1, EVENTS_LOST]

    def test_a_thread_that_the_server_made_is_told(self) -> None:
        with (
            RawServer(CUT, REST, LAST, SUCCESS) as server,
            get_sync_client(url=server.url) as client,
        ):
            parts = stream_run(client, None, "graph", **CUSTOM)
            assert numbers(list(parts)) == [1, 2]
            assert (parts.thread_id, parts.run_id) == (THREAD, RUN)

    def test_a_stream_that_names_no_run_and_says_nothing_began_none(self, client: Client) -> None:
        head, end, body = stream(b"").partition(b"Content-Location")
        nameless = head + (end + body).split(b"\r\n", 1)[1]
        _, server = client.fails(StreamInterrupted, nameless, match="unknown id")
        assert len(server.requests) == 1

    def test_a_failure_that_only_the_state_tells_is_as_the_stream_tells_it(
        self, client: Client
    ) -> None:
        said = {"error": "ValueError", "message": "An internal error occurred"}
        status = answer({"run_id": RUN, "status": "error"})
        states = answer([{"values": {}, "next": ["a"], "tasks": [{"error": said}]}])
        error, _ = client.fails(RemoteException, CUT, rest_of(1), status, states)
        assert error.args == (said,)


class TestJoining:
    """A run that is joined was begun by another stream: a server that is away comes back."""

    def test_a_server_that_is_away_is_asked_again(self, client: Client) -> None:
        with RawServer(b"", BUSY, RUNNING, run_of(1), rest_of(1), SUCCESS) as server:
            assert numbers(client.join(server)) == [1]

    @pytest.mark.parametrize("bad", [answer({}, "425 Too Early"), PAGE, answer([])])
    def test_a_server_that_does_not_answer_yet_is_asked_again_for_the_modes(
        self, client: Client, bad: bytes
    ) -> None:
        with RawServer(bad, RUNNING, run_of(1), rest_of(1), SUCCESS) as server:
            assert numbers(client.join(server)) == [1]

    def test_of_its_modes_those_are_told_that_are_asked_for(self, client: Client) -> None:
        running = answer({"status": "running", "kwargs": {"stream_mode": ["custom", "debug"]}})
        said = stream(events([BEGUN, ("debug", {"n": 1}, "2-0"), *custom(2)]))
        with RawServer(running, said, LAST, SUCCESS) as server:
            assert numbers(client.join(server, stream_mode="custom")) == [2]

    def test_a_server_that_refuses_to_tell_the_modes_is_not_asked_again(
        self, client: Client
    ) -> None:
        with RawServer(FORBIDDEN) as server, pytest.raises(PermissionDeniedError):
            client.join(server)
        assert len(server.requests) == 1

    def test_a_server_that_does_not_know_the_run_is_asked_for_its_stream(
        self, client: Client
    ) -> None:
        with RawServer(UNKNOWN) as server, pytest.raises(StreamInterrupted):
            client.join(server)
        assert "/stream" in server.requests[1]

    def test_asking_for_the_modes_is_bounded_and_loses_nothing_of_the_caller(
        self, client: Client
    ) -> None:
        ledger = Ledger()
        with (
            RawServer(BUSY) as server,
            pytest.raises(StreamInterrupted, match="gave up after 2") as caught,
        ):
            client.join(server, ledger=ledger, position="-1")
        assert caught.value.ledger is ledger
        assert (caught.value.run_id, caught.value.position) == (RUN, "-1")


HELD_S = 0.25
SYNC = Client(is_async=False)
"""Enough, where connections are waited for."""


def test_connections_that_hold_are_not_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that ends each connection after a time, and a node that is silent for longer."""
    silent = stream(events(custom(1)), whole=False)
    config = RemoteConfig(max_retries=2, idle_timeout_s=0.2)
    held: list[Any] = [(silent, HELD_S)] * 4
    assert SYNC.numbers(CUT, *held, REST, LAST, SUCCESS, remote=config) == [1, 2]
    hanging: list[Any] = [(stream(b"", whole=False), HELD_S)] * 4
    _, server = SYNC.fails(StreamInterrupted, CUT, *hanging, match=IN_VAIN)
    assert len(server.requests) == 3  # what holds and does not even repeat is no good
    monkeypatch.setattr(retries, "MAX_WAIT_S", 9)
    _, server = SYNC.fails(StreamInterrupted, CUT, *held, match=IN_VAIN)
    assert len(server.requests) == 3  # nor is what holds for less than the longest wait


def test_connections_that_do_not_hold_are_in_vain_though_they_repeat_what_is_known() -> None:
    repeats = stream(events(custom(1)), whole=False)
    _, server = SYNC.fails(StreamInterrupted, CUT, repeats, match=IN_VAIN)
    assert len(server.requests) == 3


@pytest.mark.parametrize("event_id", ["2-0", None], ids=["resumable", "not resumable"])
def test_a_connection_that_held_says_nothing_for_those_that_are_not_made(
    event_id: str | None,
) -> None:
    said = [(*BEGUN[:2], event_id and "1-0"), ("custom", {"n": 1}, event_id)]
    cut, again = (stream(events(said[at:]), whole=False) for at in (0, 1))
    _, server = SYNC.fails(StreamInterrupted, cut, (again, HELD_S), b"", match=IN_VAIN)
    assert len(server.requests) == 4


MALFORMED = [
    ("messages", [{"type": "ai", "content": "x"}, 5]),
    ("messages", [{"type": "AIMessageChunk", "content": "x", "id": "1"}, None]),
    ("messages", [None, None]),
    ("checkpoints", {"tasks": [None]}),
    ("checkpoints", {"config": {"x": 1}, "tasks": []}),
    ("debug", {"type": "checkpoint", "payload": {"tasks": 5}}),
    ("command", None),
    ("command", ["x"]),
]


@pytest.mark.parametrize(("event", "data"), MALFORMED)
def test_an_event_of_another_shape_is_a_clear_error(client: Client, event: str, data: Any) -> None:
    said = stream(events([BEGUN, (event, data, "2-0")]))
    match = r"as servers say it|expected \(message, metadata\)"
    modes = ["messages", "checkpoints", "debug"]
    client.fails(StreamError, said, match=match, stream_mode=modes)


async def test_a_gap_is_told_as_a_typed_event() -> None:
    answers = (CUT, OTHER, OTHER, SUCCESS, answer([]))
    with RawServer(*answers) as server, get_sync_client(url=server.url) as client:
        told = list(stream_run(client, THREAD, "graph", **CUSTOM).events(watching()))
    with RawServer(*answers) as server:
        async with get_client(url=server.url) as aclient:
            aparts = stream_run(aclient, THREAD, "graph", **CUSTOM)
            atold = [event async for event in aparts.events(watching())]
    for found in (told, atold):
        gaps = [event.reason for event in found if event.type == "gap_possible"]
        assert gaps == [EVENTS_MISSING]
