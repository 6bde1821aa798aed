"""The fidelity table, third part: numpy and pandas."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd  # type: ignore[import-untyped]  # pandas has no types

__all__ = ["ROWS"]

BERLIN = ZoneInfo("Europe/Berlin")
GRID = np.arange(12, dtype="i4").reshape(3, 4)
PERSON = np.dtype([("name", "U5"), ("size", ">f4", (2,)), ("inner", [("ok", "?")])], align=True)


def _attributed(frame: Any, **attrs: Any) -> Any:
    frame.attrs.update(attrs)
    return frame


def _frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "n": [1, 2],
            "x": [0.5, np.nan],
            "s": ["a", None],
            "when": pd.to_datetime(["2025-01-01", None]),
            "kind": pd.Categorical(["u", "v"]),
            "gap": pd.array([1, None], dtype="Int64"),
            "any": [(1, 2), {3}],
        },
        index=pd.Index(["r1", "r2"], name="row"),
    )


ROWS: dict[str, dict[str, Any]] = {
    "numpy": {
        "float64": np.float64(0.1),
        "float32": np.float32(0.1),
        "float16": np.float16(0.1),
        "int64": np.int64(-1),
        "uint8": np.uint8(255),
        "longlong": np.longlong(3),
        "bool": np.True_,
        "complex64": np.complex64(1 + 2j),
        "str_": np.str_("a\0"),
        "bytes_": np.bytes_(b"a\0"),
        "datetime64": np.datetime64("2025-01-01T12", "ms"),
        "datetime64 NaT": np.datetime64("NaT", "D"),
        "timedelta64 in steps of 25 seconds": np.array(3, "m8[25s]")[()],
        "structured scalar": np.array([("a", (1, 2), (True,))], PERSON)[0],
        "array": GRID.copy(),
        "array in Fortran's order": np.asfortranarray(GRID),
        "array that is not contiguous": GRID[:, ::2],
        "reversed array": GRID[::-1],
        "0-d array": np.array(3.5),
        "empty array": np.empty((0, 3), dtype="f4"),
        "array of bools": np.array([True, False]),
        "big-endian array": np.array([1, 2], dtype=">i4"),
        "array of datetime64": np.array(["2025-01-01", "NaT"], dtype="M8[ns]"),
        "array of timedelta64": np.array([1, 2], dtype="m8[D]"),
        "array of text": np.array(["a", "bcd"]),
        "array of bytes": np.array([b"a", b"bcd"]),
        "array of long doubles": np.array([1, 2], dtype=np.longdouble),
        "structured array": np.array([("a", (1, 2), (True,)), ("b", (3, 4), (False,))], PERSON),
        "array of 1 MB": np.arange(131072, dtype="f8"),
        "array of objects": np.array([1, "a", None], dtype=object),
    },
    "pandas": {
        "Timestamp": pd.Timestamp("2025-01-01T12:00:00.123456789"),
        "Timestamp with zone": pd.Timestamp("2025-07-01", tz=BERLIN),
        "Timestamp with fold": pd.Timestamp("2025-10-26T01:30", tz="UTC").tz_convert(BERLIN),
        "Timestamp in seconds": pd.Timestamp("2025-01-01").as_unit("s"),
        "Timedelta": pd.Timedelta("1 days 3ns"),
        "NaT": pd.NaT,
        "NA": pd.NA,
        "Period": pd.Period("2025-03", freq="M"),
        "Interval": pd.Interval(0, 1.5, closed="left"),
        "DataFrame": _frame(),
        "DataFrame without rows": _frame().iloc[:0],
        "DataFrame without columns": pd.DataFrame(index=[1, 2]),
        "DataFrame with equal column names": pd.DataFrame([[1, 2]], columns=["a", "a"]),
        "DataFrame with attrs": _attributed(pd.DataFrame({"a": [1]}), source="s"),
        "DataFrame with MultiIndex": pd.DataFrame(
            {"v": [1, 2]}, index=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["k", None])
        ),
        "Series": pd.Series([1.5, np.nan], name="x"),
        "Series of objects": pd.Series([(1,), None, "a"], dtype=object),
        "Series of text": pd.Series(["a", None], dtype="str"),
        "Series of text with NA": pd.Series(
            ["a", None], dtype=pd.StringDtype("python", na_value=pd.NA)
        ),
        "Series of bools with NA": pd.Series([True, None], dtype="boolean"),
        "Series with time zone": pd.Series(pd.date_range("2025", periods=2, tz="Europe/Berlin")),
        "Series of timedeltas": pd.Series(pd.to_timedelta([1, 2], unit="s")),
        "Series of intervals": pd.Series(pd.interval_range(0, 2)),
        "Categorical": pd.Categorical(["a", None], categories=["b", "a"], ordered=True),
        "Index of text": pd.Index(["a", "b"], name="n"),
        "Index of objects": pd.Index([1, "a"], dtype=object),
        "RangeIndex": pd.RangeIndex(1, 9, 2, name="r"),
        "MultiIndex": pd.MultiIndex.from_product([["a", "b"], [1, 2]]),
        "DatetimeIndex with frequency": pd.date_range("2025", periods=3, freq="MS"),
        "TimedeltaIndex": pd.timedelta_range("1h", periods=2),
        "PeriodIndex": pd.period_range("2025", periods=2, freq="Q"),
        "CategoricalIndex": pd.CategoricalIndex(["a", "b"]),
        "IntervalIndex": pd.interval_range(0.0, 2.0),
        "sparse Series": pd.Series(pd.arrays.SparseArray([0, 0, 1])),
    },
}
