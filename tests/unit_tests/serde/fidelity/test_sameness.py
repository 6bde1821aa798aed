"""The comparison behind the table is not fooled by `==`."""

from __future__ import annotations

import copy
import math
from collections import Counter, OrderedDict, defaultdict, deque
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd  # type: ignore[import-untyped]  # pandas has no types
import pytest
from langchain_core.messages import AIMessage

from tests.unit_tests.serde.fidelity import kinds as k, model_kinds as m
from tests.unit_tests.serde.fidelity.sameness import difference
from tests.unit_tests.serde.fidelity.table import ROWS

ONE = {1}
NOON = datetime(2025, 7, 1, 12, tzinfo=ZoneInfo("Europe/Berlin"))


def _changed(value: Any, **attributes: Any) -> Any:
    value = copy.deepcopy(value)
    for name, attribute in attributes.items():
        setattr(value, name, attribute)
    return value


def _token(text: str) -> m.Private:
    model = m.Private(name="x")
    model._token = text
    return model


def _read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array


DIFFERENT: dict[str, tuple[Any, Any]] = {
    "True and 1": (True, 1),
    "1 and 1.0": (1, 1.0),
    "0.0 and -0.0": (0.0, -0.0),
    "nan and inf": (math.nan, math.inf),
    "complex zeros": (complex(0.0, -0.0), complex(0.0, 0.0)),
    "list and tuple": ([1], (1,)),
    "True and 1 inside": ({"a": [(1,)]}, {"a": [(True,)]}),
    "True and 1 as keys": ({1: "a"}, {True: "a"}),
    "order of keys": ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    "set with True and 1": ({1}, {True}),
    "str and its subclass": ("a", k.Slug("a")),
    "dict and Counter": ({"a": 1}, Counter(a=1)),
    "order in an OrderedDict": (OrderedDict(a=1, b=2), OrderedDict(b=2, a=1)),
    "factory": (defaultdict(list), defaultdict(dict)),
    "maxlen": (deque([1], 2), deque([1], 3)),
    "one set and two": ([ONE, ONE], [{1}, {1}]),
    "two sets and one": ([{1}, {1}], [ONE, ONE]),
    "Decimal exponents": (Decimal("1.0"), Decimal("1.00")),
    "zone and offset": (NOON, NOON.replace(tzinfo=timezone(timedelta(hours=2)))),
    "named offset": (timezone.utc, timezone(timedelta(0), "UTC")),  # noqa: UP017  # beside its twin
    "fold": (NOON, NOON.replace(fold=1)),
    "UTC of two kinds": (datetime(2025, 1, 1, tzinfo=UTC), pd.Timestamp(0, tz="UTC")),
    "enum and its value": (k.Level.HIGH, 3),
    "dataclass attribute": (k.Plain("x"), _changed(k.Plain("x"), later=1)),
    "slot": (k.Slotted("x", 1), k.Slotted("x", 2)),
    "field left unset": (k.Computed(1), _changed(k.Computed(1), late=1)),
    "fields set": (m.Person(name="x"), m.Person(name="x", tags=[])),
    "private attribute": (_token("a"), _token("b")),
    "extra value": (m.Open(name="x"), m.Open(name="x", a=1)),  # type: ignore[call-arg]  # any are allowed
    "excluded field": (m.Excluding(name="x", secret="a"), m.Excluding(name="x")),
    "class in a field": (
        m.Person(name="x", address=m.FullAddress(city="c", street="s")),
        m.Person(name="x", address=m.Address(city="c")),
    ),
    "v1 fields set": (m.OldPerson(name="x"), m.OldPerson(name="x", address=None)),
    "v1 private": (m.OldPerson(name="x"), _changed(m.OldPerson(name="x"), _token="b")),
    "attrs": (m.Ship("x"), m.Ship("y")),
    "attribute of a subclass": (k.Rows([1]), _changed(k.Rows([1]), source="s")),
    "exception arguments": (ValueError(1), ValueError(True)),
    "exception attribute": (k.AppError(1), _changed(k.AppError(1), hint="h")),
    "exception notes": (ValueError(1), _changed(ValueError(1), __notes__=["n"])),
    "exception cause": (ValueError(1), _changed(ValueError(1), __cause__=KeyError())),
    "exception suppression": (ValueError(1), _changed(ValueError(1), __suppress_context__=True)),
    "exception field": (OSError(1, "x", "a"), OSError(1, "x", "b")),
    "message content": (AIMessage("a", id="1"), AIMessage("a", id=None)),
    "array dtype": (np.zeros(1, "i4"), np.zeros(1, "i8")),
    "array byte order": (np.zeros(1, ">i4"), np.zeros(1, "<i4")),
    "array order": (np.zeros((2, 2), order="F"), np.zeros((2, 2))),
    "array shape": (np.zeros((1, 2)), np.zeros((2, 1))),
    "array writable": (np.zeros(1), _read_only(np.zeros(1))),
    "array sign": (np.array([0.0]), np.array([-0.0])),
    "kind of scalar": (np.longlong(1), np.int64(1)),
    "frame column type": (pd.DataFrame({"a": [1]}), pd.DataFrame({"a": [1.0]})),
    "frame index": (pd.DataFrame({"a": [1]}), pd.DataFrame({"a": [1]}, index=[0])),
    "series name": (pd.Series([1], name="a"), pd.Series([1], name="b")),
    "index frequency": (
        pd.date_range("2025", periods=3),
        pd.DatetimeIndex([*pd.date_range("2025", periods=3)]),
    ),
    "stamp unit": (pd.Timestamp(0, unit="s"), pd.Timestamp(0, unit="s").as_unit("ns")),
}


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT)
def test_difference_sees_each_difference_of_two_values(pair: tuple[Any, Any]) -> None:
    first, second = pair
    assert difference(first, second)
    assert difference([{"k": first}], [{"k": second}])
    assert difference(second, first)


def test_a_value_is_the_same_as_itself() -> None:
    assert {row.id: found for row in ROWS if (found := difference(row.value, row.value))} == {}
