"""Arrays of numpy come back exactly, without what stood beside them in memory; or are refused."""

from __future__ import annotations

import tracemalloc
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as npst

from langgraph_once.serde.opaque import UnavailableError, UnwritableError
from langgraph_once.serde.plans.arrays import make_array
from tests.examples import examples
from tests.unit_tests.serde.fidelity.rows_packages import GAPS, OVERLAPPING
from tests.unit_tests.serde.fidelity.sameness import difference
from tests.unit_tests.serde.plans.forms import back, make, take


def objects(*items: Any, shape: tuple[int, ...] = (-1,), order: Any = "C") -> Any:
    """Return an array that holds these very objects."""
    return np.fromiter(items, object, len(items)).reshape(shape, order=order)


MIXED = (1, "a", None, 2.5, (1, 2), [3], {"k": {4}}, 2**90, b"b", Decimal(1), np.float32(1), ...)
VALUES = {
    "objects": objects(*MIXED),
    "objects in Fortran's order": objects(*MIXED, shape=(3, 4), order="F"),
    "objects, a part": objects(*MIXED, shape=(2, 3, 2))[:, ::2],
    "one object": objects([1, 2], shape=()),
    "no objects": np.empty((0, 3), object),
    "arrays in arrays": objects(np.arange(3), np.array(3), objects([1], objects("deep"))),
    "texts, missing ones None": np.array(["a", None], np.dtypes.StringDType(na_object=None)),
    "texts, missing ones NaN": np.array(["a", np.nan], np.dtypes.StringDType(na_object=np.nan)),
    "texts, none converted": np.array(["a"], np.dtypes.StringDType(coerce=False)),
    "structure in a structure": np.zeros(3, [("in", [("o", "O", (2,)), ("n", ">i4")])]),
    "structure in Fortran's order": np.asfortranarray(np.zeros((2, 3), GAPS)),
    "large, in Fortran's order": np.asfortranarray(np.arange(40_000.0).reshape(200, 200)),
    "large, a part": np.arange(40_000.0)[::2],
    "no numbers of a large shape": np.empty((0, 2**40)),
    "fields that overlap": np.array([(0x01020304,)], [("a", "<i4")]).view(OVERLAPPING),
    "record that holds a record": np.rec.array([((1,),)], [("a", [("b", "i4")])])[0],
    "dtype of nothing": np.dtype("V"),
    "dtype of many dimensions": np.dtype(("i1", (2, 3))),
}


@pytest.mark.parametrize("name", VALUES)
def test_an_array_comes_back_the_same(name: str) -> None:
    value = VALUES[name]
    found, again = back([value, {"again": value}])
    assert difference(value, found) is None
    assert again["again"] is found or isinstance(value, (np.dtype, np.generic))


@st.composite
def structures(draw: st.DrawFn, leaves: st.SearchStrategy[Any], depth: int = 2) -> np.dtype[Any]:
    """Structures with gaps, titles, arrays and structures in them."""
    fields = []
    for place in range(draw(st.integers(1, 3))):
        kind = draw(leaves | structures(leaves, depth - 1) if depth else leaves)
        name: Any = (f"title {place}", f"f{place}") if draw(st.booleans()) else f"f{place}"
        fields.append((name, kind, draw(st.sampled_from([(), (2,), (1, 2)]))))
    dtype = np.dtype(fields, align=draw(st.booleans()))
    gap = draw(st.sampled_from([0, 0, 5]))
    if not gap or dtype.isalignedstruct:
        return dtype
    names = dtype.names or ()
    formats = [dtype[name] for name in names]
    offsets = [dtype.fields[name][1] + gap for name in names]  # type: ignore[index]  # it has fields
    size = dtype.itemsize + 9
    described: Any = {"names": names, "formats": formats, "offsets": offsets, "itemsize": size}
    made: np.dtype[Any] = np.dtype(described)
    return made


NUMBERS = npst.scalar_dtypes().filter(lambda dtype: dtype.itemsize > 0)
ANY = NUMBERS | st.just(np.dtype(object))
SHAPES = npst.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3)


