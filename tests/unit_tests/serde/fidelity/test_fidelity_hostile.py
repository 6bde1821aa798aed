"""Data of the wrong shape is refused by every adapter and family, soon, with an error they own.

The codec turns `ValueError` and `TypeError` into its own error; anything else would be a hole.
"""

from __future__ import annotations

import contextlib
import dataclasses
import ipaddress
import re
import time
import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]  # pandas has no types
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow has no types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph_once.serde.codecs.once2.types import BUILTIN_ADAPTERS, BUILTIN_FAMILIES
from langgraph_once.serde.codecs.once2.types.base.protocol import CyclicFamily

from tests.examples import examples
from tests.unit_tests.serde.fidelity import kinds as k
from tests.unit_tests.serde.fidelity import model_kinds as m
from tests.unit_tests.serde.fidelity.table import REFUSED, ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from langgraph_once.serde.codecs.once2.types.base.protocol import Family

ADAPTERS = {adapter.name: adapter for adapter in BUILTIN_ADAPTERS}
FAMILIES = {family.name: family for family in BUILTIN_FAMILIES}
CLASSES = {type(row.value) for row in ROWS if row.id not in REFUSED}
HUGE = ipaddress.IPv6Network("::/0")


def family_of(cls: type) -> Family | None:
    return next((family for family in BUILTIN_FAMILIES if family.matches(cls)), None)


PAIRS = [(family, cls) for cls in CLASSES if (family := family_of(cls))]

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 20)
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.binary(max_size=9)
    | st.sampled_from(
        [HUGE, Any, int, k.Colour.RED, "name", "args", "<f8", "O", "C", "2025", "Europe/Berlin"]
    )
    | st.sampled_from([np.arange(3), np.array(["2025"], "M8[ns]"), pd.RangeIndex(2**40)])
)
DATA = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.lists(inner, max_size=9).map(tuple)
        | st.dictionaries(st.text(max_size=4) | st.integers(), inner, max_size=3)
    ),
    max_leaves=12,
)


@pytest.fixture(autouse=True)
def _bounded() -> Iterator[None]:
    started = time.process_time()
    yield
    assert time.process_time() - started < 60


@examples(50)
@given(st.sampled_from(BUILTIN_ADAPTERS), DATA)
def test_adapters_refuse_what_they_did_not_write(adapter: Any, data: Any) -> None:
    with contextlib.suppress(ValueError, TypeError):
        made = adapter.decode(data)
        assert type(made) in adapter.types


@examples(50)
@given(st.sampled_from(PAIRS), DATA)
def test_families_refuse_what_they_did_not_write(pair: tuple[Family, type], data: Any) -> None:
    family, cls = pair
    with contextlib.suppress(ValueError, TypeError):
        assert type(family.decode(cls, data)) is cls


@examples(50)
@given(st.sampled_from([row for row in ROWS if row.id not in REFUSED]), st.data())
def test_families_refuse_what_was_changed_a_little(row: Any, draw: st.DataObject) -> None:
    family = family_of(type(row.value))
    if family is None:
        return
    data = damaged(family.encode(row.value), draw)
    with contextlib.suppress(ValueError, TypeError):
        assert type(family.decode(type(row.value), data)) is type(row.value)


def damaged(data: Any, draw: st.DataObject) -> Any:
    """Return `data` with one part of it replaced."""
    if type(data) in (tuple, list) and data and draw.draw(st.booleans()):
        place = draw.draw(st.integers(0, len(data) - 1))
        parts = [*data]
        parts[place] = damaged(parts[place], draw)
        return type(data)(parts)
    if type(data) is dict and data and draw.draw(st.booleans()):
        key = draw.draw(st.sampled_from([*data]))
        return data | {key: damaged(data[key], draw)}
    return draw.draw(DATA)


OBJECTS = ((("a", None, 0, "|O"),), 8, False)


def deep_dtype(levels: int) -> Any:
    """Return what would stand for a structure in a structure, so many times."""
    data: Any = "<i8"
    for _ in range(levels):
        data = ((("a", None, 0, data),), 8, False)
    return data


