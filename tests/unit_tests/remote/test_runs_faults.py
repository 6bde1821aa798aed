"""Runs of servers that answer badly: clear errors, bounded tries, bounded memory."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar
from uuid import UUID

import httpx
import pytest
from langgraph.pregel.remote import RemoteException
from langgraph_sdk import get_sync_client

from langgraph_once.config import RemoteConfig
from langgraph_once.errors import ConfigError, StreamInterrupted
from langgraph_once.remote import retries, stream_run
from langgraph_once.remote.reconcile import CHECKPOINTS_PER_PAGE
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

NOT_FOUND = answer({"detail": "not found"}, "404 Not Found")
FIFTH = {"checkpoint_id": "5"}


WHOLE = run_of(1, 2, 3)
EMPTY_FIELDS: Any = {"additional_kwargs": {}, "response_metadata": {}}
REPEATED = rest_of(3)


class TestGoingOn:
    def test_a_run_that_came_whole_is_asked_for_its_status_alone(self, client: Client) -> None:
        with RawServer(WHOLE, SUCCESS) as server:
            assert numbers(client.run(server)) == [1, 2, 3]
            asked = [head.split()[:2] for head in server.requests]
            assert asked[1:] == [["GET", f"/threads/{THREAD}/runs/{RUN}"]]

    def test_a_body_that_ended_without_a_length_is_joined_without_a_pause(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(retries, "FIRST_WAIT_S", 5)
        monkeypatch.setattr(retries, "MAX_WAIT_S", 10)
        began = time.monotonic()
        cut = unsized(events([BEGUN, *custom(1, 2)]))
        with RawServer(cut, rest_of(2, 3), REPEATED, SUCCESS) as server:
            assert numbers(client.run(server)) == [1, 2, 3]
            assert time.monotonic() - began < 4  # what ended by itself is not waited for
            assert [head.split()[0] for head in server.requests] == ["POST", *["GET"] * 3]
            assert "last-event-id: 2-0" in server.requests[1].lower()

    def test_a_run_without_a_thread_that_was_cut_is_joined(self, client: Client) -> None:
        cut, rest, last = (
            body.replace(f"/threads/{THREAD}".encode(), b"")
            for body in (
                run_of(1, 2),
                rest_of(2, 3),
                REPEATED,
            )
        )
        assert client.numbers(cut, rest, last, thread_id=None) == [1, 2, 3]

    def test_an_end_that_is_said_is_enough(self, client: Client) -> None:
        ended = stream(events([BEGUN, *custom(1), ("end", {"status": "success"}, "3-0")]))
        with RawServer(ended) as server:
            assert numbers(client.run(server)) == [1]
            assert len(server.requests) == 1

    def test_a_cut_is_not_the_end(self, client: Client) -> None:
        cut = stream(events([BEGUN, *custom(1)]) + b"event: custom\r\nda", whole=False)
        assert client.numbers(cut, rest_of(1, 2), rest_of(2), SUCCESS) == [1, 2]

    def test_an_end_that_looks_clean_is_not_believed(self, client: Client) -> None:
        """A proxy that closes idle connections, say."""
        running = answer({"run_id": RUN, "status": "running"})
        assert client.numbers(run_of(1), running, rest_of(1, 2), rest_of(2), SUCCESS) == [1, 2]

    @pytest.mark.parametrize("status", ["running", "pending"])
    def test_a_run_that_goes_on_is_read_on(self, client: Client, status: str) -> None:
        running = answer({"run_id": RUN, "status": status})
        begun, rest = run_of(1), rest_of(1, 2)
        assert client.numbers(begun, running, rest, rest_of(2), SUCCESS) == [1, 2]

    def test_a_connection_that_ends_before_it_says_anything_is_not_believed(
        self, client: Client
    ) -> None:
        assert client.numbers(stream(b""), WHOLE, REPEATED, SUCCESS) == [1, 2, 3]
        assert client.numbers(stream(b""), stream(b""), SUCCESS, answer([])) == [EVENTS_LOST]

    def test_heartbeats_of_a_stream_are_no_events(self, client: Client) -> None:
        beating = stream(b": heartbeat\r\n\r\n" + events([BEGUN]) + b": heartbeat\r\n\r\n:\r\n\r\n")
        with RawServer(beating, SUCCESS) as server:
            assert client.run(server) == []

    def test_a_silent_connection_counts_as_cut(self, client: Client) -> None:
        impatient = RemoteConfig(max_retries=2, idle_timeout_s=0.2)
        with RawServer(cut_run(1), None, rest_of(1, 2), rest_of(2), SUCCESS) as s:
            assert numbers(client.run(s, remote=impatient)) == [1, 2]

    @pytest.mark.parametrize("status", ["503 Service Unavailable", "429 Too Many Requests"])
    def test_a_server_that_is_busy_is_asked_again(self, client: Client, status: str) -> None:
        busy = answer({"detail": "later"}, status)
        patient = RemoteConfig(max_retries=3)
        page = answer(b"<html>", media_type="text/html")
        assert client.numbers(
            cut_run(1), busy, page, rest_of(1, 2), rest_of(2), SUCCESS, remote=patient
        ) == [
            1,
            2,
        ]

    def test_an_event_that_the_server_does_not_keep_is_not_waited_for(self, client: Client) -> None:
        cut = stream(events([BEGUN, *custom(1), ("feedback", {}, "3-0")]), whole=False)
        with RawServer(cut, rest_of(1, 4), rest_of(4), SUCCESS) as s:
            assert [part.mode for part in client.run(s)] == ["custom", "feedback", "custom"]


class TestGivingUp:
    def test_tries_in_vain_are_bounded_and_the_error_carries_all_that_is_needed(
        self, client: Client
    ) -> None:
        ledger = Ledger()
        error, server = client.fails(
            StreamInterrupted,
            cut_run(1, 2),
            stream(b"", whole=False),
            match="gave up after 2",
            ledger=ledger,
        )
        assert len(server.requests) == 3
        assert (error.thread_id, error.run_id, error.last_event_id) == (THREAD, RUN, "3-0")
        assert error.ledger is ledger
        assert isinstance(error.__cause__, httpx.TransportError)
        assert "n" not in error.position

    def test_an_event_that_is_new_makes_them_start_afresh(self, client: Client) -> None:
        pieces = [
            cut_run(1),
            *(stream(events(custom(n, n + 1)), whole=False) for n in range(1, 9)),
            rest_of(9),
            SUCCESS,
        ]
        assert client.numbers(*pieces) == list(range(1, 10))

    def test_before_another_try_it_waits(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(retries, "FIRST_WAIT_S", 0.2)
        monkeypatch.setattr(retries, "MAX_WAIT_S", 0.2)
        began = time.monotonic()
        client.fails(StreamInterrupted, cut_run(), match="gave up after 2")
        assert time.monotonic() - began > 0.4

    def test_no_retries_at_all(self, client: Client) -> None:
        none = RemoteConfig(max_retries=0)
        _, server = client.fails(StreamInterrupted, cut_run(), remote=none)
        assert len(server.requests) == 1

    def test_a_server_that_refuses_is_not_asked_again(self, client: Client) -> None:
        _, server = client.fails(
            StreamInterrupted,
            cut_run(1),
            answer({"detail": "who?"}, "401 Unauthorized"),
            match="refused with 401",
        )
        assert len(server.requests) == 2

    def test_a_run_that_is_unknown_and_not_complete_is_an_error_after_what_is_known(self) -> None:
        with (
            RawServer(cut_run(1), NOT_FOUND) as server,
            get_sync_client(url=server.url) as client,
        ):
            parts = stream_run(client, THREAD, "graph", **CUSTOM)
            assert numbers([next(parts), next(parts)]) == [1, RUN_UNKNOWN]
            with pytest.raises(StreamInterrupted, match="no longer knows it"):
                next(parts)

    def test_a_run_that_the_stream_calls_unknown_raises_stream_interrupted(
        self, client: Client
    ) -> None:
        error = {"error": "HTTPException", "message": "404: Run not found"}
        unknown = stream(events([("error", error, None)]))
        client.fails(StreamInterrupted, cut_run(1), unknown, NOT_FOUND, match="no longer knows it")

    def test_another_error_of_the_server_is_told(self, client: Client) -> None:
        error = {"error": "HTTPException", "message": "500: out of order"}
        failed = stream(events([("error", error, None)]))
        client.fails(RemoteException, cut_run(1), failed, match="out of order")

    def test_a_graph_may_fail_with_the_same_words(self, client: Client) -> None:
        error = {"error": "HTTPException", "message": "404: nobody is at home"}
        failed = stream(events([BEGUN, ("error", error, None)]))
        client.fails(RemoteException, failed, match="nobody")

    def test_a_run_that_is_unknown_but_complete_ends(self, client: Client) -> None:
        states = answer([{"values": {}, "next": [], "tasks": []}])
        assert client.numbers(cut_run(1), NOT_FOUND, NOT_FOUND, states) == [
            1,
            RUN_UNKNOWN,
        ]

    def test_a_run_without_a_thread_that_is_cut_and_cannot_be_joined(self, client: Client) -> None:
        thread = f"/threads/{THREAD}".encode()
        whole, cut = (
            stream(events([BEGUN, *custom(1)]), whole=whole).replace(thread, b"")
            for whole in (True, False)
        )
        assert client.numbers(whole, NOT_FOUND, thread_id=None) == [1]
        with RawServer(cut, NOT_FOUND) as server:
            with pytest.raises(StreamInterrupted):
                client.run(server, thread_id=None)
            assert f"GET /runs/{RUN}/stream" in server.requests[1]

    def test_a_run_whose_messages_name_a_thread_is_joined_there(self, client: Client) -> None:
        token = {"type": "AIMessageChunk", "content": "Ha", "id": "a"}
        said = [
            BEGUN,
            ("messages", [{**token, **EMPTY_FIELDS}, {"thread_id": THREAD}], "2-0"),
        ]
        cut, rest = (
            stream(events(said[at:]), whole=bool(at)).replace(f"/threads/{THREAD}".encode(), b"")
            for at in (0, 1)
        )
        with RawServer(cut, rest, rest) as server:
            (part,) = client.run(server, thread_id=None, stream_mode="messages")
            assert part.data.content == "Ha"
            assert f"GET /threads/{THREAD}/runs/{RUN}/stream" in server.requests[1]

    def test_a_run_without_a_thread_goes_on_after_the_last_id(self, client: Client) -> None:
        thread = f"/threads/{THREAD}".encode()
        cut, rest, last = (
            body.replace(thread, b"")
            for body in (
                cut_run(1, 2),
                rest_of(2, 3),
                rest_of(3),
            )
        )
        with RawServer(cut, rest, last) as server:
            assert numbers(client.run(server, thread_id=None, headers={"X-Call": "2"})) == [1, 2, 3]
            ids = [re.search(r"(?i)last-event-id: (\S+)", head) for head in server.requests]
            assert [found and found[1] for found in ids] == [None, "2-0", "3-0"]
            assert all("x-call: 2" in head.lower() for head in server.requests)


class TestGaps:
    def test_another_log_is_a_gap(self, client: Client) -> None:
        assert client.numbers(cut_run(1), rest_of(7, 8), rest_of(8), SUCCESS, answer([])) == [
            1,
            EVENTS_MISSING,
            7,
            8,
        ]

    def test_a_run_that_cannot_be_resumed_goes_on_behind_a_gap(self, client: Client) -> None:
        plain = [(event, data, None) for event, data, _ in (BEGUN, *custom(1))]
        cut = stream(events(plain), whole=False)
        rest = stream(events([("custom", {"n": 5}, None)]))
        with RawServer(cut, rest, SUCCESS, answer([])) as server:
            assert numbers(client.run(server)) == [
                1,
                "the run is not resumable, and a connection to it was cut",
                5,
            ]
            assert "last-event-id" not in server.requests[1].lower()

    def test_all_checkpoints_of_the_run_are_asked_for(self, client: Client) -> None:
        cut = stream(events([BEGUN, ("updates", {"b": {}}, "2-0")]), whole=False)
        other = stream(events([("updates", {"c": {}}, "9-0")]))
        task = {"name": "a", "id": "1", "result": {"x": 1}}
        pages = [
            answer([{"checkpoint": FIFTH}] * CHECKPOINTS_PER_PAGE),
            answer([{"tasks": [task], "metadata": {"source": "input"}}]),
        ]
        with RawServer(cut, other, other, SUCCESS, *pages) as server:
            parts = client.run(server, stream_mode="updates")
        assert [part.data for part in parts] == [{"b": {}}, {"c": {}}, {"a": {"x": 1}}]
        # As `Pages` asks: `langgraph dev` answers 500 where either form is missing.
        assert json.loads(server.bodies[-1])["before"] == {**FIFTH, "configurable": FIFTH}

    def test_a_run_whose_events_are_gone_is_told_by_its_state(self, client: Client) -> None:
        asked = answer({"run_id": RUN, "status": "success", "kwargs": {"stream_mode": ["values"]}})
        states = answer([{"values": {"n": 5}, "next": [], "tasks": []}])
        with RawServer(asked, stream(b""), SUCCESS, states) as server:
            (values,) = client.join(server)
            assert len(server.requests) == 4
        assert (values.mode, values.data) == ("values", {"n": 5})

    def test_a_server_that_does_not_find_a_run_may_have_lost_events(self, client: Client) -> None:
        assert client.numbers(cut_run(1), NOT_FOUND, SUCCESS, answer([])) == [
            1,
            RUN_UNKNOWN,
        ]


class TestFailures:
    def test_an_error_event_raises(self, client: Client) -> None:
        failed = events([BEGUN, ("error", {"error": "ValueError", "message": "no"}, None)])
        client.fails(RemoteException, stream(failed), match="no")

    def test_a_failure_whose_event_was_lost_raises_with_what_the_state_says(
        self, client: Client
    ) -> None:
        status = answer({"run_id": RUN, "status": "error"})
        states = answer([{"values": {}, "next": ["a"], "tasks": [{"error": "ValueError: no"}]}])
        client.fails(
            RemoteException, cut_run(1), rest_of(1), status, states, match="ValueError: no"
        )


class TestClients:
    def test_headers_of_the_client_and_of_the_call_go_with_each_request(
        self, client: Client
    ) -> None:
        mine = replace(client, settings={"api_key": "k", "headers": {"X-Mine": "1"}})
        other = rest_of(7)
        asked = answer({"run_id": RUN, "status": "running", "kwargs": {"stream_mode": "custom"}})
        headers = {"X-Call": "2"}
        with RawServer(cut_run(1), other, other, SUCCESS, answer([])) as server:
            mine.run(server, headers=headers)
        with RawServer(asked, other, other, SUCCESS) as joined:
            mine.join(joined, headers=headers)
        requests = [*server.requests, *joined.requests]
        assert len(requests) == 9
        for head in requests:
            for line in ("x-api-key: k", "x-mine: 1", "x-call: 2"):
                assert line in head.lower()

    def test_the_timeout_of_the_client_is_kept_unless_the_configuration_names_one(
        self, client: Client
    ) -> None:
        hasty = replace(client, settings={"timeout": 0.5})
        with (
            RawServer(cut_run(), None) as server,
            pytest.raises(StreamInterrupted) as caught,
        ):
            hasty.run(server)
        assert isinstance(caught.value.__cause__, httpx.ReadTimeout)


def test_a_run_that_is_joined_is_read_from_its_beginning(client: Client) -> None:
    asked = answer({"run_id": RUN, "status": "running", "kwargs": {"stream_mode": ["custom"]}})
    with RawServer(asked, WHOLE, REPEATED, SUCCESS) as server:
        assert numbers(client.join(server)) == [1, 2, 3]
        assert "last-event-id: -1" in server.requests[1].lower()


def test_another_process_goes_on_where_this_one_stopped(client: Client) -> None:
    error, _ = client.fails(StreamInterrupted, cut_run(1, 2), remote=RemoteConfig(max_retries=0))
    saved, position = error.ledger.to_bytes(), error.position
    asked = answer({"run_id": RUN, "status": "running", "kwargs": {"stream_mode": ["custom"]}})
    with RawServer(asked, rest_of(2, 3), REPEATED, SUCCESS) as server:
        ledger = Ledger.from_bytes(saved)
        assert numbers(client.join(server, position=position, ledger=ledger)) == [3]


@pytest.mark.parametrize("wrong", [{"max_retries": -1}, {"idle_timeout_s": 0}])
def test_a_wrong_setting_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="RemoteConfig"):
        RemoteConfig(**wrong)


class TestARunThatAnotherFinishes:
    """After SIGKILL, `langgraph dev` finishes a resumed thread under the id of its first run."""

    FIRST = "01a10000-0000-7000-8000-000000000001"
    ANSWER: ClassVar[Any] = {"input": None, "command": {"resume": "yes"}}

    def states(self, run_id: str) -> bytes:
        made = datetime.fromtimestamp((UUID(RUN).int >> 80) / 1000, UTC)
        said = {"type": "ai", "content": "Yes.", "id": "a", **EMPTY_FIELDS}
        task = {"name": "ask", "id": "1", "result": {"messages": [said]}}
        states = [(1, "2", run_id, [], [said]), (-1, "1", self.FIRST, [task], [])]
        return answer(
            [
                {
                    "values": {"messages": messages},
                    "next": [task["name"] for task in tasks],
                    "tasks": tasks,
                    "metadata": {"run_id": run, "step": int(name), "source": "loop"},
                    "checkpoint": {"checkpoint_id": name},
                    "parent_checkpoint": {"checkpoint_id": "1"},
                    "created_at": (made + timedelta(seconds=second)).isoformat(),
                }
                for second, name, run, tasks, messages in states
            ]
        )

    def test_a_run_that_another_finishes_is_waited_for_and_told_with_a_gap(
        self, client: Client
    ) -> None:
        runs = [answer([{"run_id": self.FIRST, "status": status}]) for status in ("running", "x")]
        with RawServer(cut_run(), NOT_FOUND, NOT_FOUND, *runs, self.states(self.FIRST)) as server:
            gap, message = client.run(server, stream_mode="messages", **self.ANSWER)
        assert gap.data == RUN_UNKNOWN
        assert message.data.text == "Yes."

    def test_what_a_later_run_does_is_no_part_of_a_run_that_another_finishes(
        self, client: Client
    ) -> None:
        later = "01a30000-0000-7000-8000-000000000001"
        runs = answer([{"run_id": later, "status": "running"}])
        client.fails(
            StreamInterrupted,
            cut_run(),
            NOT_FOUND,
            NOT_FOUND,
            runs,
            self.states(later),
            match="rolled back, or lost",
            stream_mode="messages",
            **self.ANSWER,
        )

    def test_an_input_that_was_lost_is_not_done_by_another_run(self, client: Client) -> None:
        _, server = client.fails(
            StreamInterrupted,
            cut_run(),
            NOT_FOUND,
            NOT_FOUND,
            answer([]),
            match="rolled back, or lost",
            stream_mode="messages",
        )
        assert json.loads(server.bodies[-1])["metadata"] == {"run_id": RUN}


class TestRolledBack:
    """A run with `multitask_strategy="rollback"` ends another and deletes it while it is read."""

    @pytest.mark.parametrize("between", [(), (NOT_FOUND,)], ids=["asked", "joined"])
    def test_a_run_that_is_gone_when_its_stream_has_ended_whole_ends_quietly(
        self, client: Client, between: tuple[bytes, ...]
    ) -> None:
        """`RemoteGraph` and the SDK end so, too."""
        assert client.numbers(run_of(1, 2), *between, NOT_FOUND) == [1, 2]

    def test_a_run_that_is_gone_when_its_stream_was_cut_may_be_lost(self, client: Client) -> None:
        client.fails(StreamInterrupted, cut_run(1), NOT_FOUND, NOT_FOUND, answer([]))


class TestNumbered:
    """Runs of a server that numbers its messages."""

    META: ClassVar[dict[str, Any]] = {
        "langgraph_checkpoint_ns": "n:1",
        "once": {"v": 1, "source": "model", "attempt": 1, "at": "n:1"},
    }

    def token(self, text: str, number: int, meta: dict[str, Any]) -> bytes:
        """The data of a token, as a server writes it."""
        message: dict[str, Any] = {"type": "AIMessageChunk", "id": "a", "content": text}
        message |= {"additional_kwargs": {}, "response_metadata": {}}
        said = [message, {**meta, "once_n": number}]
        return json.dumps(said, separators=(",", ":")).encode()

    def said(self, *numbers: int) -> bytes:
        """Tokens that say their numbers, all within a millisecond."""
        tokens = [self.token(f"{n}", n, self.META) for n in numbers]
        return events([BEGUN, *(("messages", token, "2-0") for token in tokens)])

    @pytest.mark.parametrize("thread_id", [THREAD, None])
    def test_what_is_repeated_after_a_cut_is_dropped(
        self, client: Client, thread_id: str | None
    ) -> None:
        cut, rest = stream(self.said(1, 2), whole=False), stream(self.said(1, 2, 3, 2, 3, 4))
        if thread_id is None:
            cut, rest = (body.replace(f"/threads/{THREAD}".encode(), b"") for body in (cut, rest))
        with RawServer(cut, rest, SUCCESS if thread_id else rest) as server:
            parts = client.run(server, thread_id=thread_id, stream_mode="messages")
        assert [part.data.content for part in parts] == ["1", "2", "3", "4"]
        assert {"once_n" in part.meta for part in parts} == {False}
        assert len(server.requests) == 3, "of a run without a thread nobody can ask"

    def test_a_number_that_never_comes_is_told(self, client: Client) -> None:
        said = stream(self.said(1, 3))
        with RawServer(said, SUCCESS, answer([])) as server:
            parts = client.run(server, stream_mode="messages")
        assert [part.data if part.mode == "gap" else part.data.content for part in parts] == [
            "1",
            "messages of the run did not come",
            "3",
        ]

    def test_a_number_that_a_user_has_put_there_is_theirs(self, client: Client) -> None:
        theirs = {"langgraph_checkpoint_ns": "n:1"}
        token = self.token("ha", 1, theirs)
        said = events([BEGUN, *(("messages", token, f"{n}-0") for n in (2, 3))])
        with RawServer(stream(said), SUCCESS) as server:
            parts = client.run(server, stream_mode="messages")
        assert [(part.data.content, part.meta["once_n"]) for part in parts] == [("ha", 1)] * 2
