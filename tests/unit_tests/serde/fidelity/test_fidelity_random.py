"""Random values come back the same: dataclasses, models, messages, containers of each other."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from decimal import Decimal
from typing import Any

import numpy as np
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as npst
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langgraph.types import Command, Interrupt, Send

from tests.examples import examples
from tests.unit_tests.serde.fidelity import kinds as k, model_kinds as m
from tests.unit_tests.serde.fidelity.sameness import difference
from tests.unit_tests.serde.fidelity.table import once2

SERDE = once2()
NAMES = st.text("abc", min_size=1, max_size=3)
TEXTS = st.text(max_size=8)

ATOMS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**80), 2**80)
    | st.floats()
    | st.text(st.characters(), max_size=8)
    | st.binary(max_size=8)
)
SCALARS = (
    ATOMS
    | st.complex_numbers()
    | st.fractions()
    | st.decimals()
    | st.datetimes(timezones=st.none() | st.timezones(), allow_imaginary=False)
    | st.times(timezones=st.none() | st.timezones())
    | st.timedeltas()
    | st.uuids()
    | st.ip_addresses()
    | st.sampled_from([*k.Colour, *k.Level, *k.Mode, *k.Access, k.Bits(5), k.Access(0), ..., int])
)


def _is_nan(value: Any) -> bool:
    """Whether `value` as a key is never found again."""
    return isinstance(value, (float, complex, Decimal)) and "nan" in str(value).lower()


HASHABLE = st.recursive(
    SCALARS.filter(lambda value: not _is_nan(value)),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=4,
)


def _extended(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    items = st.lists(inner, max_size=3)
    pairs = st.dictionaries(HASHABLE, inner, max_size=3)
    attributes = st.dictionaries(NAMES, inner, max_size=2)
    return (
        items
        | items.map(tuple)
        | pairs
        | st.sets(HASHABLE, max_size=3)
        | st.builds(deque, items, st.sampled_from([None, 2, 5]))
        | st.builds(lambda found: defaultdict(list, found), pairs)
        | st.builds(OrderedDict, pairs)
        | st.builds(Counter, st.lists(HASHABLE, max_size=4))
        | st.builds(k.Plain, TEXTS, inner)
        | st.builds(k.Strict, name=inner, limit=inner)
        | st.builds(k.Child, inner, inner, items)
        | st.builds(k.Point, inner, inner)
        | st.builds(_attributed, st.builds(k.Rows, items), attributes)
        | st.builds(_attributed, st.builds(k.Table, pairs), attributes)
        | st.builds(_attributed, st.builds(k.Text, TEXTS), attributes)
        | st.builds(_attributed, st.builds(k.Plain, TEXTS), attributes)
        | st.builds(_attributed, st.builds(ValueError, inner, inner), attributes)
        | st.builds(m.Anything, value=inner)
        | st.builds(lambda extra: m.Open(name="x", **extra), attributes)
        | st.builds(_constructed, st.sets(st.sampled_from(["name", "tags", "x"])), inner, inner)
        | st.builds(m.Ship, inner, items)
        | _messages(inner)
        | st.builds(Send, TEXTS, inner)
        | st.builds(Interrupt, inner, id=TEXTS)
        | st.builds(Command, update=inner, resume=inner)
    )


def _messages(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    blocks = st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS}), max_size=2)
    kwargs = st.dictionaries(TEXTS, inner, max_size=2)
    calls = st.builds(
        lambda args, id: {"name": "f", "args": args, "id": id}, kwargs, st.none() | TEXTS
    )
    identity = st.none() | TEXTS
    return (
        st.builds(HumanMessage, TEXTS | blocks, id=identity, additional_kwargs=kwargs)
        | st.builds(AIMessage, TEXTS, tool_calls=st.lists(calls, max_size=2), id=identity)
        | st.builds(AIMessageChunk, content=TEXTS, response_metadata=kwargs, id=identity)
        | st.builds(ToolMessage, TEXTS, tool_call_id=TEXTS, artifact=inner)
    )


def _attributed(value: Any, attributes: dict[str, Any]) -> Any:
    vars(value).update(attributes)
    return value


def _constructed(fields_set: set[str], name: Any, tags: Any) -> m.Person:
    return m.Person.model_construct(fields_set, name=name, tags=tags)


VALUES = st.recursive(SCALARS, _extended, max_leaves=10)


@examples(50)
@given(VALUES)
def test_random_values_come_back_the_same(value: Any) -> None:
    assert difference(value, SERDE.loads_typed(SERDE.dumps_typed(value))) is None


@examples(30)
@given(
    npst.arrays(
        npst.scalar_dtypes() | npst.array_dtypes(max_size=3),
        npst.array_shapes(min_dims=0, min_side=0, max_side=3),
    ),
    st.sampled_from(["C", "F", "reversed", "every other"]),
)
def test_arrays_come_back_the_same_and_writable(array: Any, layout: str) -> None:
    if array.ndim and layout in ("reversed", "every other"):
        array = array[:: -1 if layout == "reversed" else 2]
    elif layout in ("C", "F"):
        array = np.asarray(array, order=layout)  # type: ignore[call-overload]  # the orders are text here
    back = SERDE.loads_typed(SERDE.dumps_typed(array))
    assert back.flags.writeable
    array = array.copy() if not array.flags.writeable else array
    assert difference(array, back) is None


def test_a_read_only_array_becomes_writable() -> None:
    array = np.broadcast_to(np.int8(1), (2, 2))
    back = SERDE.loads_typed(SERDE.dumps_typed(array))
    assert back.flags.writeable
    assert back.tolist() == [[1, 1], [1, 1]]
