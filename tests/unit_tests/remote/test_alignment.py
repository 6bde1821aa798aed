"""Alignment: a server as `langgraph dev` keeps its log, cut anywhere, read once."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from hypothesis import given, strategies as st

from langgraph_once.remote.alignment import (
    FIRST,
    MAX_VERIFICATIONS,
    Alignment,
    AmbiguousError,
)


class Event(NamedTuple):
    """One event of a log."""

    id: str
    check: int
    logged: bool = True


class Server:
    """What `langgraph dev` answers: its log after an id, then what it collected meanwhile."""

    def __init__(self, log: list[Event]) -> None:
        self.log = log

    def stream(self, cursor: str | None, *, now: int, done: int) -> Iterator[Event]:
        """The events of a connection.

        Args:
            cursor: The id after which it was asked for events; None for the first connection.
            now: How many events there were when it began.
            done: How many there were when the log had been repeated.
        """
        if cursor is None:
            yield from self.log
            return
        yield from (e for e in self.log[:done] if e.logged and e.id > cursor)
        yield from self.log[now:]


def logs() -> st.SearchStrategy[list[Event]]:
    """Logs with many equal events, and many in a millisecond."""
    event = st.tuples(st.integers(0, 1), st.integers(0, 1))

    def build(drawn: list[tuple[int, int]]) -> list[Event]:
        clock, log = 1_000, []
        for step, check in drawn:
            clock += step
            log.append(Event(f"{clock}-0", check))
        return log

    return st.lists(event, min_size=1, max_size=24).map(build)


def read(log: list[Event], cuts: list[tuple[int, int]]) -> list[Event]:
    """What a reader gets of a log.

    Args:
        log: All events of the run.
        cuts: For each connection after how many events it is cut, and how many events are said
            while the next one is being answered.
    """
    alignment, server, got = Alignment(), Server(log), list[Event]()
    frames = server.stream(None, now=0, done=0)
    left = [*cuts, (10**6, 0)]
    while left:
        passes, meanwhile = left.pop(0)
        is_ambiguous = False
        for frame, _ in zip(frames, range(passes), strict=False):
            try:
                if alignment.is_new(frame.id, frame.check, logged=frame.logged):
                    got.append(frame)
            except AmbiguousError:
                is_ambiguous = True
                left.insert(0, (10**6, meanwhile))
                break
        is_last = alignment.verifications == MAX_VERIFICATIONS - 1  # by then it was all said
        now = len(log) if is_ambiguous and is_last else len(got)
        while 0 < now < len(log) and log[now].id == log[now - 1].id:
            now += 1  # to connect takes longer than a millisecond
        cursor = alignment.cursor or FIRST
        alignment.rejoin(verifies=is_ambiguous)
        frames = server.stream(cursor, now=now, done=min(now + meanwhile, len(log)))
    return got


def cuts() -> st.SearchStrategy[list[tuple[int, int]]]:
    return st.lists(st.tuples(st.integers(0, 12), st.integers(0, 6)), max_size=4)


@given(logs(), cuts())
def test_wherever_the_cuts_are_each_event_comes_once_and_in_order(
    log: list[Event], cuts: list[tuple[int, int]]
) -> None:
    assert read(log, cuts) == log


def numbered(ids: list[int], checks: list[int] | None = None) -> list[Event]:
    checks = checks or list(range(len(ids)))
    return [Event(f"{i}-0", check) for i, check in zip(ids, checks, strict=True)]


def received(log: list[Event]) -> Alignment:
    alignment = Alignment()
    assert all(alignment.is_new(*event[:2]) for event in log)
    return alignment


def rejoined(log: list[Event]) -> Alignment:
    alignment = received(log)
    alignment.rejoin()
    return alignment


def new(alignment: Alignment, events: list[Event]) -> list[Event]:
    return [event for event in events if alignment.is_new(*event[:2])]


class TestCursor:
    def test_the_cursor_is_an_id_before_the_last(self) -> None:
        assert received(numbered([1, 2, 3])).cursor == "2-0"

    def test_events_that_share_the_last_id_come_again(self) -> None:
        assert received(numbered([1, 3, 3, 3])).cursor == "1-0"

    def test_before_the_first_id_the_whole_log_is_asked_for(self) -> None:
        assert received(numbered([3, 3])).cursor == FIRST

    def test_without_ids_there_is_none(self) -> None:
        alignment = Alignment()
        assert alignment.is_new(None, 1)
        assert alignment.is_new(None, 1)
        assert alignment.cursor is None

    def test_the_cursor_goes_back_to_an_event_that_the_server_keeps(self) -> None:
        alignment = received(numbered([1, 2]))
        assert alignment.is_new("3-0", 9, logged=False)
        assert alignment.cursor == "1-0"


class TestOverlap:
    def test_events_that_shared_the_last_id_are_not_lost(self) -> None:
        log = numbered([1, 2, 2, 2, 3])
        alignment = rejoined(log[:3])
        assert new(alignment, log[1:]) == log[3:]

    def test_equal_events_in_one_millisecond_are_all_real(self) -> None:
        log = numbered([1, 2, 2, 2, 2], [0, 7, 7, 7, 7])
        alignment = rejoined(log[:3])
        assert new(alignment, log[1:]) == log[3:]

    def test_an_event_that_the_server_does_not_keep_stands_for_no_other(self) -> None:
        log = numbered([1, 5, 5, 5])
        alignment = received(log[:1])
        alignment.is_new(*log[1][:2], logged=False)
        alignment.is_new(*log[2][:2])
        alignment.rejoin()
        assert new(alignment, log[2:]) == log[3:]

    def test_an_overlap_proves_that_nothing_is_missing(self) -> None:
        alignment = rejoined(numbered([1, 2, 3]))
        assert not alignment.has_overlap
        new(alignment, numbered([3], [2]))
        assert alignment.has_overlap

    def test_another_log_has_no_overlap(self) -> None:
        alignment = rejoined(numbered([1, 2, 3]))
        assert new(alignment, numbered([8, 9], [5, 6])) == numbered([8, 9], [5, 6])
        assert not alignment.has_overlap

    def test_a_server_may_begin_earlier_than_it_was_asked_to(self) -> None:
        log = numbered([1, 2, 3, 4])
        alignment = rejoined(log[:3])
        assert new(alignment, log) == log[3:]
        alignment.rejoin()
        assert new(alignment, log) == []

    def test_what_is_said_again_behind_something_new_is_real(self) -> None:
        log = numbered([1, 2, 2, 2, 2], [0, 7, 8, 9, 8])
        alignment = received(log[:2])
        alignment.is_new(*log[2][:2], logged=False)
        alignment.rejoin()
        assert new(alignment, [log[1], *log[3:]]) == log[3:]

    def test_a_clock_that_goes_back_loses_nothing(self) -> None:
        log = numbered([5, 9, 9, 5], [1, 2, 3, 1])
        alignment = rejoined(log[:2])
        assert new(alignment, log[1:]) == log[2:]


class TestEcho:
    def test_what_was_collected_meanwhile_does_not_come_twice(self) -> None:
        log = numbered([1, 2, 3, 4, 5, 6, 7])
        alignment = rejoined(log[:3])
        assert new(alignment, [*log[2:6], *log[4:]]) == log[3:]

    def test_an_echo_may_begin_amid_a_millisecond(self) -> None:
        log = numbered([1, 2, 3, 3, 4, 5])
        alignment = rejoined(log[:2])
        assert new(alignment, [*log[1:5], *log[3:]]) == log[2:]

    def test_events_that_the_server_did_not_keep_come_amid_an_echo(self) -> None:
        log = [*numbered([1, 2, 3, 4]), Event("5-0", 50, logged=False), *numbered([6, 7])]
        alignment = rejoined(log[:2])
        came = [log[1], *log[2:4], log[5], log[3], log[4], log[5], log[6]]
        assert sorted(new(alignment, came)) == sorted(log[2:])

    def test_an_echo_in_one_millisecond_needs_another_connection(self) -> None:
        log = numbered([1, 2, 3, 3], [0, 1, 7, 7])
        alignment = rejoined(log[:2])
        assert new(alignment, log[1:3]) == [log[2]]
        with pytest.raises(AmbiguousError):
            alignment.is_new(*log[3][:2])
        alignment.rejoin(verifies=True)
        assert new(alignment, log[2:]) == [log[3]]

    def test_when_that_is_told_too_often_it_is_shown_rather_than_lost(self) -> None:
        alignment = rejoined(numbered([1, 2]))
        for i in range(MAX_VERIFICATIONS):
            alignment.is_new(f"{3 + i}-0", 7)
            with pytest.raises(AmbiguousError):
                alignment.is_new(f"{3 + i}-0", 7)
            alignment.rejoin(verifies=True)
        assert alignment.is_new("99-0", 7)
        assert alignment.is_new("99-0", 7)
        alignment.rejoin()  # after a cut that is another matter
        assert not alignment.is_new("99-0", 7)
        assert not alignment.is_new("99-0", 7)
        assert alignment.is_new("100-0", 7)
        with pytest.raises(AmbiguousError):
            alignment.is_new("100-0", 7)

    def test_a_long_one_is_known(self) -> None:
        log = numbered([*range(70_000)])
        alignment = rejoined(log[:10])
        assert new(alignment, [*log[9:], *log[69_000:]]) == log[10:]


class TestPosition:
    @pytest.mark.parametrize("ids", [[1, 2, 3, 3], [3, 3], [1]])
    def test_another_process_goes_on_from_a_position(self, ids: list[int]) -> None:
        log = numbered([*ids, 3, 4], [*range(len(ids)), 80, 81])
        position = received(log[: len(ids)]).position()
        alignment = Alignment.at(position)
        cursor = alignment.cursor or FIRST
        alignment.rejoin()
        came = list(Server(log).stream(cursor, now=len(log), done=len(log)))
        assert new(alignment, came) == log[len(ids) :]
        assert alignment.has_overlap

    def test_what_the_server_does_not_keep_is_not_asked_of_it(self) -> None:
        alignment = Alignment()
        alignment.is_new("2-0", 9, logged=False)
        again = Alignment.at(alignment.position())
        again.rejoin()
        assert again.has_overlap

    def test_the_position_before_any_event_is_empty(self) -> None:
        assert Alignment().position() == ""
        assert Alignment.at("").cursor is None


def test_the_events_that_an_alignment_remembers_are_bounded() -> None:
    alignment, sizes = Alignment(), []
    for i in range(100_000, 200_000):
        alignment.is_new(f"{i}-0", i)
        if i % 10_000 == 9_999:
            sizes.append(len(pickle.dumps(alignment)))
    assert max(sizes) <= sizes[3], "40,000 events, and never more"
    assert alignment.cursor == "199998-0"