ATTACKS: dict[str, tuple[str, Any]] = {
    "network as items of a deque": ("container deque", (HUGE, None, {})),
    "network as items of a set": ("container Names", (HUGE, None, {})),
    "network as items of a frozenset": ("value FrozenNames", (HUGE, {})),
    "network as items of a tuple": ("namedtuple Point", HUGE),
    "network as bytes": ("value Blob", (HUGE, {})),
    "network as arguments": ("exception ValueError", (HUGE, {}, {}, (None, None, False))),
    "huge number as bytes": ("value Blob", (2**40, {})),
    "method hidden by an attribute": ("record Plain", {"name": 1, "__eq__": 2}),
    "property hidden by an attribute": ("record Cached", {"n": 1, "double": 2}),
    "class as an attribute": ("record Plain", {"name": 1, "__class__": int}),
    "attribute without a name": ("record Plain", {1: 1}),
    "attribute of a class without any": ("record Slotted", {"name": 1, "other": 2}),
    "model with an unknown field": ("model Person", ({"x": 1}, None, None, None)),
    "model with extra values": ("model Person", ({"name": 1}, None, {"x": 1}, None)),
    "extra value in place of a field": ("model Open", ({"name": 1}, None, {"name": 1}, None)),
    "unknown private attribute": ("model Private", ({"name": 1}, None, None, {"_x": 1})),
    "private attribute of a RootModel": ("model Words", ({"root": 1}, None, None, {})),
    "fields set of the wrong type": ("model Person", ({"name": 1}, {1}, None, None)),
    "v1 model with an unknown field": ("v1model OldPerson", ({"x": 1}, set(), {})),
    "member that does not exist": ("enum Colour", "_generate_next_value_"),
    "value in place of a member": ("enum Level", 3),
    "flag out of range": ("enum Access", 64),
    "exception with a field of the wrong type": (
        "exception UnicodeDecodeError",
        ((), {"encoding": "a", "object": 1, "start": 0, "end": 1, "reason": "r"}, {}, ()),
    ),
    "exception that starts before its text": (
        "exception UnicodeDecodeError",
        (
            *((), {"encoding": "a", "object": b"a", "start": -9, "end": -8, "reason": "r"}, {}),
            (None, None, False),
        ),
    ),
    "exception from a number": ("exception ValueError", ((), {}, {}, (1, None, False))),
    "group of numbers": ("exceptiongroup ExceptionGroup", ("m", [1], (), {}, (None, None, False))),
    "array larger than its bytes": ("numpy ndarray", ("<f8", (2**40,), "C", b"12345678")),
    "array of many empty rows": ("numpy ndarray", ("<f8", (2**62, 2**62, 0), "C", b"")),
    "array of objects": ("numpy ndarray", ("|O", (1,), "C", b"12345678")),
    "array of nothing": ("numpy ndarray", ("|S0", (2**40,), "C", b"")),
    "array of items of 4 GB": ("numpy ndarray", ("|S4294967295", (0,), "C", b"")),
    "structure that overlaps its end": (
        "numpy ndarray",
        (((("a", None, 7, "<f8"),), 8, False), (1,), "C", b"12345678"),
    ),
    "bytes of objects": ("numpy ndarray", ("|O", (1,), "C", b"12345678")),
    "bytes of texts": ("numpy ndarray", ("T", (1,), "C", b"0123456789abcdef")),
    "bytes of objects in a structure": (
        "numpy ndarray",
        (((("a", None, 0, "|O"),), 8, False), (1,), "C", b"12345678"),
    ),
    "scalar of objects": ("numpy void", ((((("a", None, 0, "|O"),), 8, False)), b"12345678")),
    "items of numbers": ("numpy ndarray", ("<f8", (1,), "C", [1.5])),
    "more objects than the shape says": ("numpy ndarray", ("|O", (2,), "C", [1])),
    "texts that are none": ("numpy ndarray", ("T", (1,), "C", [HUGE])),
    "fields of what has none": ("numpy ndarray", ("|O", (1,), "C", (np.arange(1),))),
    "field of another shape": ("numpy ndarray", (OBJECTS, (2**40,), "C", (np.empty(1, object),))),
    "field of another type": ("numpy ndarray", (OBJECTS, (1,), "C", (np.arange(1),))),
    "structure of gaps": (
        "numpy ndarray",
        (((("a", None, 0, "|O"),), 1 << 30, False), (1,), "C", (np.empty(1, object),)),
    ),
    "matrix of three dimensions": ("numpy matrix", ("<i8", (1, 1, 1), "C", b"12345678")),
    "characters that are numbers": ("numpy chararray", ("<i8", (1,), "C", b"12345678")),
    "mask of another shape": ("numpy MaskedArray", (np.arange(3), np.zeros(2, bool), None, False)),
    "mask of numbers": ("numpy MaskedArray", (np.arange(3), np.arange(3), None, False)),
    "mask of what is no array": ("numpy MaskedArray", ([1], None, None, False)),
    "masked by another value": (
        "numpy MaskedArray",
        (np.arange(3), None, np.array("a"), False),
    ),
    "mask with content": ("numpy MaskedConstant", 1),
    "data type of another class": ("numpy Float64DType", "<i8"),
    "data type that is too deep": ("numpy VoidDType", deep_dtype(100)),
    "data type of 2 GB": ("numpy StrDType", "<U999999999"),
    "method hidden by an attribute of an object": ("object Basket", {"__eq__": 2}),
    "property hidden by an attribute of an object": ("object Basket", {"size": 2}),
    "attribute of an object without any": ("object Slotted", {"other": 2}),
    "attributes of a namespace that are none": ("object SimpleNamespace", [1]),
    "text that pyarrow holds, as numbers": (
        "pandas ArrowStringArray",
        (True, pa.chunked_array([[1]])),
    ),
    "text that pyarrow holds, as an Index": ("pandas ArrowStringArray", (True, pd.RangeIndex(3))),
    "sparse array of 2**40": (
        "pandas SparseArray",
        (np.arange(1), "integer", 2**40, (np.array([0], "i4"),), 0),
    ),
    "sparse array with places outside": (
        "pandas SparseArray",
        (np.arange(1), "integer", 3, (np.array([7], "i4"),), 0),
    ),
    "sparse array with more values than places": (
        "pandas SparseArray",
        (np.arange(3), "integer", 3, (np.array([0], "i4"),), 0),
    ),
    "sparse array of blocks that overlap": (
        "pandas SparseArray",
        (np.arange(4), "block", 4, (np.array([0, 1], "i4"), np.array([2, 2], "i4")), 0),
    ),
    "frame with more rows than values": (
        "pandas DataFrame",
        ([np.arange(2)], pd.RangeIndex(2**40), pd.Index(["a"]), {}, True),
    ),
    "series with more rows than values": (
        "pandas Series",
        (np.arange(2), pd.RangeIndex(2**40), None, {}, True),
    ),
    "columns that are not there": (
        "pandas DataFrame",
        ([], pd.RangeIndex(1), pd.RangeIndex(2**40), {}, True),
    ),
    "level of 2**40 labels": (
        "pandas MultiIndex",
        ([pd.RangeIndex(2**40)], [np.array([0])], [None]),
    ),
    "categories of 2**40 labels": (
        "pandas Categorical",
        (np.array([0]), pd.RangeIndex(2**40), False),
    ),
}
BY_NAME = {f"{family.name} {cls.__name__}": (family, cls) for family, cls in PAIRS}


