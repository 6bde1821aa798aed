"""Combinations of flags that bytes ask for do not stay for ever, and are the same objects."""

from __future__ import annotations

import enum
import re
from typing import Any

import pytest

from langgraph_once.serde.bounds.enum_flags import flag_of
from tests.unit_tests.serde.bounds.attacks_small import SMALL
from tests.unit_tests.serde.codecs.once1.table import once1


class Perm(enum.Flag):
    R = enum.auto()
    W = enum.auto()
    X = enum.auto()


class Wide(enum.IntFlag):
    FIRST = 1


def test_a_combination_is_the_one_that_the_program_has() -> None:
    assert flag_of(Perm, 3) is Perm.R | Perm.W
    assert flag_of(Perm, 4) is Perm.X


def test_what_nobody_holds_is_let_go() -> None:
    for number in range(50_000):
        flag_of(Wide, number << 8)
    assert len(Wide._value2member_map_) < 10_000


def test_what_somebody_holds_stays_the_same() -> None:
    held = [flag_of(Wide, 1 << 40 | number) for number in range(20_000)]
    for number in range(30_000):
        flag_of(Wide, 1 << 41 | number)
    assert all(flag_of(Wide, each.value) is each for each in held)
    assert Wide(held[0].value) is held[0]


def test_rows_do_not_fill_the_memory_of_a_class() -> None:
    tag, make = SMALL["40,000 combinations of flags"]
    members: dict[Any, Any] = re.RegexFlag._value2member_map_
    for _ in range(2):
        found = once1().loads_typed((tag, make()))
        assert len(found) == 40_000
    del found
    flag_of(re.RegexFlag, 1 << 30)
    for number in range(60_000):
        flag_of(re.RegexFlag, 1 << 31 | number)
    assert len(members) < 60_000


def test_a_value_that_is_none_is_an_error() -> None:
    with pytest.raises(ValueError, match="invalid value"):
        flag_of(Perm, 64)
