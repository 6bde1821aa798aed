"""The `msgpack` codec writes what upstream writes, to the byte, and raises where that raises."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_once.config import SerdeConfig
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.stock_writes import encode_stock
from tests.unit_tests.serde.fidelity.kinds import Plain
from tests.unit_tests.serde.law.classes import Anything
from tests.unit_tests.serde.samples import OWN_VALUES, SAFE_VALUES

UPSTREAM = JsonPlusSerializer()


def upstream(value: Any) -> bytes | type[Exception]:
    """What upstream writes for a value that is not one that it has a tag for; or its error."""
    try:
        return UPSTREAM.dumps_typed([value])[1][1:]
    except Exception as error:
        return type(error)


def ours(value: Any) -> bytes | type[Exception]:
    try:
        return encode_stock(value)
    except Exception as error:
        return type(error)


@pytest.mark.filterwarnings("ignore")  # pydantic warns of fields of wrong types
def test_known_values_have_upstreams_bytes_or_upstreams_error(subtests: pytest.Subtests) -> None:
    for number, value in enumerate([*SAFE_VALUES, *OWN_VALUES]):
        with subtests.test(f"{number}: {type(value).__name__}"):
            for nested in (
                value,
                [value],
                Plain("x", value),
                Anything.model_construct(value=value),
            ):
                assert ours(nested) == upstream(nested)


@pytest.mark.parametrize("levels", [50, 100, 150, 200, 250, 300, 400])
@pytest.mark.parametrize("wrap", [list, Plain, lambda v: Anything(value=v), lambda v: {"a": (v,)}])
def test_deep_values_are_written_where_upstream_writes_them(wrap: Any, levels: int) -> None:
    value: Any = 1
    for _ in range(levels):
        value = wrap([value] if wrap is list else value)
    expected = upstream(value)
    assert ours(value) == expected or not isinstance(expected, bytes)


def test_a_value_that_changed_is_written_as_it_is_now() -> None:
    member: Any = Changing.ONE
    message = HumanMessage("x")
    for value in ("a", "b"):
        member._value_ = value
        message.content = value
        assert [ours(member), ours(message)] == [upstream(member), upstream(message)]


class Changing(Enum):
    ONE = 1


@pytest.mark.parametrize("wrap", [lambda v: v, lambda v: [{"a": v}], Plain, lambda v: {v}])
def test_what_could_not_be_rebuilt_is_written_as_it_was_read(wrap: Any) -> None:
    name = f"{Plain.__module__}:Plain"
    config = SerdeConfig(compatible=True, allowed_types=(name,))
    keeps = OnceSerializer(config)
    written = UPSTREAM.dumps_typed([wrap(Changing.ONE)])
    row = (written[0], written[1].replace(b"Changing", b"Departed"))
    read = keeps.loads_typed(row)  # nothing is called so
    assert keeps.dumps_typed(read) == row


@pytest.mark.parametrize("value", [Plain("x", 1), Anything(value=1)])
def test_an_object_whose_class_is_gone_is_written_as_it_was_read(value: Any) -> None:
    keeps = OnceSerializer(SerdeConfig(compatible=True))
    tag, data = UPSTREAM.dumps_typed([value])
    row = (tag, data.replace(b"Plain", b"Ghost").replace(b"Anything", b"NothingX"))
    read = keeps.loads_typed(row)
    assert isinstance(read[0], dict)
    assert keeps.dumps_typed(read) == row
