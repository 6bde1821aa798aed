"""What is one object stays one; a value may contain itself, and be as deep as Python allows."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from langgraph_once.errors import EncodeError, SerdeError, SizeLimitError
from langgraph_once.serde import Adapter
from tests.examples import examples
from tests.unit_tests.serde.core.classes import Box, Knot, Locked, Pair, Point, back, once
from tests.unit_tests.serde.fidelity.sameness import difference
from tests.unit_tests.serde.hostile.build import (
    again,
    array,
    graph,
    node,
    obj,
    pack,
    shared,
    tupled,
)


@pytest.mark.parametrize("wrap", [list, tuple, lambda two: {"a": two[0], "b": [two[1]]}])
@pytest.mark.parametrize("obj", [Knot(1), Point(x=1), {1}], ids=lambda obj: type(obj).__name__)
def test_an_object_that_stands_twice_stays_one(obj: Any, wrap: Any) -> None:
    value = wrap([obj, obj])
    assert difference(value, back(value)) is None


def test_an_object_that_is_repeated_more_than_reading_allows_becomes_several() -> None:
    large = Knot(bytes(4_000_000))
    found = back([large] * 110)
    assert all(each.label == large.label for each in found)
    assert found[0] is not found[1]


def test_what_is_large_and_deeply_nested_is_read() -> None:
    value: Any = bytes(30_000_000)
    for _ in range(12):
        value = (value,)
    assert back({"messages": [Knot(1)], "deep": value})["deep"] == value


def test_two_references_to_one_list_become_two_equal_lists_as_with_langgraph() -> None:
    inner: list[int] = [1]
    first, second = back([inner, inner])
    assert first == second == [1]
    assert first is not second


def test_a_bytearray_becomes_bytes_beside_what_contains_itself_too() -> None:
    """Once written in one way and once in the other, a thread would change with each turn."""
    ring: list[Any] = []
    ring.append(ring)
    found = back({"buffer": bytearray(b"ab"), "ring": ring})
    assert type(found["buffer"]) is bytes


def test_equal_objects_stay_two() -> None:
    first, second = back([Knot(1), Knot(1)])
    assert first is not second


@pytest.mark.parametrize("kind", [list, dict, Knot, Point])
def test_a_value_may_contain_itself(kind: Any) -> None:
    value: Any = kind(x=1) if kind is Point else kind()
    if kind is list:
        value.append(value)
    elif kind is dict:
        value["me"] = value
    else:
        value.__dict__.update(y=[value], x=value) if kind is Point else value.links.append(value)
    assert difference(value, back(value)) is None


def test_what_cannot_be_changed_may_be_in_a_cycle_but_not_begin_it() -> None:
    knot = Knot()
    knot.links = [Pair(knot, (Box(knot), frozenset({1})))]
    found = back(knot)
    assert found.links[0].first is found
    assert found.links[0].second[0].content is found


@pytest.mark.parametrize("levels", [31, 32, 33, 254, 255, 256, 1100, 20_000])
@pytest.mark.parametrize("wrap", [lambda v: [v], lambda v: (v,), lambda v: {"k": v}, Box])
def test_values_of_any_depth_come_back(levels: int, wrap: Any) -> None:
    value: Any = "the end"
    for _ in range(levels if wrap is not Box else min(levels, 1100)):
        value = wrap(value)
    if levels > 500 and wrap([]) == ([],):
        with pytest.raises(EncodeError, match="nested"):  # Python could not hash it
            back(value)
        return
    found = back(value)
    while not isinstance(found, str):
        assert type(found) is type(value)
        (found,) = vars(found).values() if type(found) is Box else _items(found)
        (value,) = vars(value).values() if type(value) is Box else _items(value)
    assert found == value


def _items(value: Any) -> list[Any]:
    return [*value.values()] if isinstance(value, dict) else [*value]


def test_what_holds_itself_too_often_for_reading_is_not_written() -> None:
    """Python frees all of it in one go, on the C stack.

    That is so for a class made in C, as this one is in all versions of Python.
    """

    def tree(count: int) -> list[Any]:
        value: list[Any] = []
        value += [SimpleNamespace(tree=value) for _ in range(count)]
        return value

    found = back(tree(1000))
    assert found[999].tree is found
    with pytest.raises(EncodeError, match="reading would refuse it: it is nested too deep"):
        back(tree(6000))


@pytest.mark.parametrize(
    "row",
    [
        graph(pack(b"a head"), tupled(node(0))),
        graph(array(node(2)), array(), array(node(1))),
        graph(tupled(node(1)), array(node(1))),
        graph(obj("own:adapter", "builtins:int", node(0))),
        graph(obj("stock", "builtins:int", node(0), 0)),
        array(shared(pack(b"a head")), again(0)),
    ],
)
def test_a_damaged_value_that_holds_itself_is_refused(row: bytes) -> None:
    adapter = Adapter(name="adapter", types=(Point,), encode=vars, decode=Point.model_validate)
    with pytest.raises(SerdeError):
        once(adapter, on_unavailable="raise").loads_typed(("once2", row))


def test_a_list_that_doubles_at_each_level_is_not_written_out() -> None:
    value: Any = []
    for _ in range(100):
        value = [value, value]
    with pytest.raises(EncodeError, match="repeated too often"):
        back(value)
    small: Any = []
    for _ in range(27):
        small = [small, small]
    with pytest.raises((EncodeError, SizeLimitError)):
        back(small)


NAMES = st.text("ab", max_size=1)


@st.composite
def knots(draw: st.DrawFn) -> Any:
    """Draw objects that hold each other, and dictionaries and texts that msgpack cannot write."""
    makers: list[Callable[[], Any]] = [Knot, lambda: Point(x=0), lambda: Locked(name="n")]
    made = [draw(st.sampled_from(makers))() for _ in "abcde"]
    odd: list[Any] = ["\ud800", {1: made[0]}, {(): made[1]}, [made[2]], (made[3],), {"k": made[4]}]
    parts = st.sampled_from([*made, *odd, 1, "a"])
    for each in made:
        if type(each) in (Knot, Point):
            each.__dict__["links" if type(each) is Knot else "y"] = draw(
                st.lists(parts, max_size=3) | st.dictionaries(NAMES, parts, max_size=2)
            )
    return draw(st.lists(parts, max_size=6) | st.dictionaries(NAMES, parts, max_size=3))


@examples(200)
@given(knots())
def test_objects_in_each_other_stay_what_they_are(value: Any) -> None:
    try:
        found = back(value)
    except EncodeError as error:
        if "what cannot be changed contains itself" not in str(error):
            raise
        return
    locked = [each for each in _all_of(value) + _all_of(found) if type(each) is Locked]
    for each in locked:
        object.__setattr__(each, "__pydantic_private__", None)
    # What is written as LangGraph does has no identity.
    assert difference(value, found, identity=not locked) is None


def _all_of(value: Any) -> list[Any]:
    """Return all objects in a value."""
    found, todo, seen = [], [value], set()
    while todo:
        each = todo.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        found.append(each)
        if isinstance(each, dict):
            todo += [*each.keys(), *each.values()]
        elif isinstance(each, (list, tuple)):
            todo += each
        elif hasattr(each, "__dict__"):
            todo += vars(each).values()
    return found
