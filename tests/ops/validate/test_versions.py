"""Which of two versions is the newer one: as LangGraph orders them, where it can."""

import itertools
from typing import Any

import pytest
from hypothesis import given, strategies as st
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

from langgraph_once.errors import ChannelVersionError, OnceError
from langgraph_once_ops.validate import compare_versions

NAN = float("nan")
numbers = st.one_of(st.integers(), st.floats(allow_nan=False))
sequence = st.integers(0, 10**6)
made = st.builds(lambda n, h: f"{n:032}.{h:016}", sequence, st.floats(0, 1))


def sign(a: Any, b: Any) -> int:
    return int(a > b) - int(a < b)


@given(numbers, numbers)
def test_compare_versions_orders_numbers_by_value(a: float, b: float) -> None:
    assert compare_versions(a, b) == sign(a, b)


@given(made, made)
def test_compare_versions_orders_the_text_that_savers_make_by_number(a: str, b: str) -> None:
    assert compare_versions(a, b) == sign(a, b)


@given(st.text(), st.text())
def test_compare_versions_orders_other_text_as_text(a: str, b: str) -> None:
    assert compare_versions(f"v{a}", f"v{b}") == sign(f"v{a}", f"v{b}")


@pytest.mark.parametrize("saver", [InMemorySaver, SqliteSaver])
def test_the_next_version_is_newer(saver: Any) -> None:
    after = saver.get_next_version
    version: Any = None
    made = [version := after(None, version, None) for _ in range(1200)]
    assert all(compare_versions(a, b) == -1 for a, b in itertools.pairwise(made))
    # A thread that began on a saver whose versions are numbers.
    numbered: BaseCheckpointSaver[int] = BaseCheckpointSaver()
    old: Any = numbered.get_next_version(41, None)
    assert compare_versions(old, after(None, old, None)) == -1
    assert compare_versions(after(None, old, None), old) == 1
    assert compare_versions(old, after(None, old - 2, None)) == 1


@pytest.mark.parametrize(
    ("a", "b", "order"),
    [
        ("9.x", "10.a", -1),
        ("10.a", "10.b", -1),
        ("0010.a", "10.a", 0),
        (10, "10.a", -1),
        ("10.a", 10.5, -1),
        (11, "10.a", 1),
        (float("inf"), "10.a", 1),
        (10**400, f"{'9' * 399}.a", 1),
        (f"{'9' * 5000}.a", f"{'9' * 5000}.b", -1),
        ("2026-01-01", "2025-12-31", 1),
        ("", "a", -1),
        (1, 1.0, 0),
    ],
)
def test_compare_versions_orders_versions_of_different_kinds(a: Any, b: Any, order: int) -> None:
    assert compare_versions(a, b) == order
    assert compare_versions(b, a) == -order


@given(st.lists(st.one_of(numbers, made), min_size=3, max_size=3))
def test_numbers_and_text_in_one_order(versions: list[Any]) -> None:
    a, b, c = versions
    assert compare_versions(a, a) == 0
    assert compare_versions(a, b) == -compare_versions(b, a)
    if compare_versions(a, b) <= 0 and compare_versions(b, c) <= 0:
        assert compare_versions(a, c) <= 0


@pytest.mark.parametrize(
    ("a", "b"),
    [(NAN, 1), (True, 1), (None, "1.a"), ([1], [1]), (1, "one"), (1, ""), (1, "\u0661.a")],
)
def test_compare_versions_raises_where_there_is_no_order(a: Any, b: Any) -> None:
    for pair in ((a, b), (b, a)):
        with pytest.raises(ChannelVersionError, match="cannot be compared") as raised:
            compare_versions(*pair)
        assert raised.value.types == tuple(type(each).__name__ for each in pair)
        assert isinstance(raised.value, OnceError)
        assert isinstance(raised.value, TypeError)
