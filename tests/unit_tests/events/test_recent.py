"""What is remembered is bounded, and the oldest goes first."""

from __future__ import annotations

from langgraph_once.events.thread_memory import Bounded, RecentKeys


def test_a_bounded_mapping_forgets_the_keys_that_were_added_longest_ago() -> None:
    known: Bounded[str, int] = Bounded(2)
    known["a"] = 1
    known["b"] = 2
    known["a"] = 3  # is no newer for that
    known.setdefault("c", 4)
    assert list(known.items()) == [("b", 2), ("c", 4)]


def test_a_key_that_comes_again_is_recent_again() -> None:
    recent: RecentKeys[str] = RecentKeys(2)
    assert [recent.add(key) for key in "abaca"] == [True, True, False, True, False]
    assert list(recent) == ["c", "a"]


def test_a_key_that_comes_again_stays_when_the_bound_has_shrunk() -> None:
    recent: RecentKeys[str] = RecentKeys(3)
    for key in "abc":
        recent.add(key)
    recent.max_size = 1
    assert not recent.add("a")
    assert list(recent) == ["a"]
