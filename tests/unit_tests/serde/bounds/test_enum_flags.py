"""Combinations of flags that bytes ask for do not stay for ever, and are the same objects."""

from __future__ import annotations

import enum
import re
from typing import Any
from weakref import WeakKeyDictionary

import pytest

from langgraph_once.serde.bounds import costly_values
from langgraph_once.serde.bounds.costly_values import flag_of
from tests.unit_tests.serde.bounds.attacks_small import flags
from tests.unit_tests.serde.fidelity.table import once1


class Perm(enum.Flag):
    R = enum.auto()
    W = enum.auto()
    X = enum.auto()


class Wide(enum.IntFlag):
    FIRST = 1


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sixteenth of what is kept otherwise, so that it is soon too many."""
    monkeypatch.setattr(costly_values, "_FEW", 256)
    monkeypatch.setattr(costly_values, "_made", WeakKeyDictionary())


def test_a_combination_is_the_one_that_the_program_has() -> None:
    assert flag_of(Perm, 3) is Perm.R | Perm.W
    assert flag_of(Perm, 4) is Perm.X


def test_combinations_of_flags_that_nobody_holds_are_let_go() -> None:
    before = len(Wide._value2member_map_)
    for number in range(3_000):
        flag_of(Wide, number << 8)
    assert len(Wide._value2member_map_) - before < 600


def test_combinations_of_flags_that_somebody_holds_stay_the_same() -> None:
    held = [flag_of(Wide, 1 << 40 | number) for number in range(1_200)]
    for number in range(1_800):
        flag_of(Wide, 1 << 41 | number)
    assert all(flag_of(Wide, each.value) is each for each in held)
    assert Wide(held[0].value) is held[0]


def test_rows_do_not_fill_the_memory_of_a_class() -> None:
    members: dict[Any, Any] = re.RegexFlag._value2member_map_
    before = len(members)
    for _ in range(2):
        found = once1().loads_typed(("once1", flags(2_500)))
        assert len(found) == 2_500
    del found
    flag_of(re.RegexFlag, 1 << 30)
    for number in range(4_000):
        flag_of(re.RegexFlag, 1 << 31 | number)
    assert len(members) - before < 4_000


def test_a_value_that_is_none_is_an_error() -> None:
    with pytest.raises(ValueError, match="invalid value"):
        flag_of(Perm, 64)
