"""A stream whose messages have numbers: read exactly, however it is cut and repeated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import given, strategies as st
from langchain_core.messages import AIMessageChunk

from langgraph_once.config import RemoteConfig
from langgraph_once.errors import StreamError
from langgraph_once.remote.alignment import (
    FIRST,
    MAX_WAITING,
    AmbiguousError,
    Frame,
    without_number,
)
from langgraph_once.remote.run_reader import RunReader
from langgraph_once.stream import GAP_MODE, Part
from tests.examples import examples

CUT = ConnectionError("cut")
TASK = {"langgraph_checkpoint_ns": "node:1", "run_attempt": 1}
QUICK = RemoteConfig(max_retries=100)
MISSING = "messages of the run did not come"


def token(number: int, event_id: str | None = None, *, attempt: int = 1) -> Frame:
    """A token that says its number."""
    message = AIMessageChunk(content=f"{number}", id="a")
    meta = {**TASK, "run_attempt": attempt}
    return Frame("messages", (message, meta), event_id or f"{number}-0", 0, number)


def said(frame: Frame) -> Any:
    """What a frame says."""
    return frame.data[0].content if frame.number else frame.data


def told(parts: list[Part]) -> list[Any]:
    """What parts say."""
    return [part.data.content if part.mode == "messages" else part.data for part in parts]


def reader(*modes: str, **facts: Any) -> RunReader:
    asked = {"thread_id": "t", "run_id": "r", "modes": modes or ["messages-tuple"], **facts}
    return RunReader(QUICK, **asked)


def fed(reading: RunReader, *frames: Frame) -> list[Any]:
    return told([part for frame in frames for part in reading.feed(frame)])


def cut(reading: RunReader) -> list[Any]:
    """Lose the connection, and make another."""
    parts = told([*reading.ended(CUT)])
    reading.rejoin()
    return parts


class Cut(NamedTuple):
    """The end of a connection."""

    after: int
    """How many events it has brought."""

    meanwhile: int
    """How many are said while the next one is answered: those come in an echo as well."""


class Server:
    """What `langgraph dev` answers: its log after an id, then what it collected meanwhile."""

    def __init__(self, log: list[Frame]) -> None:
        self._log = log

    def joined(self, cursor: str, now: int, done: int) -> Iterator[Frame]:
        """The events of a connection to a run under way.

        Args:
            cursor: The id that was asked for.
            now: How many events there were when it began.
            done: How many there were when the log had been repeated.
        """
        yield from (frame for frame in self._log[:done] if str(frame.id) > cursor)
        yield from self._log[now:]


@st.composite
def logs(draw: st.DrawFn, modes: tuple[str, ...]) -> list[Frame]:
    """Logs with many events in a millisecond, and many that are equal but for their numbers."""
    clock, log, numbers, states = 1_000, list[Frame](), 0, 0
    said_then = draw(st.lists(st.sampled_from(modes), max_size=30))
    for mode in ("messages", *said_then):  # by the first number the reader knows our server
        clock += draw(st.integers(0, 1))
        event_id = f"{clock}-0"
        if mode == "messages":
            numbers += 1
            frame = token(numbers, event_id)
            message = frame.data[0].model_copy(update={"content": "same"})
            log.append(frame._replace(data=(message, frame.data[1])))
        elif mode == "values":  # of equal states our server sends one
            states += 1
            log.append(Frame(mode, {"state": states}, event_id, 100 + states))
        else:
            tick = draw(st.integers(0, 1))
            log.append(Frame(mode, {"tick": tick}, event_id, tick))
    return log


cuts = st.lists(st.builds(Cut, st.integers(0, 12), st.integers(0, 6)), max_size=5)


def read(log: list[Frame], cuts: list[Cut], modes: tuple[str, ...]) -> tuple[list[Any], int]:
    """What a reader gets of a log through these cuts; and how many connections that took."""
    reading, server, got, connections = reader(*modes), Server(log), list[Any](), 1
    frames, left = iter(log), [*cuts, Cut(10**6, 0)]
    seen = 0
    while left:
        after, meanwhile = left.pop(0)
        end: Exception = CUT
        for frame, _ in zip(frames, range(after), strict=False):
            try:
                got += [*reading.feed(frame)]
            except AmbiguousError as error:
                end = error
                left.insert(0, Cut(10**6, 0))
                break
            seen = max(seen, log.index(frame) + 1)
        if not left:
            break
        got += [*reading.ended(end)]
        reading.rejoin()
        connections += 1
        now = len(log) if end is not CUT else seen
        while 0 < now < len(log) and log[now].id == log[now - 1].id:
            now += 1  # to connect takes longer than a millisecond
        cursor = reading.alignment.cursor or FIRST
        frames = server.joined(cursor, now, min(now + meanwhile, len(log)))
    return told(got), connections


@pytest.mark.parametrize("modes", [("messages",), ("messages", "values")], ids="+".join)
@examples(200)
@given(data=st.data(), cuts=cuts)
def test_each_event_comes_once_in_order_with_one_connection_for_each_cut(
    modes: tuple[str, ...], data: st.DataObject, cuts: list[Cut]
) -> None:
    log = data.draw(logs(modes))
    assert read(log, cuts, modes) == ([*map(said, log)], len(cuts) + 1)


@examples(200)
@given(log=logs(("messages", "custom", "values")), cuts=cuts)
def test_equal_events_without_numbers_come_as_often_as_they_were_said(
    log: list[Frame], cuts: list[Cut]
) -> None:
    """Only these may need another connection, to be told from an echo."""
    found, _ = read(log, cuts, ("messages", "custom", "values"))
    assert found == [*map(said, log)]


@given(st.permutations(range(1, 9)), st.lists(st.integers(1, 8)))
def test_in_whatever_order_messages_come_they_are_passed_on_in_theirs(
    order: list[int], again: list[int]
) -> None:
    reading = reader()
    assert fed(reading, *map(token, [*order, *again])) == [*"12345678"]


def test_what_has_no_number_waits_in_its_place() -> None:
    reading = reader("messages", "custom")
    frames = [token(1), token(3), Frame("custom", "behind 3", "3-0", 7), token(2), token(4)]
    assert fed(reading, *frames) == ["1", "2", "3", "behind 3", "4"]


def test_a_gap_is_told_when_the_connection_ends_and_what_waited_is_passed_on() -> None:
    reading = reader()
    assert fed(reading, token(1), token(3), token(4)) == ["1"]
    assert cut(reading) == [MISSING, "3", "4"]
    assert fed(reading, token(4), token(5)) == ["5"]


@pytest.mark.parametrize("last", [("end", None), ("metadata", {"run_id": "r", "attempt": 2})])
def test_a_gap_is_told_before_the_run_ends_or_begins_again(last: tuple[str, Any]) -> None:
    reading = reader(begins_at="")
    assert fed(reading, token(1), token(3)) == ["1"]
    assert fed(reading, Frame(*last, "9-0", 9)) == [MISSING, "3"]


def test_a_server_that_leaves_messages_out_does_not_stop_the_stream() -> None:
    reading = reader()
    fed(reading, token(1))
    found = fed(reading, *map(token, range(3, 4 + MAX_WAITING)))
    assert found == [MISSING, *map(str, range(3, 4 + MAX_WAITING))]
    assert fed(reading, token(100)) == ["100"], "this server fills no gaps"


def test_a_worker_that_takes_up_the_run_begins_at_1() -> None:
    ran_again = list[bool]()
    reading = reader(ran_again=lambda: ran_again.append(True))
    begun = [Frame("metadata", {"attempt": n}, f"{10 * n}-0", n) for n in (1, 2)]
    first = [begun[0], token(1, "11-0"), token(2, "12-0"), token(3, "20-0")]
    second = [begun[1], token(1, "20-0", attempt=2), token(2, "20-0", attempt=2)]
    assert fed(reading, *first, *second[:2]) == ["1", "2", "3", "1"]
    assert ran_again == [True]
    cut(reading)
    assert fed(reading, first[-1], *second) == ["2"]
    assert ran_again == [True]


def test_a_server_that_counts_no_attempts_begins_at_1_too() -> None:
    """After SIGKILL `langgraph dev` counts them from what it wrote down last."""
    reading = reader()
    begun = [Frame("metadata", {"attempt": 1}, f"{10 * n}-0", 1) for n in (1, 2)]
    assert fed(reading, begun[0], token(1, "11-0"), token(2, "12-0")) == ["1", "2"]
    assert fed(reading, begun[1], token(1, "21-0"), token(2, "22-0")) == ["1", "2"]


OURS = {"v": 1, "source": "model", "attempt": 1, "at": "node:1"}


@pytest.mark.parametrize(
    ("meta", "number"),
    [
        ({**TASK, "once": OURS, "once_n": 7}, 7),
        ({**TASK, "once": OURS}, None),
        ({**TASK, "once_n": 7}, None),  # a user's own, where nothing else is ours
        ({**TASK, "once": OURS, "once_n": "7"}, None),
    ],
)
def test_a_number_is_taken_from_what_our_server_has_said_alone(
    meta: dict[str, Any], number: int | None
) -> None:
    rest, found = without_number([{"content": "Hi"}, meta])
    assert found == number
    left = {key: value for key, value in meta.items() if key != "once_n" or number is None}
    assert rest == [{"content": "Hi"}, left]
    assert without_number({"content": "Hi"}) == ({"content": "Hi"}, None)


def test_of_a_run_without_log_comes_what_is_said_from_now_on() -> None:
    reading = reader()
    assert fed(reading, token(5)._replace(id=None), token(6)._replace(id=None)) == ["5", "6"]
    cut(reading)
    assert fed(reading, token(6)._replace(id=None), token(9)._replace(id=None)) == ["9"]


def test_without_an_overlap_the_numbers_alone_prove_that_no_message_is_missing() -> None:
    reading = reader()
    fed(reading, token(1), token(2))
    cut(reading)
    assert fed(reading, token(3, "8-0")) == ["3"]
    cut(reading)
    (gap, *rest) = [part for n in (5, 6) for part in reading.feed(token(n))]
    assert gap.mode == GAP_MODE
    assert told(rest) == ["5", "6"]


class TestPosition:
    def test_another_process_goes_on_from_a_position(self) -> None:
        first = reader()
        fed(first, token(1, "1-0"), token(2, "1-0"), token(3, "2-0"))
        again = reader(begins_at=first.position)
        again.rejoin()
        assert again.alignment.cursor == "1-0"
        assert fed(again, token(3, "2-0"), token(4, "2-0")) == ["4"]

    def test_a_position_that_tells_no_number_is_gone_on_from(self) -> None:
        """An older version wrote it, of a server that gave none then."""
        reading = reader(begins_at="1-0,2-0:0000002a:1")
        reading.rejoin()
        assert fed(reading, Frame("messages", token(1).data, "2-0", 42)) == []
        assert fed(reading, Frame("messages", token(1).data, "3-0", 43)) == ["1"]

    @pytest.mark.parametrize(
        "damaged", ["1-0,2-0", "1-0,2-0:zz:1", "1-0,2-0:12", "#x", "#1.x", "#1-0"]
    )
    def test_a_text_that_is_no_position_is_refused(self, damaged: str) -> None:
        with pytest.raises(StreamError, match="no position"):
            reader(begins_at=damaged)
