"""Tuples that contain themselves, through whatever can be filled later."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_once.errors import EncodeError
from tests.examples import examples
from tests.unit_tests.serde.fidelity import kinds as k
from tests.unit_tests.serde.fidelity import object_kinds as o
from tests.unit_tests.serde.fidelity.sameness import difference
from tests.unit_tests.serde.fidelity.table import once1

SERDE = once1()


def back(value: Any) -> Any:
    return SERDE.loads_typed(SERDE.dumps_typed(value))


@st.composite
def tangles(draw: st.DrawFn) -> Any:
    """Lists, dicts, objects and tuples that hold each other in any way that Python allows."""
    made: list[Any] = []
    for _ in range(draw(st.integers(1, 10))):
        kind = draw(st.sampled_from(["list", "dict", "object", "record", "deep", "tuple"]))
        if kind == "tuple":
            made.append(tuple(draw(st.lists(st.sampled_from([*made, 1, "a"]), max_size=4))))
        elif kind == "deep":
            deep: list[Any] = [[]]
            for _ in range(draw(st.integers(0, 90))):
                deep = [deep]
            made.append(deep)
        else:
            made.append({"list": list, "dict": dict, "object": o.Basket}.get(kind, _record)())
    for into in made:
        parts = draw(st.lists(st.sampled_from(made), max_size=3))
        if type(into) is list:
            into.extend(parts)
        elif type(into) is dict:
            into.update(enumerate(parts) if draw(st.booleans()) else zip("abc", parts))  # noqa: B905  # as many as there are
        elif type(into) is not tuple:
            vars(into)["parts"] = parts
            vars(into)["part"] = parts[:1] and parts[0]
    return draw(st.sampled_from(made))


def _record() -> Any:
    return k.Plain("p")


@examples(50)
@given(tangles())
def test_whatever_holds_itself_comes_back_the_same(value: Any) -> None:
    assert difference(value, back(value)) is None
    assert difference([value, (value,)], back([value, (value,)])) is None


def test_a_tuple_in_itself_is_the_very_same_inside() -> None:
    value: Any = ([],)
    value[0].append(value)
    again = back(value)
    assert again[0][0] is again


def test_a_cyclic_tuple_stays_cyclic_in_what_cannot_be_rebuilt() -> None:
    value: Any = (o.Basket(),)
    value[0].items.append(value)
    row = SERDE.dumps_typed([value])
    stranger = SERDE.with_msgpack_allowlist([])
    assert difference(stranger.loads_typed(row), [value]) is None


def through(make: Any) -> Any:
    """Return a tuple with a list in it that holds what `make` makes of the tuple."""
    value: Any = ([],)
    value[0].append(make(value))
    return value


def _copied(make: Any) -> Any:
    """Return a tuple: a list that holds the tuple, and what `make` makes of that list."""
    inside: list[Any] = []
    value = (inside, make(inside))
    inside.append(value)
    return value


@pytest.mark.parametrize(
    "value",
    [
        through(lambda value: k.Triple([value])),
        through(lambda value: slice(value)),
        through(lambda value: k.Point(value, 1)),
        _copied(lambda inside: slice(inside)),
        _copied(lambda inside: k.Point(inside, 1)),
        _copied(lambda inside: k.Triple([inside])),
    ],
)
def test_an_object_that_must_be_made_first_cannot_hold_a_cyclic_tuple(value: Any) -> None:
    with pytest.raises(EncodeError, match="contains itself"):
        SERDE.dumps_typed(value)


def test_a_key_whose_hash_needs_the_whole_is_refused() -> None:
    table = o.HashedTable()
    value = (table,)
    table[value] = 1
    with pytest.raises(EncodeError, match="its hash depends"):
        SERDE.dumps_typed(value)


def test_a_key_whose_hash_is_there_in_time_is_not() -> None:
    key = o.Keyed("a")
    value = (key,)
    vars(key)["inside"] = {value: 1}
    assert difference(value, back(value)) is None


def test_a_key_that_is_known_by_identity_is_not() -> None:
    basket = o.Basket()
    value = (basket,)
    basket.items = [{value: {basket}}, {value}]
    again = back(value)
    assert again in again[0].items[1]
    assert again[0].items[0][again] == {again[0]}
