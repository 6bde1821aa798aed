"""numpy's data types, arrays of every data type, and frames, with random content."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]  # pandas has no types
import polars as pl
import polars.testing.parametric as plst
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from hypothesis.extra import pandas as pdst

from tests.examples import examples
from tests.unit_tests.serde.fidelity.rows_packages import GAPS, OVERLAPPING
from tests.unit_tests.serde.fidelity.sameness import difference
from tests.unit_tests.serde.fidelity.table import once1

SERDE = once1()


def back(value: Any) -> Any:
    return SERDE.loads_typed(SERDE.dumps_typed(value))


@st.composite
def structures(draw: st.DrawFn, leaves: st.SearchStrategy[Any], depth: int = 2) -> np.dtype[Any]:
    """Structures with gaps, titles, arrays and structures in them."""
    fields = []
    for place in range(draw(st.integers(1, 3))):
        leaf = leaves | structures(leaves, depth - 1) if depth else leaves
        kind = draw(leaf)
        shape = draw(st.sampled_from([(), (2,), (1, 2)]))
        name: Any = (f"title {place}", f"f{place}") if draw(st.booleans()) else f"f{place}"
        fields.append((name, kind, shape))
    dtype = np.dtype(fields, align=draw(st.booleans()))
    gap = draw(st.sampled_from([0, 0, 5]))
    if not gap or dtype.isalignedstruct:
        return dtype
    names = dtype.names or ()
    formats = [dtype[name] for name in names]
    offsets = [dtype.fields[name][1] + gap for name in names]  # type: ignore[index]  # it has fields
    return np.dtype(
        {"names": names, "formats": formats, "offsets": offsets, "itemsize": dtype.itemsize + 9}
    )


NUMBERS = npst.scalar_dtypes().filter(lambda dtype: dtype.itemsize > 0)
ANY = NUMBERS | st.sampled_from([np.dtype(object)])
SHAPES = npst.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3)


@examples(25)
@given(structures(ANY) | NUMBERS)
def test_data_types_come_back_the_same(dtype: np.dtype[Any]) -> None:
    assert difference(dtype, back(dtype)) is None


@examples(25)
@given(structures(NUMBERS), SHAPES, st.integers(0, 255))
def test_structured_arrays_come_back_without_what_stood_between(
    dtype: np.dtype[Any], shape: tuple[int, ...], filled: int
) -> None:
    array: Any = np.ndarray(shape, dtype, bytearray([filled]) * 100_000)
    other: Any = np.ndarray(shape, dtype, bytearray([255 - filled]) * 100_000)
    for name in dtype.names or ():
        other[name] = array[name]
    if not _holds_structures(dtype):
        assert SERDE.dumps_typed(array) == SERDE.dumps_typed(other)
    assert difference(array, back(array)) is None


def _holds_structures(dtype: np.dtype[Any]) -> bool:
    # Assigned as a whole: what is between the fields inside goes along.
    return any(dtype[name].base.names is not None for name in dtype.names or ())


@examples(25)
@given(structures(ANY).filter(lambda dtype: dtype.hasobject), SHAPES)
def test_structured_arrays_of_objects_come_back_the_same(
    dtype: np.dtype[Any], shape: tuple[int, ...]
) -> None:
    array = np.zeros(shape, dtype)
    assert difference(array, back(array)) is None


@pytest.mark.parametrize("dtype", [GAPS, np.dtype([("n", "i1"), ("in", GAPS, (2,))], align=True)])
@pytest.mark.parametrize("count", [1, 10_000])
def test_nothing_of_the_heap_is_written(dtype: np.dtype[Any], count: int) -> None:
    array: Any = np.ndarray(count, dtype, bytearray(b"SECRET" * dtype.itemsize * count))
    _zero(array)
    assert b"ECRE" in array.tobytes()
    for value in (
        array,
        array[0],
        np.array(array.reshape(1, -1), order="F"),
        array[::2],
        [{"a": array}],
    ):
        _, data = SERDE.dumps_typed(value)
        assert b"ECRE" not in data


def _zero(array: np.ndarray[Any, Any]) -> None:
    for name in array.dtype.names or ():
        if array[name].dtype.names is None:
            array[name] = 0
        else:
            _zero(array[name])


def test_nothing_of_the_heap_is_written_with_long_doubles() -> None:
    for kind in (np.longdouble, np.clongdouble):
        array = np.frombuffer(b"SECRETSECRETSECR" * 4, kind).copy()
        array[:] = 0
        for value in (array, array[0]):
            assert b"ECRE" not in SERDE.dumps_typed(value)[1]


def test_fields_that_overlap_keep_every_byte() -> None:
    array = np.array([(0x01020304,)], [("a", "<i4")]).view(OVERLAPPING)
    assert back(array).tobytes() == array.tobytes()


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
