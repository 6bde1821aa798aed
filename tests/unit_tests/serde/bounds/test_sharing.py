"""What shared parts expand to is bounded, and writing them takes the time of the parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import EncodeError, SizeLimitError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.codecs.once1.format.layout import pack
from tests.unit_tests.serde.bounds.attacks_small import doubled, ref
from tests.unit_tests.serde.cpu import least_seconds, within


@dataclass
class Pair:
    left: Any
    right: Any


WRAPS: dict[str, Callable[[Any], Any]] = {
    "list": lambda v: [v, v],
    "dict": lambda v: {"a": v, "b": v},
    "map": lambda v: {1: v, 2: v},
    "tuple": lambda v: (v, v),
    "dataclass": lambda v: Pair(v, v),
    "wide": lambda v: [v] * 100 if v == [1] else [v, v],
    "mixed": lambda v: [{"a": v}, (v,)],
}
SERDE = OnceSerializer()


def nested(levels: int, wrap: Callable[[Any], Any], inmost: Any = None) -> Any:
    value = [1] if inmost is None else inmost
    for _ in range(levels):
        value = wrap(value)
    return value


def first_of(value: Any) -> Any:
    return value.left if type(value) is Pair else next(iter(_parts(value)))


def _parts(value: Any) -> Any:
    return value.values() if type(value) is dict else value


@pytest.mark.parametrize("name", WRAPS)
def test_what_is_shared_is_written_in_the_time_of_its_parts(name: str) -> None:
    value = nested(18, WRAPS[name])
    assert within(least_seconds(lambda: SERDE.dumps_typed(value), 0.1), 0.1)
    row = SERDE.dumps_typed(value)
    assert len(row[1]) < 2_000
    back, levels = SERDE.loads_typed(row), 0
    while type(back) is not int:
        back, levels = first_of(back), levels + 1
    assert (back, levels) == (1, 37 if name == "mixed" else 19)


@pytest.mark.parametrize("name", WRAPS)
def test_a_value_whose_shared_parts_never_end_is_not_written(name: str) -> None:
    def refused() -> None:
        with pytest.raises(EncodeError, match=r"shared parts written out.*max_decoded_objects"):
            SERDE.dumps_typed({"state": nested(60, WRAPS[name])})

    assert within(least_seconds(refused, 0.1), 0.1)


def test_a_long_value_that_expands_too_far_is_not_written_either() -> None:
    """It takes so many bytes that nothing else about it has to be tried out."""
    shared: list[Any] = [set() for _ in range(5_700)]
    serde = OnceSerializer(SerdeConfig(max_decoded_objects=200_000, compression="none"))
    assert len(serde.loads_typed(serde.dumps_typed([shared] * 5))) == 5
    with pytest.raises(EncodeError, match="shared parts written out"):
        serde.dumps_typed([shared] * 7)


def test_a_message_that_is_shared_is_written_once() -> None:
    value = nested(16, WRAPS["list"], AIMessage("a" * 500, additional_kwargs={"a": {"b": 1}}))
    assert len(OnceSerializer(SerdeConfig(compression="none")).dumps_typed(value)[1]) < 2_000


def array(part: bytes) -> bytes:
    return b"\x92" + part + part


def test_a_row_that_expands_too_far_is_refused_on_reading() -> None:
    with pytest.raises(SizeLimitError, match="shared parts written out"):
        SERDE.loads_typed(("once1", doubled(60, array, array)))
    assert len(SERDE.loads_typed(("once1", doubled(24, array, array)))) == 2


def test_a_buffer_counts_once_however_large() -> None:
    serde = OnceSerializer(SerdeConfig(max_decoded_objects=100_000))
    value = [[bytearray(100_000)] * 2] * 30
    back = serde.loads_typed(serde.dumps_typed(value))
    assert back == value
    assert back[0][0] is back[29][1]


def test_what_contains_itself_is_no_expansion() -> None:
    value: list[Any] = [1]
    value += [value] * 50
    back = SERDE.loads_typed(SERDE.dumps_typed(value))
    assert all(each is back for each in back[1:])


def test_what_looks_like_a_reference_is_none() -> None:
    value = [[ref(0) * 3] * 3, pack(1)] * 1000
    assert SERDE.loads_typed(SERDE.dumps_typed(value)) == value