@pytest.mark.parametrize(("target", "data"), ATTACKS.values(), ids=ATTACKS)
def test_an_attack_is_refused_soon_and_cheaply(target: str, data: Any) -> None:
    family, cls = BY_NAME[target]
    tracemalloc.start()
    started = time.process_time()
    try:
        with pytest.raises((ValueError, TypeError)):
            family.decode(cls, data)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("fraction", (1, 0)),
        ("fraction", (2, 4)),
        ("decimal", "1_0"),
        ("decimal", "x"),
        ("zoneinfo", "../../etc/passwd"),
        ("zoneinfo", "Europe"),
        ("zoneinfo", "Nowhere/Land"),
        ("pattern", ("a", int(re.DEBUG))),
        ("pattern", ("(" * 5000, 0)),
        ("ipv4network", HUGE),
        ("ipv6network", "::/" + "9" * 5000),
        ("array", ("d", 8, b"1234567")),
        ("array", ("dd", 8, b"")),
        ("windowspath", "C:\\x"),
        ("send", ("node", 1, 3)),
        ("item", ({}, 1, (), None, None)),
        ("datetime", (2025, 1, 1, 0, 0, 0, 0, 0, HUGE)),
        ("partial", (HUGE, (), {}, {})),
        ("partial", (str, [], {}, {})),
        ("partial", (str, (), {1: 2}, {})),
        ("partial", (str, (), {}, {1: 2})),
        ("mappingproxy", [1]),
        ("mappingproxy", HUGE),
    ],
)
def test_an_adapter_refuses(name: str, data: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        ADAPTERS[name].decode(data)


def test_numbers_too_large_for_a_common_divisor_are_taken_as_they_are() -> None:
    started = time.process_time()
    made = ADAPTERS["fraction"].decode((3**500_000, 2**1_000_000))
    assert time.process_time() - started < 1
    assert made.denominator == 2**1_000_000


def test_no_code_of_the_class_runs() -> None:
    family = FAMILIES["record"]
    assert isinstance(family, CyclicFamily)
    made: Any = family.decode(Trapped, {"name": "x"})
    assert made.name == "x"
    made = FAMILIES["exception"].decode(k.AppError, ((1,), {}, {}, (None, None, False)))
    assert made.args == (1,)
    made = FAMILIES["object"].decode(TrappedObject, {"name": "x"})
    assert vars(made) == {"name": "x"}
    made = FAMILIES["model"].decode(TrappedModel, ({"name": 1}, None, None, None))
    assert made.name == 1


def test_a_field_that_was_added_since_gets_its_default() -> None:
    assert FAMILIES["record"].decode(k.Child, {"name": "x", "inner": 1}).extra == []
    assert FAMILIES["record"].decode(k.Slotted, {"name": "x"}).count == 0
    assert FAMILIES["record"].decode(m.Ship, {"name": "x"}).crew == []
    assert FAMILIES["model"].decode(m.Person, ({"name": "x"}, None, None, None)).tags == []


@pytest.mark.parametrize(
    "value", [k.WithInitVar.__new__(k.WithInitVar), k.Slotted.__new__(k.Slotted)]
)
def test_fields_of_a_dataclass_that_were_never_set_stay_unset(value: Any) -> None:
    family = FAMILIES["record"]
    made = family.decode(type(value), family.encode(value))
    for field in dataclasses.fields(value):
        assert hasattr(made, field.name) == hasattr(value, field.name)


def test_a_hash_that_attrs_keeps_is_not_written() -> None:
    hashed = m.Hashed("x")
    hash(hashed)
    assert "_attrs_cached_hash" in FAMILIES["record"].encode(hashed)
    assert FAMILIES["record"].encode(hashed)["_attrs_cached_hash"] is None
    assert hash(FAMILIES["record"].decode(m.Hashed, {"name": "x", "_attrs_cached_hash": None}))


@dataclasses.dataclass
class Trapped:
    name: str

    def __new__(cls, *_: Any) -> Trapped:  # noqa: PYI034  # it returns nothing at all
        raise AssertionError

    def __setattr__(self, name: str, value: Any) -> None:
        raise AssertionError

    def __post_init__(self) -> None:
        raise AssertionError


class TrapMeta(type):
    def __call__(cls, *_: Any) -> Any:
        raise AssertionError


class TrappedObject(metaclass=TrapMeta):
    name: str

    def __new__(cls, *_: Any) -> TrappedObject:  # noqa: PYI034  # it returns nothing at all
        raise AssertionError

    def __init__(self) -> None:
        raise AssertionError

    def __setattr__(self, name: str, value: Any) -> None:
        raise AssertionError

    def __getattribute__(self, name: str) -> Any:
        if name == "__dict__":  # which the test itself asks for
            return object.__getattribute__(self, name)
        raise AssertionError


class TrappedModel(m.Person):
    def __init__(self, **_: Any) -> None:
        raise AssertionError

    def model_post_init(self, _: Any) -> None:
        raise AssertionError

    def __setattr__(self, name: str, value: Any) -> None:
        raise AssertionError
