"""Arrays and frames whose parts do not belong together are refused by their readers."""

from __future__ import annotations

from array import array
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]  # pandas has no types
import pytest

from langgraph_once.serde.codecs.once1.read.simple_objects import Head, _object_maker, placed
from langgraph_once.serde.codecs.once1.types.data.pandas_frames import _column
from langgraph_once.serde.codecs.once1.types.python import times
from langgraph_once.serde.codecs.once1.types.python.containers import ADAPTERS

*_, ARRAYS = ADAPTERS


@pytest.mark.parametrize("value", [array("i", [1, -2]), array("d", []), array("u", "aé")])
def test_an_array_is_read_as_it_was(value: Any) -> None:
    made = ARRAYS.decode(ARRAYS.encode(value))
    assert (made, made.typecode) == (value, value.typecode)


@pytest.mark.parametrize(
    "data",
    [
        ("i", 8, bytes(8)),
        ("i", 4, bytes(6)),
        ("", 4, bytes(4)),
        ("ii", 4, bytes(4)),
        ("x", 1, bytes(4)),
        ("u", 4, b"\xff" * 4),
        ("i", 4, [0]),
        ("i", 4),
    ],
    ids=repr,
)
def test_an_array_of_other_items_is_refused(data: Any) -> None:
    with pytest.raises(ValueError):
        ARRAYS.decode(data)


@pytest.mark.parametrize("data", [(0, 86_400, 0), (0, -1, 0), (0, 0, 1_000_000), (10**9, 0, 0)])
def test_a_duration_out_of_range_is_refused(data: Any) -> None:
    [durations] = [adapter for adapter in times.ADAPTERS if adapter.name == "timedelta"]
    assert durations.decode((0, 86_399, 999_999)) == timedelta(1, microseconds=-1)
    with pytest.raises(ValueError, match="out of range"):
        durations.decode(data)


def test_a_column_has_a_label_for_each_value() -> None:
    values = np.arange(2)
    assert _column(pd.Series, values, pd.RangeIndex(2), "n").equals(pd.Series([0, 1], name="n"))
    for index in (pd.RangeIndex(3), pd.RangeIndex(10**12), [0, 1], np.arange(2), None):
        with pytest.raises(ValueError, match="labels than values"):
            _column(pd.Series, values, index, "n")


class Item:
    n: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Item) and other.n == self.n

    __hash__ = None  # type: ignore[assignment]  # as Python does it


def test_threads_are_placed_where_they_are_written_and_nowhere_else() -> None:
    make = _object_maker(Item, ["n"])
    item = make({"n": 1})

    def thread() -> list[Any]:
        return [Head([make], b"\0\0"), {"n": 1}, {"n": 1}]

    assert placed(thread(), 1) == [item, item]
    value = {"a": thread(), "b": {"c": {"d": thread(), "e": 1}}, "f": [], "g": [1]}
    expected = {"a": [item] * 2, "b": {"c": {"d": [item] * 2, "e": 1}}, "f": [], "g": [1]}
    assert placed(value, 2) == expected
    for wrong in ([[thread()]], {"a": [thread()]}, {"a": thread()[:-1]}):
        with pytest.raises(ValueError):
            placed(wrong, 1)