@examples(40)
@given(structures(ANY) | NUMBERS, SHAPES)
def test_dtypes_and_arrays_of_them_come_back_the_same(
    dtype: np.dtype[Any], shape: tuple[int, ...]
) -> None:
    assert difference(dtype, back(dtype)) is None
    array = np.zeros(shape, dtype)
    assert difference(array, back(array)) is None


NESTED = np.dtype([("n", "i1"), ("in", GAPS, (2,))], align=True)


@pytest.mark.parametrize("dtype", [GAPS, NESTED], ids=["gaps", "nested"])
@pytest.mark.parametrize("count", [1, 10_000])
def test_nothing_of_the_heap_is_written(dtype: np.dtype[Any], count: int) -> None:
    array: Any = np.ndarray(count, dtype, bytearray(b"SECRET" * dtype.itemsize * count))
    _zero(array)
    assert b"ECRE" in array.tobytes()
    for value in (array, array[0], np.array(array.reshape(1, -1), order="F"), array[::2]):
        assert "ECRE" not in str(take(value))


def _zero(array: np.ndarray[Any, Any]) -> None:
    for name in array.dtype.names or ():
        _zero(array[name])
    if array.dtype.names is None:
        array[...] = 0


@pytest.mark.skipif(np.finfo("g").nmant != 63, reason="others are written whole")
@pytest.mark.parametrize("code", ["g", "G"])
def test_equal_numbers_of_80_bits_have_equal_bytes(code: str) -> None:
    clean = np.arange(4).astype(code)
    filled = np.frombuffer(clean.tobytes(), "u1").reshape(-1, 16).copy()
    filled[:, 10:] = 7
    other = np.frombuffer(filled.tobytes(), code)
    assert (clean == other).all()
    assert take(clean) == take(other)
    assert take(clean[1]) == take(other[1])
    assert (back(other) == clean).all()


class Grid(np.ndarray[Any, Any]):
    """A subclass: what it means is its own to know."""


def attributed() -> Any:
    value = np.zeros(2, [("a", "i4")]).view(np.recarray)
    value.about = 1
    return value


def noted() -> Any:
    value: Any = np.ma.array([1, 2], mask=[True, False])
    value._optinfo["about"] = 1
    return value


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (noted(), "masked array with attributes"),
        (np.zeros(1, np.dtype("i4", metadata={"a": 1})), "metadata"),
        (np.zeros(3, "V0"), "without size"),
        (np.zeros(1, {"names": ["a"], "formats": ["O"], "itemsize": 1 << 20}), "nearly empty"),
        (attributed(), "attributes"),
    ],
    ids=["notes", "metadata", "no size", "nearly empty", "attributes"],
)
def test_what_would_not_be_the_whole_is_not_written(value: Any, reason: str) -> None:
    with pytest.raises(UnwritableError, match=reason):
        take(value)


def test_a_subclass_of_others_is_of_another_form() -> None:
    with pytest.raises(UnwritableError):
        take(np.arange(2).view(Grid))


def structure(*fields: Any, size: int = 8, aligned: Any = False) -> list[Any]:
    return [[[name, None, at, kind] for name, at, kind in fields], size, aligned, False]


def deep(levels: int) -> Any:
    return "i1" if not levels else [deep(levels - 1), [1]]


