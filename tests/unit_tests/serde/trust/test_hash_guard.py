"""Keys that would run the code of a class that is not listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from langgraph_once.serde.trust.hash_guard import Danger, Guard, GuardedError


@dataclass(frozen=True)
class Harmless:
    x: Any


class Counting:
    def __hash__(self) -> int:
        return 1


class Number:
    def __float__(self) -> float:
        return 1.0


def test_what_is_hashed_by_hand_is_no_key_alone_or_inside() -> None:
    guard = Guard()
    guard.check([Counting()], tag="once1")
    guard.note(Counting)
    for key in (Counting(), (1, Counting()), frozenset([Counting()]), Harmless((Counting(),))):
        with pytest.raises(GuardedError):
            guard.check(["a", key], tag="once1")


def test_all_other_keys_stay_what_they_are() -> None:
    guard = Guard()
    for cls in (Counting, Number):
        guard.note(cls)
        guard.check([1, "a", (1, "b"), None, Number(), Harmless(2)], tag="once1")
    assert guard.finds([[Number()]], Danger.WHERE_USED)
    assert not guard.finds([[Number()]], Danger.WHERE_HASHED)
    assert not guard.finds([Harmless(1)], Danger.WHERE_USED)
