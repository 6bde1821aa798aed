"""numpy arrays of Python objects, and how much arrays copy."""

from __future__ import annotations

import tracemalloc
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import ormsgpack
import pandas as pd  # type: ignore[import-untyped]  # pandas has no types
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_once.errors import EncodeError, PayloadError, SerdeError, SizeLimitError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.codecs.once1.format import layout as wire
from langgraph_once.serde.codecs.once1.format.layout import Ext, pack
from tests.unit_tests.serde.fidelity.sameness import difference
from tests.unit_tests.serde.strictly import strict_config

HERE = __name__


@dataclass
class Note:
    text: str
    about: Any = None


def serde(**settings: Any) -> OnceSerializer:
    names = (f"{HERE}:Note",)
    return OnceSerializer(strict_config(**({"allowed_types": names} | settings)))


def objects(*items: Any, shape: tuple[int, ...] = (-1,), order: Any = "C") -> Any:
    """Return an array that holds these very objects."""
    flat = np.empty(len(items), object)
    for place, item in enumerate(items):
        flat[place] = item
    return flat.reshape(shape, order=order)


MIXED = (
    1,
    "a",
    None,
    2.5,
    (1, 2),
    [3],
    {"k": {4}},
    Note("n"),
    b"b",
    Decimal(1),
    np.float32(1),
    ...,
)


@pytest.mark.parametrize(
    "value",
    [
        objects(*MIXED),
        objects(*MIXED, shape=(3, 4)),
        objects(*MIXED, shape=(3, 4), order="F"),
        objects(*MIXED, shape=(2, 3, 2))[:, ::2],
        objects(*MIXED)[::-1],
        objects([1, 2], shape=()),
        objects(),
        np.empty((0, 3), object),
        objects(np.arange(3), np.array(3), objects([1], objects("deep"))),
        {"a": [objects(1, 2)], (1, 2): Note("n", objects(Note("m")))},
    ],
    ids=lambda value: f"{type(value).__name__} {getattr(value, 'shape', '')}",
)
def test_every_element_comes_back_at_its_place(value: Any) -> None:
    back = serde().loads_typed(serde().dumps_typed(value))
    assert difference(value, back) is None


