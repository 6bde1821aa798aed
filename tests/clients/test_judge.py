"""The judge sees each fault where it is, and none where there is none."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.clients.history import History, count
from tests.clients.judge import judge, worse
from tests.clients.recording import Recording, Shown, Snapshot

HELLO, NEXT, PLAN = "Hello to you.", "Next is here.", "Plan it all."


def ai(text: str, id: str | None = None) -> Shown:
    return Shown(id=id, type="ai", text=text, tool_calls=[])


def human(text: str) -> Shown:
    return Shown(id=None, type="human", text=text, tool_calls=[])


FINAL = [human("Well?"), ai(HELLO, "h"), ai(NEXT, "n")]
HISTORY = History([FINAL], count(FINAL) | Counter([("ai", PLAN)]), frozenset([("ai", PLAN)]))
GROWING = [
    [human("Well?")],
    [human("Well?"), ai("Hello", "h")],
    [human("Well?"), ai(HELLO, "h")],
    [human("Well?"), ai(HELLO, "h"), ai("Next", "n")],
]


def faults(*snapshots: Snapshot, error: str | None = None, fails: tuple[int, ...] = ()) -> set[str]:
    recording: Recording = {"turns": [{"snapshots": list(snapshots), "error": error}]}
    return set(judge(recording, HISTORY, fails).faults)


def test_an_answer_that_grows_to_the_state_has_no_fault() -> None:
    assert faults(*GROWING, FINAL) == set()


def test_what_the_person_typed_need_not_be_shown() -> None:
    assert faults(FINAL[1:]) == set()


@pytest.mark.parametrize(
    ("fault", "snapshot"),
    [
        ("id twice", [ai(HELLO, "h"), ai(NEXT, "h")]),
        ("text twice", [ai(HELLO, "h"), ai(HELLO, "x")]),
        ("text twice", [ai("Hello to", "dead"), ai("Hello", "h")]),
        ("garbled", [ai(HELLO + HELLO, "h")]),
        ("stale", [ai(PLAN, "p"), ai("Next", "n")]),
        ("order", [ai("Next", "n"), ai(HELLO, "h")]),
    ],
)
def test_a_fault_of_a_moment_is_seen_though_the_end_is_right(
    fault: str, snapshot: Snapshot
) -> None:
    assert fault in faults(snapshot, FINAL)


def test_a_plan_may_be_shown_until_the_next_one_speaks() -> None:
    assert faults([ai(PLAN, "p")], FINAL) == set()


def test_a_text_that_becomes_shorter_has_vanished() -> None:
    assert faults(*GROWING[:3], GROWING[1], FINAL) == {"vanished"}


def test_a_text_that_is_gone_and_comes_back_flickers() -> None:
    assert faults(*GROWING[:3], GROWING[0], FINAL) == {"vanished", "flicker"}


def test_a_plan_that_comes_back_flickers() -> None:
    assert faults([ai(PLAN)], [], [ai(PLAN)], FINAL) == {"flicker"}


@pytest.mark.parametrize(
    ("fault", "last"),
    [
        ("missing", FINAL[:2]),
        ("extra", [*FINAL, ai(PLAN, "p")]),
        ("extra", [*FINAL, ai("", "e")]),
        ("order at end", [FINAL[2], FINAL[1]]),
    ],
)
def test_what_is_left_in_the_end_is_compared_with_the_state(fault: str, last: Snapshot) -> None:
    assert fault in faults(last)


def test_a_failed_run_is_a_fault_unless_it_is_meant_to_fail() -> None:
    assert faults(*GROWING, FINAL, error="no") == {"run failed"}
    assert faults(*GROWING, FINAL, error="no", fails=(0,)) == set()


def test_a_call_is_shown_once() -> None:
    calling = Shown(id="c", type="ai", text="", tool_calls=["call-1"])
    history = History([[calling]], count([calling]), frozenset())
    recording: Recording = {
        "turns": [{"snapshots": [[calling], [calling, calling]], "error": None}]
    }
    assert set(judge(recording, history).faults) == {"id twice", "text twice", "extra"}


def test_what_was_on_the_screen_in_the_turn_before_is_remembered() -> None:
    """A client that shows nothing new in a turn still shows what it showed."""
    later = [*FINAL, ai("Later.", "l")]
    history = History([FINAL, later], count(later), frozenset())
    recording: Recording = {
        "turns": [{"snapshots": [FINAL], "error": None}, {"snapshots": [], "error": None}]
    }
    assert judge(recording, history).what == ("turn 2, missing: Later. (0)",)


def test_worse_is_more_of_any_fault() -> None:
    once = judge({"turns": [{"snapshots": [FINAL[1:2]], "error": None}]}, HISTORY)
    plain = judge({"turns": [{"snapshots": [FINAL[2:], FINAL], "error": None}]}, HISTORY)
    assert worse(once, plain) == ["missing"]
    assert worse(plain, plain) == []


def test_a_fault_in_the_place_of_another_is_not_worse() -> None:
    twice = [FINAL[0], ai(HELLO), *FINAL[1:]]
    mixed = judge({"turns": [{"snapshots": [[ai("HelloNext")], FINAL], "error": None}]}, HISTORY)
    doubled = judge({"turns": [{"snapshots": [twice, FINAL], "error": None}]}, HISTORY)
    turned = judge({"turns": [{"snapshots": [FINAL[::-1], FINAL], "error": None}]}, HISTORY)
    assert [*mixed.faults, *doubled.faults, *turned.faults] == ["garbled", "text twice", "order"]
    assert worse(doubled, mixed) == worse(turned, doubled) == worse(turned, mixed) == []
    assert worse(mixed, doubled) == ["garbled"]
    assert worse(doubled, turned) == ["text twice"]


def test_where_a_client_mixes_what_stood_there_whole_for_a_moment_is_chance() -> None:
    mixed, whole = [ai("HelloNext")], [ai(HELLO)]
    at_once = judge({"turns": [{"snapshots": [mixed, FINAL], "error": None}]}, HISTORY)
    later = judge({"turns": [{"snapshots": [whole, mixed, FINAL], "error": None}]}, HISTORY)
    clean = judge({"turns": [{"snapshots": [FINAL], "error": None}]}, HISTORY)
    lost = judge({"turns": [{"snapshots": [whole, [], FINAL], "error": None}]}, HISTORY)
    assert set(later.faults) - set(at_once.faults) == {"vanished", "flicker"}
    assert worse(later, at_once) == []
    assert worse(lost, clean) == ["vanished", "flicker"]
