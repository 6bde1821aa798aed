"""No value is refused that LangGraph carries; what it leaves out of one may be missing."""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import BaseModel, Field, PrivateAttr

from langgraph_once import SerdeConfig
from langgraph_once.errors import EncodeError
from langgraph_once.serde import OnceSerializer, Opaque, Unstored
from tests.unit_tests.serde.fidelity.table import ROWS
from tests.unit_tests.serde.strictly import strict_config

STOCK = JsonPlusSerializer()
OURS = OnceSerializer(SerdeConfig(source=(__file__,)))


class Private(BaseModel):
    x: int = 1
    _lock: Any = PrivateAttr(default_factory=threading.Lock)


class Excluded(BaseModel):
    x: int = 1
    client: Any = Field(default_factory=threading.Lock, exclude=True)


@dataclass
class Late:
    x: int

    def __post_init__(self) -> None:
        self.cache = threading.Lock()


@dataclass
class Whole:
    inside: Any
    pair: tuple[int, int] = (1, 2)
    also: list[int] = field(default_factory=list)


class Rows(list[int]):
    lock: Any = None


class BusyError(Exception):
    lock: Any = None


class Grid(np.ndarray[Any, Any]):
    pass


def with_lock(value: Any) -> Any:
    value.lock = threading.Lock()
    return value


def back(value: Any) -> Any:
    return OURS.loads_typed(OURS.dumps_typed(value))


@pytest.mark.parametrize(
    "value", [Private(x=2), Excluded(x=2), Late(2)], ids=["private", "excluded", "late"]
)
def test_what_the_class_makes_anew_is_made_anew(value: Any) -> None:
    first, whole = back([value, Whole(value)])
    assert (type(first), first.x) == (type(value), 2)
    kept = [*vars(first).values(), *(getattr(first, "__pydantic_private__", None) or {}).values()]
    assert type(threading.Lock()) in map(type, kept)
    # What is around it is exact: LangGraph would have made a list of the pair.
    assert type(whole) is Whole
    assert (whole.pair, type(whole.inside)) == ((1, 2), type(value))


@pytest.mark.parametrize(
    "factory", [lambda: 1, lambda: defaultdict(int), [1].copy], ids=["lambda", "nested", "method"]
)
def test_a_default_factory_that_is_lost_says_so_when_it_is_asked(factory: Any) -> None:
    made = back({"counts": defaultdict(factory, a=1)})["counts"]
    assert type(made) is defaultdict
    assert dict(made) == {"a": 1}
    with pytest.raises(TypeError, match="cannot be called: it was read as an `Opaque`"):
        made["b"]
    assert dict(back({"counts": made})["counts"]) == {"a": 1}


def test_an_attribute_of_a_subclass_of_a_builtin_is_an_opaque() -> None:
    made = back([with_lock(Rows([1]))])[0]
    assert type(made) is Rows
    assert made == [1]
    assert type(made.lock) is Opaque


def test_an_exception_in_a_state_keeps_what_can_be_kept() -> None:
    made = back({"error": with_lock(BusyError("no", 3))})["error"]
    assert (type(made), made.args, type(made.lock)) == (BusyError, ("no", 3), Unstored)


def test_an_array_of_a_subclass_is_an_array_as_in_langgraph() -> None:
    value = np.arange(3).view(Grid)
    made = back([value])[0]
    assert type(made) is np.ndarray
    assert made.tolist() == STOCK.loads_typed(STOCK.dumps_typed([value]))[0].tolist() == [0, 1, 2]


def test_each_class_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    serde = OnceSerializer(SerdeConfig(source=(__file__,)))
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            serde.dumps_typed([Private(), Private()])
    assert [f"{__name__}:Private" in record.getMessage() for record in caplog.records].count(
        True
    ) == 1


@pytest.mark.parametrize(
    "value",
    [
        threading.Lock(),
        [threading.Lock()],
        {"f": lambda: 1},
        AIMessage("x", additional_kwargs={"lock": threading.Lock()}),
    ],
    ids=["lock", "in a list", "lambda", "in a message"],
)
def test_what_langgraph_refuses_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        STOCK.dumps_typed(value)
    with pytest.raises(EncodeError):
        OURS.dumps_typed(value)


def test_strict_enforcement_leaves_nothing_out() -> None:
    serde = OnceSerializer(strict_config(allowed_types=(f"{__name__}:Private",)))
    with pytest.raises(EncodeError, match="lock"):
        serde.dumps_typed(Private())


def test_no_row_of_the_table_is_refused_that_langgraph_carries() -> None:
    carried = []
    for row in ROWS:
        try:
            stock = STOCK.dumps_typed([row.value])
        except Exception:
            continue
        with told(row.id):
            back([row.value])
        try:
            STOCK.loads_typed(stock)
        except Exception:
            continue
        with told(row.id):
            OURS.loads_typed(stock)
        carried.append(row.id)
    assert len(carried) > 100


@contextmanager
def told(name: str) -> Iterator[None]:
    """Say which row an error is about."""
    try:
        yield
    except Exception as error:
        error.add_note(f"row {name}")
        raise
