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
from langgraph_once.remote import join_run, stream_run
from langgraph_once.stream import Ledger, Part
from tests.unit_tests.remote.clients import BEGUN, QUICK, SUCCESS, custom, numbers
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
FORBIDDEN = answer({"detail": "who?"}, "403 Forbidden")


CUT = stream(events([BEGUN, *custom(1)]), whole=False)
REST = stream(events(custom(1, 2)))
LAST = stream(events(custom(2)))
OTHER = stream(events(custom(7)))
"""Another log: what lies between is gone, and the state is asked for."""


def run(server: RawServer, **options: Any) -> list[Part]:
    call = {"input": {}, "stream_mode": "custom", "remote": QUICK, **options}
    with get_sync_client(url=server.url) as client:
        return list(stream_run(client, THREAD, "graph", **call))


async def arun(server: RawServer) -> list[Part]:
    async with get_client(url=server.url) as client:
        parts = stream_run(client, THREAD, "graph", stream_mode="custom", remote=QUICK)
        return [part async for part in parts]


class TestQuestions:
    @pytest.mark.parametrize(
        "bad", [PAGE, answer([1]), answer({}), BUSY], ids=["page", "list", "no status", "busy"]
    )
    async def test_an_answer_that_is_none_is_asked_for_again(self, bad: bytes) -> None:
        answers = (CUT, REST, LAST, bad, LAST, SUCCESS)
        with RawServer(*answers) as server:
            assert numbers(run(server)) == [1, 2]
        with RawServer(*answers) as server:
            assert numbers(await arun(server)) == [1, 2]

    @pytest.mark.parametrize("bad", [PAGE, answer({}), answer([5])], ids=["page", "one", "items"])
    async def test_a_history_that_is_no_list_of_states_leaves_a_gap(self, bad: bytes) -> None:
        answers = (CUT, OTHER, OTHER, SUCCESS, bad, OTHER, SUCCESS)
        with RawServer(*answers, answer([])) as server:
            found = numbers(run(server))
        with RawServer(*answers, answer([])) as server:
            assert numbers(await arun(server)) == found
        assert found == [1, "the server no longer has all events of the run", 7]

    async def test_a_history_that_ends_too_early_proves_nothing(self) -> None:
        task = {"name": "a", "id": "1", "result": {"x": 1}}
        page = answer([{"checkpoint": {"checkpoint_id": "5"}, "tasks": [task]}] * 20)
        unknown = answer({"detail": "not found"}, "404 Not Found")
        cut = stream(events([BEGUN, ("updates", {"b": {}}, "2-0")]), whole=False)
        other = stream(events([("updates", {"c": {}}, "9-0")]))
        with RawServer(cut, other, other, SUCCESS, page, unknown) as server:
            parts = run(server, stream_mode="updates")
        assert [part.data for part in parts] == [{"b": {}}, {"c": {}}]

    @pytest.mark.parametrize("answers", [(CUT, REST, LAST), (CUT, OTHER, OTHER, SUCCESS)])
    async def test_a_refusal_is_told_with_the_ledger(self, answers: Any) -> None:
        ledger = Ledger()
        with (
            RawServer(*answers, FORBIDDEN) as server,
            pytest.raises(StreamInterrupted, match="refused with 403") as caught,
        ):
            run(server, ledger=ledger)
        assert caught.value.ledger is ledger
        with (
            RawServer(*answers, FORBIDDEN) as server,
            pytest.raises(StreamInterrupted, match="refused with 403"),
        ):
            await arun(server)

    @pytest.mark.parametrize("status", ["408 Request Timeout", "425 Too Early"])
    def test_a_refusal_for_now_is_none(self, status: str) -> None:
        with RawServer(CUT, answer({}, status), REST, LAST, SUCCESS) as server:
            assert numbers(run(server)) == [1, 2]

    def test_a_run_that_is_unknown_after_an_end_without_word_may_have_said_more(self) -> None:
        unknown = answer({"detail": "not found"}, "404 Not Found")
        clean = unsized(events([BEGUN, *custom(1)]))
        with RawServer(clean, unknown, SUCCESS, answer([])) as server:
            assert numbers(run(server)) == [1, "the server no longer knows the run"]

    def test_a_log_that_is_empty_after_a_cut_may_have_held_more(self) -> None:
        with RawServer(CUT, stream(b""), SUCCESS, answer([])) as server:
            assert numbers(run(server)) == [1, "the server no longer has the events of the run"]

    def test_a_thread_that_the_server_made_is_told(self) -> None:
        with (
            RawServer(CUT, REST, LAST, SUCCESS) as server,
            get_sync_client(url=server.url) as client,
        ):
            parts = stream_run(client, None, "graph", stream_mode="custom", remote=QUICK)
            assert numbers(list(parts)) == [1, 2]
            assert (parts.thread_id, parts.run_id) == (THREAD, RUN)

    def test_a_stream_that_names_no_run_and_says_nothing_began_none(self) -> None:
        head, end, body = stream(b"").partition(b"Content-Location")
        nameless = head + (end + body).split(b"\r\n", 1)[1]
        with RawServer(nameless) as server, pytest.raises(StreamInterrupted, match="unknown id"):
            run(server)
        assert len(server.requests) == 1

    def test_a_failure_that_only_the_state_tells_is_as_the_stream_tells_it(self) -> None:
        said = {"error": "ValueError", "message": "An internal error occurred"}
        status = answer({"run_id": RUN, "status": "error"})
        states = answer([{"values": {}, "next": ["a"], "tasks": [{"error": said}]}])
        with (
            RawServer(CUT, stream(events(custom(1))), status, states) as server,
            pytest.raises(RemoteException) as caught,
        ):
            run(server)
        assert caught.value.args == (said,)


