"""How often, and after how long, a client connects to a run again."""

from __future__ import annotations

import pytest

from langgraph_once.remote import retries
from langgraph_once.remote.retries import Retries


@pytest.fixture(autouse=True)
def waits() -> None:
    """Those that there are."""


class Clock:
    """Time that passes when it is told to."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(retries, "time", made)
    return made


def connections(clock: Clock, *, held_s: float, within_s: float, error: Exception | None) -> int:
    """How many connections there are in a time, if each brings something and holds so long."""
    tries, count = Retries(10), 0
    while clock.now < within_s:
        count += 1
        tries.opened()
        tries.has_progressed, tries.error = True, error
        clock.now += held_s
        wait_s = tries.next_s(may_be_silent=True)
        assert wait_s is not None  # what brings something new is never given up
        tries.begin()
        clock.now += wait_s
    return count


@pytest.mark.parametrize("error", [None, ConnectionError()], ids=["ended", "cut"])
def test_a_server_that_cuts_behind_each_event_is_asked_less_and_less(
    clock: Clock, error: Exception | None
) -> None:
    assert connections(clock, held_s=0.01, within_s=15, error=error) <= 11
    clock.now = 0
    assert connections(clock, held_s=0.01, within_s=3600, error=error) < 400


@pytest.mark.parametrize("error", [None, ConnectionError()], ids=["ended", "cut"])
def test_a_proxy_that_cuts_every_minute_is_come_back_to_at_once(
    clock: Clock, error: Exception | None
) -> None:
    assert connections(clock, held_s=60, within_s=3600, error=error) >= 59


def test_connections_that_bring_nothing_are_given_up(clock: Clock) -> None:
    tries = Retries(2)
    waits = []
    for _ in range(3):
        tries.opened()
        tries.error = ConnectionError()
        waits.append(tries.next_s(may_be_silent=True))
        tries.begin()
    assert None not in waits[:2]
    assert waits[2] is None
