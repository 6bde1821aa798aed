"""Frames of pandas and polars come back exactly; data that no frame has are refused."""

from __future__ import annotations

import tracemalloc
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd  # type: ignore[import-untyped]  # pandas has no types
import polars as pl
import polars.testing.parametric as plst
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow has no types
import pytest
from hypothesis import HealthCheck, given, strategies as st
from hypothesis.extra import pandas as pdst
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_once.errors import PayloadError
from langgraph_once.serde.opaque import UnavailableError, UnwritableError
from langgraph_once.serde.plans.arrays import take_array
from langgraph_once.serde.plans.frames import PandasForm
from tests.examples import examples
from tests.unit_tests.serde.fidelity.sameness import difference
from tests.unit_tests.serde.plans.forms import back, make, take

BERLIN = ZoneInfo("Europe/Berlin")
FRAME = pd.DataFrame({"any": [(1, 2), {3}, None]}, dtype=object)
VALUES = {
    "objects": FRAME,
    "objects as labels": pd.Index([(1,), "a", None], dtype=object),
    "numbers as names": pd.DataFrame({0: [1], (1, 2): [2]}),
    "a frame in a frame": pd.DataFrame({"in": [FRAME]}),
    "labels on both sides": FRAME.T.set_index(pd.MultiIndex.from_tuples([("a", 1)])),
    "labels that no row has": pd.DataFrame(index=pd.RangeIndex(2**40)),
    "flags": pd.Series([1]).set_flags(allows_duplicate_labels=False),
    "moments in a zone, with their frequency": pd.date_range("2025-10-25", periods=4, tz=BERLIN),
    "moments in seconds": pd.Series(pd.date_range("2025", periods=2).as_unit("s")),
    "before pandas' own": pd.Timestamp("0001-01-01").as_unit("s"),
    "both hours of the night": [
        pd.Timestamp("2025-10-26T02:30").tz_localize(BERLIN, ambiguous=first)
        for first in (True, False)
    ],
    "spans": pd.array(pd.period_range("2025", periods=2, freq="W-TUE")),
    "intervals of moments": pd.interval_range(pd.Timestamp("2025"), periods=2),
    "under the mask": pd.arrays.IntegerArray(np.array([1, 2]), np.array([True, False])),
    "floats with NA and NaN": pd.array([1.5, None, float("nan")], "Float32"),
    "categories of moments": pd.Categorical(pd.date_range("2025", periods=2)),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_value_of_pandas_comes_back_the_same(name: str) -> None:
    assert difference(VALUES[name], back(VALUES[name])) is None


def test_a_fold_is_kept() -> None:
    for value in (pd.Timestamp("2025").replace(fold=1), *VALUES["both hours of the night"]):
        assert back(value).fold == value.fold


@examples(25, suppress_health_check=[HealthCheck.too_slow])
@given(
    pdst.data_frames(
        [
            pdst.column("n", dtype=int),
            pdst.column("x", elements=st.floats()),
            pdst.column("s", elements=st.none() | st.text(st.characters(codec="utf-8"))),
            pdst.column("t", elements=st.text(st.characters(codec="utf-8")), dtype="str"),
            pdst.column("b", dtype=bool),
        ]
    ),
    st.sampled_from(["python", "pyarrow", None]),
)
def test_frames_of_pandas_come_back_the_same(frame: Any, storage: str | None) -> None:
    if storage is not None:
        frame = frame.assign(again=frame["t"].astype(pd.StringDtype(storage)))
    assert difference(frame, back(frame)) is None


@examples(20, suppress_health_check=[HealthCheck.too_slow])
@given(
    plst.dataframes(
        max_cols=4,
        max_size=6,
        excluded_dtypes=[pl.Object, pl.Extension],
        allow_null=True,
        allow_masked=False,
    )
)
def test_frames_of_polars_come_back_the_same(frame: pl.DataFrame) -> None:
    assert difference(frame, back(frame)) is None
    assert difference([*frame], back([*frame])) is None


@pytest.mark.parametrize(
    "value",
    [
        pd.Timestamp("2025-01-01T12:00:00.123456789", tz=BERLIN),
        pd.Timestamp("1677-09-22"),
        pd.Timedelta("-1 days 3ns"),
        pd.NaT,
    ],
    ids=str,
)
def test_without_the_class_langgraph_s_value_is_shown(value: Any) -> None:
    upstream = JsonPlusSerializer()
    shown = PandasForm().shown(take(value), [])
    assert shown == upstream.loads_typed(upstream.dumps_typed(value))
    assert type(shown) in (str, list)


@pytest.mark.parametrize("value", [pd.NA, pd.Series([1]), pd.Period("2025")], ids=str)
def test_what_langgraph_cannot_write_shows_nothing(value: Any) -> None:
    assert PandasForm().shown(take(value), []) is None


def test_a_frequency_that_its_name_does_not_tell_is_not_written() -> None:
    holidays = pd.offsets.CustomBusinessDay(holidays=["2025-01-06"])
    with pytest.raises(UnwritableError, match="the frequency"):
        take(pd.date_range("2025", periods=9, freq=holidays))


def test_a_long_range_of_labels_is_written_number_by_number() -> None:
    for value in (
        pd.Categorical.from_codes([0], pd.RangeIndex(5000)),
        pd.MultiIndex([pd.RangeIndex(5000)], [[0]], names=["n"]),
    ):
        assert back(value).equals(value)


LONG = pd.RangeIndex(2**40)
ONE, TWO, PLACES = (take_array(np.arange(n)) for n in (1, 2, 3))
AT = [take_array(np.array([0], "i4"))]
OUTSIDE = [take_array(np.array([7], "i4"))]
BLOCKS = [take_array(np.array(each, "i4")) for each in ([0, 1], [2, 2])]
HOSTILE: dict[str, tuple[type, Any]] = {
    "labels of a long range": (pd.Series, [None, TWO, LONG, None, {}, True]),
    "rows of a long range": (pd.DataFrame, [None, [TWO], LONG, pd.Index(["a"]), {}, True]),
    "columns of a long range": (pd.DataFrame, [None, [], pd.RangeIndex(1), LONG, {}, True]),
    "columns without names": (pd.DataFrame, [None, [ONE], pd.RangeIndex(1), FRAME.T, {}, True]),
    "levels of a long range": (pd.MultiIndex, [None, [LONG], [ONE], [None]]),
    "levels of a range": (pd.MultiIndex, [None, [pd.RangeIndex(2000)], [ONE], [None]]),
    "levels without codes": (pd.MultiIndex, [None, [pd.Index(["a"])], [], [None]]),
    "codes of no label": (pd.MultiIndex, [None, [pd.Index(["a"])], [TWO], [None]]),
    "categories of a long range": (pd.Categorical, [None, ONE, LONG, False]),
    "categories that are equal": (pd.Categorical, [None, ONE, pd.Index(["a", "a"]), False]),
    "codes of no category": (pd.Categorical, [None, TWO, pd.Index(["a"]), False]),
    "sparse, too long": (pd.arrays.SparseArray, [None, ONE, "integer", 2**40, AT, 0]),
    "sparse, outside": (pd.arrays.SparseArray, [None, ONE, "integer", 3, OUTSIDE, 0]),
    "sparse, more values": (pd.arrays.SparseArray, [None, PLACES, "integer", 3, AT, 0]),
    "sparse, blocks that overlap": (pd.arrays.SparseArray, [None, PLACES, "block", 4, BLOCKS, 0]),
    "sparse, of no kind": (pd.arrays.SparseArray, [None, ONE, "dense", 3, AT, 0]),
    "text of numbers": (pd.arrays.StringArray, [None, True, [1]]),
    "text of Arrow's numbers": (pd.arrays.ArrowStringArray, [None, True, pa.chunked_array([[1]])]),
    "two dimensions": (pd.Index, [None, take_array(np.zeros((2, 2))), None]),
    "another Index": (pd.DatetimeIndex, [None, TWO, None, None]),
    "a name of a list": (pd.Index, [None, TWO, []]),
    "a mask of numbers": (pd.arrays.IntegerArray, [None, TWO, TWO]),
    "a mask over text": (pd.arrays.IntegerArray, [None, take_array(np.array(["a"])), ONE]),
    "years as a unit": (pd.Timestamp, ["", 1, "Y", None, 0]),
    "a moment beyond all": (pd.Timestamp, ["", 2**63 - 1, "s", BERLIN, 0]),
    "a frequency that is long": (pd.Period, [None, 1, "D" * 1000]),
    "a frequency of none": (pd.Period, [None, 1, "nonsense"]),
    "an interval of texts": (pd.Interval, [None, "a", "b", "left"]),
    "an interval that is closed nowhere": (pd.Interval, [None, 0, 1, "up"]),
    "intervals that end before": (pd.arrays.IntervalArray, [None, TWO, ONE, "left"]),
    "no list": (pd.Series, "a"),
    "attributes of a list": (pd.Series, [None, ONE, pd.RangeIndex(1), None, [], True]),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_data_that_no_frame_has_are_refused_cheaply(name: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises((ValueError, TypeError, KeyError, NotImplementedError)):
            make(*HOSTILE[name])
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_labels_that_share_a_hash_are_refused() -> None:
    labels = [n * (2**61 - 1) for n in range(1100)]
    with pytest.raises(PayloadError, match="share a hash"):
        make(pd.Index, [None, ["|O", [len(labels)], "C", labels], None])


STAND_IN: Any = {"name": "of what is gone"}


@pytest.mark.parametrize(
    ("cls", "data"),
    [
        (pd.Timestamp, ["2025", 1, "s", STAND_IN, 0]),
        (pd.Series, [None, STAND_IN, pd.RangeIndex(1), None, {}, True]),
        (pd.Series, [None, ONE, STAND_IN, None, {}, True]),
        (pd.DataFrame, [None, [], STAND_IN, pd.Index([]), {}, True]),
        (pd.Categorical, [None, ONE, STAND_IN, False]),
        (pd.arrays.ArrowExtensionArray, [None, STAND_IN]),
    ],
    ids=["zone", "values", "index", "rows", "categories", "arrow"],
)
def test_what_cannot_be_made_inside_makes_the_whole_unavailable(cls: type, data: Any) -> None:
    with pytest.raises(UnavailableError):
        make(cls, data)
