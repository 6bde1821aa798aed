"""What of a known class runs when a row names it: validators and constructors of data, no more."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pydantic
import pytest
from ormsgpack import Ext, packb

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import SerdeError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.format import head_bytes, object_of
from langgraph_once.serde.registry import FORMS

HERE = __name__
RAN: list[str] = []


def note(name: str) -> Callable[..., Any]:
    def method(*_args: Any, **_kwargs: Any) -> Any:
        RAN.append(name)
        return None

    return method


class Ordinary:
    __init__ = note("__init__")
    __reduce__ = note("__reduce__")
    __getattr__ = note("__getattr__")
    __call__ = note("__call__")


class Restored:
    __setstate__ = note("__setstate__")
    __getstate__ = note("__getstate__")


class Deleted:
    __del__ = note("__del__")


class Meta(type):
    __call__ = note("__call__ of its metaclass")


class Special(metaclass=Meta):
    text: str = ""


@dataclass
class Thrown:
    text: str = ""
    __del__ = note("__del__")


class Dumped(dict[str, Any]):
    __init__ = note("__init__")
    __setitem__ = note("__setitem__")
    update = note("update")


@dataclass
class Record:
    text: str = ""

    def __post_init__(self) -> None:
        RAN.append("__post_init__")


class Model(pydantic.BaseModel):
    text: str = ""

    @pydantic.field_validator("text")
    @classmethod
    def check(cls, text: str) -> str:
        RAN.append("validator")
        return text


class Colour(enum.Enum):
    RED = 1

    @classmethod
    def _missing_(cls, value: object) -> None:
        RAN.append("_missing_")


NO_DATA = ("Ordinary", "Restored", "Deleted", "Special", "Thrown", "Dumped", "note")
EXTRAS: tuple[tuple[Any, ...], ...] = ((), (None,), ([],))
DATA = ("Record", "Model", "Colour")
BY_LANGGRAPH = frozenset({"__post_init__", "validator", "_missing_"})


def langgraph_rows(name: str) -> list[bytes]:
    arguments: list[Any] = ["x", ["x"], {"text": "x"}, {"a": 1}, [], 7, None]
    return [
        packb(Ext(code, packb([HERE, name, argument, "fromisoformat"])))
        for code in range(6)
        for argument in arguments
    ]


def own_rows(name: str) -> list[bytes]:
    data: list[Any] = ["x", ["x"], {"text": "x"}, [{"text": "x"}, None], [["x"], {}], [], None]
    return [
        packb(object_of(head_bytes(form.name, f"{HERE}:{name}", 0, *extra), each))
        for form in FORMS
        for each in data
        for extra in EXTRAS
    ]


def ran(tag: str, rows: list[bytes], **settings: Any) -> set[str]:
    """Return what ran while these rows were read, and what was read of them thrown away."""
    RAN.clear()
    serde = OnceSerializer(SerdeConfig(**settings))
    for row in rows:
        try:
            serde.loads_typed((tag, row))
        except SerdeError:
            continue
    return {*RAN}


@pytest.mark.parametrize("name", NO_DATA)
@pytest.mark.parametrize("enforcement", ["safe", "strict"])
def test_nothing_runs_of_a_class_that_is_no_data(name: str, enforcement: str) -> None:
    assert ran("msgpack", langgraph_rows(name), enforcement=enforcement) == set()
    assert ran("once2", own_rows(name), enforcement=enforcement) == set()


@pytest.mark.parametrize("name", DATA)
def test_of_data_run_validators_and_constructors_in_rows_of_langgraph(name: str) -> None:
    assert ran("msgpack", langgraph_rows(name)) <= BY_LANGGRAPH
    assert ran("msgpack", langgraph_rows(name), enforcement="strict") == set()


@pytest.mark.parametrize("name", DATA)
def test_of_data_nothing_runs_in_our_rows(name: str) -> None:
    assert ran("once2", own_rows(name)) <= {"_missing_"}