OBJECT = structure(("a", 0, "|O"))
HOSTILE = {
    "too few items": ["|O", [3], "C", [1, 2]],
    "too many items": ["|O", [1], "C", [1, 2]],
    "a shape that overflows": ["|O", [2**62, 2**62, 0], "C", []],
    "a shape that is negative": ["|O", [-1, -2], "C", [1, 2]],
    "a shape of fractions": ["|O", [1.0], "C", [1]],
    "a shape of many dimensions": ["|O", [1] * 100, "C", [1]],
    "a shape that takes long to multiply": ["<i1", [2**63] * 300_000, "C", b""],
    "no shape": ["|O", None, "C", [1]],
    "no order": ["|O", [2], "K", [1, 2]],
    "addresses": ["|O", [2], "C", b"12345678" * 2],
    "addresses of texts": ["T", [1], "C", b"1" * 16],
    "addresses in a structure": [OBJECT, [1], "C", b"12345678"],
    "items of an array of numbers": ["<f8", [2], "C", [1, 2]],
    "numbers as texts": ["T", [1], "C", [1]],
    "an item of no size": ["V0", [2**40], "C", b""],
    "more than its bytes": ["<i8", [2**40], "C", b"12345678"],
    "fewer than its bytes": ["<i8", [], "C", b"1" * 16],
    "text as bytes": ["|S1", [1], "C", "a"],
    "dtype in a list": [["|O"], [2], "C", [1, 2]],
    "dtype by name": ["object", [1], "C", [1]],
    "dtype by a list of fields": ["i4,O", [1], "C", [1]],
    "dtype that is deep": [deep(40), [1], "C", b"1"],
    "dtype that is large": [["<i8", [2**31 - 1, 2**31 - 1]], [1], "C", b"1"],
    "dtype without fields": [[[], 8, False, False], [1], "C", []],
    "field outside": [structure(("a", 6, "<i8")), [1], "C", [["<i8", [1], "C", b"1" * 8]]],
    "field before": [structure(("a", -8, "<i8")), [1], "C", [["<i8", [1], "C", b"1" * 8]]],
    "field of objects over numbers": [structure(("a", 0, "|O"), ("b", 0, "<i8")), [0], "C", []],
    "field of another shape": [OBJECT, [2**40], "C", [["|O", [1], "C", [1]]]],
    "field of another dtype": [OBJECT, [1], "C", [["<i8", [1], "C", b"1" * 8]]],
    "fields too many": [OBJECT, [1], "C", [["|O", [1], "C", [1]]] * 2],
    "fields of what has none": ["|O", [1], "C", [["<i8", [1], "C", b"1" * 8]] * 2],
    "gaps": [structure(("a", 0, "|O"), size=1 << 30), [1], "C", [["|O", [1], "C", [1]]]],
    "something else": {"a": 1},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_data_that_no_array_has_are_refused(name: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises((ValueError, TypeError, KeyError)):
            make(np.ndarray, HOSTILE[name])
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


NOT_IT = {
    "scalar of two items": (np.int64, ["<i8", [2], "C", b"1" * 16]),
    "scalar of another dtype": (np.int32, ["<i8", [], "C", b"1" * 8]),
    "text of bytes": (np.str_, b"a"),
    "bytes of text": (np.bytes_, "a"),
    "dtype of another class": (np.dtypes.Int8DType, ["<i4"]),
    "texts without a word": (np.dtypes.StringDType, [{"coerce": 1}]),
    "mask of another shape": (np.ma.MaskedArray, [np.arange(3), np.zeros(2, bool), None, False]),
    "mask of numbers": (np.ma.MaskedArray, [np.arange(3), np.arange(3), None, False]),
    "mask over text": (np.ma.MaskedArray, ["abc", None, None, False]),
    "stands for masked items": (np.ma.MaskedArray, [np.arange(3), None, np.array("a"), False]),
    "many stand for masked items": (np.ma.MaskedArray, [np.arange(3), None, np.arange(3), False]),
}


@pytest.mark.parametrize("name", NOT_IT)
def test_data_of_another_class_are_refused(name: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        make(*NOT_IT[name])


def test_what_cannot_be_made_inside_makes_the_whole_unavailable() -> None:
    with pytest.raises(UnavailableError):
        make(np.ma.MaskedArray, [{"a": "stand-in"}, None, None, False])


def test_langgraph_s_arrays_are_made_of_the_same_parts() -> None:
    for array in (np.arange(6.0).reshape(2, 3), np.zeros((2, 0)), np.array(["a"])):
        found = make_array([array.dtype.str, [*array.shape], "C", array.tobytes()])
        assert difference(array, found) is None
        assert found.flags.writeable