@given(
    st.lists(st.none() | st.integers() | st.text() | st.tuples(st.integers()), max_size=12),
    st.sampled_from(["C", "F"]),
)
def test_shapes_and_orders_are_kept(items: list[Any], order: Any) -> None:
    items = items[: len(items) // 2 * 2]
    value = objects(*items, shape=(2, len(items) // 2), order=order)
    back = serde().loads_typed(serde().dumps_typed([value]))[0]
    assert difference(value, back) is None


def test_what_is_shared_stays_one_object() -> None:
    note = Note("n")
    array = objects(note, note)
    first, second = serde().loads_typed(serde().dumps_typed([array, {"again": array, "it": note}]))
    assert first[0] is first[1] is second["it"]
    assert second["again"] is first


def test_an_element_that_cannot_be_written_is_named_with_its_place() -> None:
    with pytest.raises(EncodeError, match="nobody taught the codec") as caught:
        serde().dumps_typed([objects(1, object())])
    assert caught.value.path is not None
    assert caught.value.path.startswith("[0]")


def test_a_type_that_is_not_allowed_is_refused_in_an_array_too() -> None:
    with pytest.raises(EncodeError, match="Note"):
        serde(allowed_types=()).dumps_typed(objects(Note("n")))
    with pytest.raises(SerdeError):
        OnceSerializer(strict_config()).loads_typed(serde().dumps_typed(objects(Note("n"))))


def test_an_object_array_that_contains_itself_is_refused() -> None:
    array = objects(1, 2)
    array[0] = [array]
    with pytest.raises(EncodeError, match="it contains itself"):
        serde().dumps_typed(array)


def test_a_structure_with_objects_that_is_nearly_empty_is_refused() -> None:
    dtype = np.dtype({"names": ["a"], "formats": ["O"], "itemsize": 1 << 20})
    with pytest.raises(EncodeError, match="nearly empty"):
        serde().dumps_typed(np.zeros(1, dtype))


def test_columns_of_pandas_are_written_by_element_whatever_the_setting() -> None:
    frame = pd.DataFrame({"any": [(1, 2), {3}, None]}, dtype=object)
    row = OnceSerializer(strict_config()).dumps_typed([frame, frame["any"]])
    back, column = OnceSerializer(strict_config()).loads_typed(row)
    assert difference(frame, back) is None
    assert column.tolist() == [(1, 2), {3}, None]


def extension(family: str, cls: str, *items: Any) -> ormsgpack.Ext:
    return ormsgpack.Ext(Ext.RECORD, pack(family) + pack(cls) + pack([*items]))


def array_of(dtype: Any, shape: list[int], order: Any, content: Any) -> ormsgpack.Ext:
    kept = ormsgpack.Ext(Ext.TUPLE, pack(shape))
    return extension("numpy", "numpy:ndarray", dtype, kept, order, content)


def ref(index: int) -> ormsgpack.Ext:
    return ormsgpack.Ext(Ext.REF, index.to_bytes(4, "big"))


def blob(*entries: Any) -> tuple[str, bytes]:
    return "once1", wire.table([piece for value in entries for piece in wire.entry(pack(value))])


@pytest.mark.parametrize(
    "hostile",
    [
        array_of("|O", [3], "C", [1, 2]),
        array_of("|O", [1], "C", [1, 2]),
        array_of("|O", [2**62, 2**62, 0], "C", []),
        array_of("|O", [-1, -2], "C", [1, 2]),
        array_of("|O", [2], "K", [1, 2]),
        array_of("|O", [2], "C", b"12345678" * 2),
        array_of("|O", [1.0], "C", [1]),  # type: ignore[list-item]  # on purpose
        array_of("<f8", [2], "C", [1, 2]),
        array_of(["|O"], [2], "C", [1, 2]),
        array_of("|O", [1] * 100, "C", [1]),
    ],
)
def test_data_of_another_shape_is_refused(hostile: Any) -> None:
    with pytest.raises(PayloadError):
        serde().loads_typed(("once1", pack(hostile)))


def test_the_elements_count_as_objects() -> None:
    row = serde(compression="none").dumps_typed(objects(*range(5000), shape=(50, 100)))
    with pytest.raises(SizeLimitError):
        serde(max_decoded_objects=5000).loads_typed(row)
    assert serde(max_decoded_objects=6000).loads_typed(row).size == 5000


LONG: Any = [None] * 500_000
COPIES = 100
HOSTILE: dict[str, tuple[str, bytes]] = {
    "one list": blob(LONG, [array_of("|O", [len(LONG)], "C", ref(0))] * COPIES),
    "one list, in rows of one": blob(LONG, [array_of("|O", [1, len(LONG)], "C", ref(0))] * COPIES),
    "one text": blob(b"x" * 10**6, [array_of("|u1", [10**6], "C", ref(0))] * COPIES),
    "one text, in a row": blob(b"x" * 10**6, [array_of("|u1", [1, 10**6], "C", ref(0))] * COPIES),
    "one text, as an item": blob(b"x" * 10**6, [array_of("|V1000000", [1], "C", ref(0))] * COPIES),
    "one column": blob(
        LONG,
        extension("pandas", "pandas:RangeIndex", 0, len(LONG), 1, None),
        extension("pandas", "pandas:RangeIndex", 0, COPIES, 1, None),
        extension("pandas", "pandas:DataFrame", [ref(0)] * COPIES, ref(1), ref(2), {}, True),
    ),
    "one array": blob(
        array_of("<i1", [10**6], "C", b"1" * 10**6),
        extension("pandas", "pandas:RangeIndex", 0, 10**6, 1, None),
        extension("pandas", "pandas:RangeIndex", 0, 1, 1, None),
        [extension("pandas", "pandas:DataFrame", [ref(0)], ref(1), ref(2), {}, True)] * COPIES,
    ),
}
"""Half a gigabyte, if each copied what it refers to."""


@pytest.mark.parametrize("row", HOSTILE.values(), ids=HOSTILE)
def test_few_bytes_do_not_become_many_copies(row: tuple[str, bytes]) -> None:
    assert len(row[1]) < 1_500_000
    tracemalloc.start()
    try:
        with pytest.raises(SerdeError):
            OnceSerializer(strict_config(max_decoded_objects=2_500_000)).loads_typed(row)
        assert tracemalloc.get_traced_memory()[1] < 150_000_000
    finally:
        tracemalloc.stop()


def test_what_writers_share_is_not_taken_for_an_attack() -> None:
    column = pd.Series(np.zeros(6_000_000, "u1"))
    twins = [column, column.rename("b"), column.copy(deep=False)]
    once = OnceSerializer(strict_config(compression="none"))
    back = once.loads_typed(once.dumps_typed([*twins, *twins]))
    assert [len(it) for it in back] == [6_000_000] * 6
    numbers = pd.array(np.zeros(6_000_000, "i1"), dtype="Int8")
    masked = [type(numbers)(numbers._data, numbers._mask) for _ in range(3)]
    assert [len(it) for it in once.loads_typed(once.dumps_typed(masked))] == [6_000_000] * 3
    array = np.zeros((2, 6_000_000), "u1")
    first, *rest = once.loads_typed(once.dumps_typed([array, (array, [array])]))
    assert rest[0][0] is first
