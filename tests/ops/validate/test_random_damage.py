"""Damage at random never raises: it is found, or does no harm; what is checked stays as it is."""

import copy
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings, strategies as st
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.store.base import SearchItem

from langgraph_once_ops.validate import Finding, validate_item, validate_tuple
from tests.ops.validate.sound import (
    ID,
    NAN,
    WHOLE,
    sound,
)


class Awkward:
    """As arrays of numpy are: neither true nor false, and equal to nothing that could be said."""

    __hash__ = None  # type: ignore[assignment]  # as Python does it

    def __eq__(self, other: object) -> Any:
        return self

    def __bool__(self) -> bool:
        raise ValueError("ambiguous")

    def __repr__(self) -> str:
        return "Awkward()"


LEAVES = st.one_of(
    st.builds(Awkward),
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.datetimes(),
    st.uuids().map(str),
    st.just(ID),
    st.sampled_from([UUID(ID), ..., {1}, "messages", "__interrupt__", f"{1:032}.5", "9" * 500]),
)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner, inner),
        st.dictionaries(st.one_of(st.text(max_size=3), st.integers(), st.none()), inner),
    ),
    max_leaves=6,
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place in a tree, as its container and key."""
    keys = value if isinstance(value, dict) else range(len(value)) if _is_list(value) else ()
    for key in keys:
        yield value, key
        yield from places(value[key])


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


HUGE = 10**5000
"""Which Python refuses to make text of."""

ODD: list[Any] = [
    Awkward(),
    None,
    True,
    -HUGE,
    HUGE,
    NAN,
    "",
    b"",
    (),
    [],
    {},
    {HUGE: {7: 7}},
    {1},
    type,
]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_damage_in_every_place(odd: Any) -> None:
    for place in range(len([*places(sound())])):
        whole = sound()
        container, key = [*places(whole)][place]
        container[key] = odd
        found = validate_tuple(CheckpointTuple(**whole))
        assert all(each.path.startswith(".") for each in found)
    for name in [*WHOLE, "score"]:
        item = SearchItem(**WHOLE)
        setattr(item, name, odd)
        assert all(each.path == f".{name}" for each in validate_item(item) if name != "value")


@settings(max_examples=200)
@given(st.data())
def test_random_damage_raises_nothing_and_each_finding_says_where(data: st.DataObject) -> None:
    whole = sound()
    for _ in range(data.draw(st.integers(1, 3))):
        container, key = data.draw(st.sampled_from([*places(whole)]))
        value = data.draw(ANYTHING)
        if data.draw(st.booleans()) and isinstance(container, dict) and container is not whole:
            del container[key]
            container[data.draw(st.one_of(st.text(max_size=3), st.integers()))] = value
        else:
            container[key] = value
    before = copy.deepcopy(whole)
    for found in validate_tuple(CheckpointTuple(**whole)):
        assert isinstance(found, Finding)
        assert found.path.startswith(".")
        assert found.problem
    assert repr(whole) == repr(before)


@given(st.data())
def test_items_damaged_at_random(data: st.DataObject) -> None:
    item = SearchItem(**WHOLE)
    for name in data.draw(st.sets(st.sampled_from([*WHOLE, "score"]), min_size=1)):
        setattr(item, name, data.draw(ANYTHING))
    assert all(found.path.startswith(".") for found in validate_item(item))