HELD_S = 0.25
LAST_OF_ONE = stream(events(custom(1)))


class TestJoining:
    """A run that is joined was begun by another stream: a server that is away comes back."""

    async def check_that_both_read_it(self, *answers: bytes) -> None:
        with RawServer(*answers) as server, get_sync_client(url=server.url) as client:
            assert numbers(list(join_run(client, THREAD, RUN, remote=QUICK))) == [1]
        with RawServer(*answers) as server:
            async with get_client(url=server.url) as client:
                parts = [part async for part in join_run(client, THREAD, RUN, remote=QUICK)]
        assert numbers(parts) == [1]

    async def test_a_server_that_is_away_is_asked_again(self) -> None:
        begun = stream(events([BEGUN, *custom(1)]))
        answers = (b"", BUSY, RUNNING, begun, stream(events(custom(1))), SUCCESS)
        await self.check_that_both_read_it(*answers)

    @pytest.mark.parametrize("bad", [answer({}, "425 Too Early"), PAGE, answer([])])
    async def test_a_server_that_does_not_answer_yet_is_asked_again_for_the_modes(
        self, bad: bytes
    ) -> None:
        answers = (bad, RUNNING, stream(events([BEGUN, *custom(1)])), LAST_OF_ONE, SUCCESS)
        await self.check_that_both_read_it(*answers)

    def test_of_its_modes_those_are_told_that_are_asked_for(self) -> None:
        running = answer({"status": "running", "kwargs": {"stream_mode": ["custom", "debug"]}})
        said = stream(events([BEGUN, ("debug", {"n": 1}, "2-0"), *custom(2)]))
        last = stream(events(custom(2)))
        answers = (running, said, last, SUCCESS)
        with RawServer(*answers) as server, get_sync_client(url=server.url) as client:
            parts = join_run(client, THREAD, RUN, stream_mode="custom", remote=QUICK)
            assert numbers(list(parts)) == [2]

    async def test_a_server_that_refuses_to_tell_the_modes_is_not_asked_again(self) -> None:
        with RawServer(FORBIDDEN) as server:
            with get_sync_client(url=server.url) as client, pytest.raises(PermissionDeniedError):
                list(join_run(client, THREAD, RUN, remote=QUICK))
            async with get_client(url=server.url) as client:
                with pytest.raises(PermissionDeniedError):
                    _ = [part async for part in join_run(client, THREAD, RUN, remote=QUICK)]
            assert len(server.requests) == 2

    async def test_a_server_that_does_not_know_the_run_is_asked_for_its_stream(self) -> None:
        unknown = answer({"detail": "not found"}, "404 Not Found")
        with RawServer(unknown) as server:
            with get_sync_client(url=server.url) as client, pytest.raises(StreamInterrupted):
                list(join_run(client, THREAD, RUN, remote=QUICK))
            assert "/stream" in server.requests[1]
            async with get_client(url=server.url) as client:
                with pytest.raises(StreamInterrupted):
                    _ = [part async for part in join_run(client, THREAD, RUN, remote=QUICK)]

    async def test_asking_for_the_modes_is_bounded_and_loses_nothing_of_the_caller(self) -> None:
        ledger = Ledger()
        call: Any = {"remote": QUICK, "ledger": ledger, "position": "-1"}
        with RawServer(BUSY) as server:
            with (
                get_sync_client(url=server.url) as client,
                pytest.raises(StreamInterrupted, match="gave up after 2") as caught,
            ):
                list(join_run(client, THREAD, RUN, **call))
            assert caught.value.ledger is ledger
            assert (caught.value.run_id, caught.value.position) == (RUN, "-1")
            async with get_client(url=server.url) as client:
                with pytest.raises(StreamInterrupted, match="gave up after 2"):
                    _ = [part async for part in join_run(client, THREAD, RUN, **call)]


