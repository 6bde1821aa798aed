"""The fidelity table, third part: numpy, pandas, pyarrow and polars."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd  # type: ignore[import-untyped]  # pandas has no types
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow has no types

BERLIN = ZoneInfo("Europe/Berlin")
GRID = np.arange(12, dtype="i4").reshape(3, 4)
PERSON = np.dtype([("name", "U5"), ("size", ">f4", (2,)), ("inner", [("ok", "?")])], align=True)

MATRIX = np.array([[1, 2], [3, 4]]).view(np.matrix)  # its constructor warns
GAPS = np.dtype({"names": ["a", "b"], "offsets": [1, 8], "formats": ["i1", "<f8"], "itemsize": 24})
TITLED = np.dtype([(("the first", "a"), "i4"), ("b", "i1")])
OVERLAPPING = np.dtype({"names": ["a", "b"], "offsets": [0, 2], "formats": ["<i4", "<i2"]})
WITH_OBJECTS = np.dtype([("n", "i1"), ("o", object), ("s", "U3")], align=True)


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


class Frame(pd.DataFrame):  # type: ignore[misc]  # pandas has no types
    """What it adds is its to know."""


ARROW = pa.table(
    {
        "n": [1, 2, None],
        "s": ["a", None, "☃"],
        "d": pa.array(["u", "v", "u"]).dictionary_encode(),
        "l": [[1], [], None],
    }
)
POLARS = pl.DataFrame(
    {
        "n": [1, 2, None],
        "s": ["a", None, "☃"],
        "d": pl.Series(["u", "v", "u"], dtype=pl.Categorical),
        "l": [[1], [], None],
        "x": [0.5, float("nan"), None],
    }
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
        "structured array with gaps": np.array([(1, 2.5), (3, 4.5)], GAPS),
        "structured scalar with gaps": np.array([(1, 2.5)], GAPS)[0],
        "structured array with titles": np.array([(1, 2)], TITLED),
        "structured array with objects": np.array([(1, [2], "x")], WITH_OBJECTS),
        "structured scalar with objects": np.array([(1, [2], "x")], WITH_OBJECTS)[0],
        "array of fields that overlap": np.array([(1, 2)], OVERLAPPING),
        "array of text of any length": np.array([["a", "☃" * 20]], dtype="T"),
        "array of records": np.rec.array([(1, "a")], dtype=[("n", "i4"), ("s", "U2")]),
        "record": np.rec.array([(1, "a")], dtype=[("n", "i4"), ("s", "U2")])[0],
        "array of characters": np.char.array(["a", "bc"]),
        "matrix": MATRIX,
        "matrix in Fortran's order": MATRIX.T,
        "masked array": np.ma.array([1, 2, 3], mask=[False, True, False]),
        "masked array without a mask": np.ma.array([1.5, 2.5]),
        "masked array with a fill value": np.ma.array(
            ["a", "b"], mask=[True, False], fill_value="?"
        ),
        "masked array with a hard mask": np.ma.array(
            [[1, 2]], mask=[[False, True]], hard_mask=True
        ),
        "masked array of structures": np.ma.array(
            np.zeros(2, dtype=[("a", "i4"), ("b", "f8")]),
            mask=np.array([(0, 1), (1, 0)], [("a", "?"), ("b", "?")]),
        ),
        "masked matrix": np.ma.array(MATRIX, mask=[[False, True], [False, False]]),
        "masked array of objects": np.ma.array([{1}, "a"], mask=[False, True], dtype=object),
        "masked": np.ma.masked,
        "data type": np.dtype("<f8"),
        "data type of the other byte order": np.dtype(">i4"),
        "data type of text": np.dtype("U5"),
        "data type of text of no size": np.dtype("S"),
        "data type of dates": np.dtype("M8[25s]"),
        "data type of objects": np.dtype(object),
        "data type of text of any length": np.dtypes.StringDType(),
        "data type of a C type": np.dtype(np.longlong),
        "data type with fields": PERSON,
        "data type with gaps": GAPS,
        "data type with titles": TITLED,
        "data type with overlapping fields": OVERLAPPING,
        "data type with objects": WITH_OBJECTS,
        "data type of records": np.dtype((np.record, [("a", "i4")])),
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
        **{
            f"Series of text, {storage}, {gap}": pd.Series(
                ["a", None, "☃"], dtype=pd.StringDtype(storage, na_value=gap)
            )
            for storage in ("python", "pyarrow")
            for gap in (pd.NA, np.nan)
        },
        "array of text that pyarrow holds": pd.array(["a", None], pd.StringDtype("pyarrow")),
        "array of Arrow integers": pd.array([1, None], "int64[pyarrow]"),
        "Series of Arrow integers": pd.Series([1, None], dtype="int64[pyarrow]"),
        "Series of Arrow text": pd.Series(["a", None], dtype=pd.ArrowDtype(pa.string())),
        "Series of Arrow lists": pd.Series([[1], None], dtype=pd.ArrowDtype(pa.list_(pa.int8()))),
        "Series of Arrow dates": pd.Series(
            ["2025-01-01"], dtype=pd.ArrowDtype(pa.timestamp("ms", "UTC"))
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
        "sparse Series of floats": pd.Series(pd.arrays.SparseArray([np.nan, 0.5, np.nan])),
        "sparse array of blocks": pd.arrays.SparseArray([1, 1, 0, 1], kind="block"),
        "sparse array of objects": pd.arrays.SparseArray(["a", None], fill_value=None),
    },
    "pyarrow": {
        "Table": ARROW,
        "Table with metadata": ARROW.replace_schema_metadata({"a": "b"}),
        "Table without rows": ARROW.slice(0, 0),
        "Table without columns": pa.table({}),
        "part of a Table": ARROW.slice(1, 1),
        "RecordBatch": ARROW.to_batches()[0],
        "ChunkedArray": pa.chunked_array([[1, 2], [None]]),
        "ChunkedArray without chunks": pa.chunked_array([], pa.int8()),
        "array of integers": pa.array([1, None, 3]),
        "part of an array": pa.array(["a", "bc", None, "d"])[1:3],
        "array of nulls": pa.nulls(5),
        "array of text": pa.array(["a", None, "☃"]),
        "array of decimals": pa.array([Decimal("1.50")]),
        "array of structures": pa.array([{"a": 1, "b": [1, 2]}, None]),
        "array of maps": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8())),
        "array with a dictionary": pa.array(["a", "b", "a"]).dictionary_encode(),
        "array of runs": pa.RunEndEncodedArray.from_arrays([2, 3], ["a", "b"]),
        "scalar": pa.scalar(3),
        "scalar null": pa.scalar(None, pa.int8()),
        "scalar of text": pa.scalar("a"),
        "scalar of a structure": pa.scalar({"a": (1,)}),
        "Schema": ARROW.schema,
        "Field": pa.field("a", pa.int8(), nullable=False, metadata={"k": "v"}),
        "simple type": pa.int8(),
        "type": pa.struct([("a", pa.list_(pa.timestamp("us", "UTC")))]),
    },
    "polars": {
        "DataFrame": POLARS,
        "DataFrame without rows": POLARS.clear(),
        "DataFrame without columns": pl.DataFrame(),
        "Series": pl.Series("n", [1, None]),
        "Series of text": pl.Series("t", ["a", None, "a text that is longer than twelve bytes"]),
        "Series of categories": pl.Series(["b", "a", None], dtype=pl.Categorical),
        "Series of an Enum": pl.Series(["b", "a", None], dtype=pl.Enum(["a", "b", "c"])),
        "Series of lists": pl.Series([[1], [], None]),
        "Series of arrays": pl.Series([[1, 2], None], dtype=pl.Array(pl.Int8, 2)),
        "Series of structures": pl.Series([{"a": 1, "b": "x"}, None]),
        "Series of decimals": pl.Series([Decimal("1.50"), None]),
        "Series of datetimes": pl.Series([1, None], dtype=pl.Datetime("ms", "Europe/Berlin")),
        "Series of durations": pl.Series([1, None], dtype=pl.Duration("us")),
        "Series of times": pl.Series([1, None], dtype=pl.Time),
        "Series of dates": pl.Series([1, None], dtype=pl.Date),
        "Series of bytes": pl.Series([b"a\xff", None]),
        "Series of bools": pl.Series([True, None]),
        "Series of 128 bits": pl.Series([2**100, None], dtype=pl.Int128),
        "Series of nulls": pl.Series([None, None]),
    },
    "Refused": {
        "polars: Series of Python objects": pl.Series([{1}], dtype=pl.Object),
        "polars: LazyFrame": pl.LazyFrame({"a": [1]}),
        "pyarrow: array of views": pa.array(["a"], pa.string_view()),
        "pyarrow: array of an extension type": pa.array([b"0" * 16], pa.uuid()),
        "numpy: data type with metadata": np.dtype("i4", metadata={"a": 1}),
        "pandas: DataFrame of a subclass": Frame({"a": [1]}),
    },
}