def test_connections_that_hold_are_not_in_vain() -> None:
    """A proxy that ends each connection after a time, and a node that is silent for longer."""
    silent = stream(events(custom(1)), whole=False)
    config = RemoteConfig(max_retries=2, backoff_s=0, max_backoff_s=0, idle_timeout_s=0.2)
    held: list[Any] = [(silent, HELD_S)] * 4
    with RawServer(CUT, *held, REST, LAST, SUCCESS) as server:
        assert numbers(run(server, remote=config)) == [1, 2]
    hanging: list[Any] = [(stream(b"", whole=False), HELD_S)] * 4
    with (
        RawServer(CUT, *hanging) as server,
        pytest.raises(StreamInterrupted, match="gave up after 2"),
    ):
        run(server, remote=config)
    assert len(server.requests) == 3  # what holds and does not even repeat is no good
    rarely = RemoteConfig(max_retries=2, backoff_s=0, max_backoff_s=9)
    with (
        RawServer(CUT, *held) as server,
        pytest.raises(StreamInterrupted, match="gave up after 2"),
    ):
        run(server, remote=rarely)
    assert len(server.requests) == 3  # nor is what holds for less than the longest wait


def test_connections_that_do_not_hold_are_in_vain_though_they_repeat_what_is_known() -> None:
    with (
        RawServer(CUT, stream(events(custom(1)), whole=False)) as server,
        pytest.raises(StreamInterrupted, match="gave up after 2"),
    ):
        run(server)
    assert len(server.requests) == 3


@pytest.mark.parametrize("event_id", ["2-0", None], ids=["resumable", "not resumable"])
def test_a_connection_that_held_says_nothing_for_those_that_are_not_made(
    event_id: str | None,
) -> None:
    said = [(*BEGUN[:2], event_id and "1-0"), ("custom", {"n": 1}, event_id)]
    cut, again = (stream(events(said[at:]), whole=False) for at in (0, 1))
    with (
        RawServer(cut, (again, HELD_S), b"") as server,
        pytest.raises(StreamInterrupted, match="gave up after 2"),
    ):
        run(server)
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
def test_an_event_of_another_shape_is_a_clear_error(event: str, data: Any) -> None:
    with (
        RawServer(stream(events([BEGUN, (event, data, "2-0")]))) as server,
        pytest.raises(StreamError, match=r"as servers say it|expected \(message, metadata\)"),
    ):
        run(server, stream_mode=["messages", "checkpoints", "debug"])


async def test_a_gap_is_told_as_a_typed_event() -> None:
    answers = (CUT, OTHER, OTHER, SUCCESS, answer([]))
    processor = ChannelStreamingProcessor(token_streaming=TokenStreamingConfig())
    with RawServer(*answers) as server, get_sync_client(url=server.url) as client:
        parts = stream_run(client, THREAD, "graph", stream_mode="custom", remote=QUICK)
        told = list(parts.events(processor))
    with RawServer(*answers) as server:
        async with get_client(url=server.url) as aclient:
            aparts = stream_run(aclient, THREAD, "graph", stream_mode="custom", remote=QUICK)
            atold = [
                event
                async for event in aparts.events(
                    ChannelStreamingProcessor(token_streaming=TokenStreamingConfig())
                )
            ]
    for found in (told, atold):
        gaps = [event.reason for event in found if event.type == "gap_possible"]
        assert gaps == ["the server no longer has all events of the run"]
