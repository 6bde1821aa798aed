"""A class may say for itself that it comes out of checkpoints; the bytes gain nothing by it."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import pydantic
import pytest

from langgraph_once import storable
from langgraph_once.errors import EncodeError, TypeNotAllowedError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.trust import Standing, Trust
from tests.unit_tests.serde.strictly import strict_config

HERE = __name__
T = TypeVar("T")


@storable
@dataclass
class Invoice:
    number: int


@dataclass(slots=True)
@storable
class Line:
    text: str


class Credit(Invoice):
    pass


@storable
class Colour(Enum):
    RED = 1


@storable
class Point(NamedTuple):
    x: int


@storable
class Model(pydantic.BaseModel):
    name: str


@storable
class Page(pydantic.BaseModel, Generic[T]):
    items: list[T]


@storable
class ShopError(Exception):
    pass


class Outer:
    @storable
    class Inner(str):
        pass

    Alias = Invoice


Renamed = Invoice


def serde(codec: Any = "once2", **settings: Any) -> OnceSerializer:
    compatible = codec == "msgpack"
    return OnceSerializer(strict_config(compatible=compatible, compression="none", **settings))


VALUES: list[Any] = [
    Invoice(3),
    Line("a"),
    Colour.RED,
    Point(1),
    Model(name="n"),
    Page[int](items=[1]),
    Outer.Inner("a"),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_storable_class_is_written_and_read_under_strict_enforcement(value: Any) -> None:
    again = serde().loads_typed(serde().dumps_typed([value]))
    assert again == [value]
    assert type(again[0]) is type(value)


def test_exceptions_can_be_storable() -> None:
    again = serde().loads_typed(serde().dumps_typed({"error": ShopError(3)}))["error"]
    assert (type(again), again.args) == (ShopError, (3,))


def test_a_storable_class_in_rows_of_upstream_is_read() -> None:
    again = serde("msgpack").loads_typed(serde("msgpack").dumps_typed([Invoice(3), Colour.RED]))
    assert again == [Invoice(3), Colour.RED]


def test_a_subclass_is_not_storable() -> None:
    with pytest.raises(EncodeError, match="Credit"):
        serde().dumps_typed([Credit(3)])
    data = serde(enforcement="open").dumps_typed([Credit(3)])
    with pytest.raises(TypeNotAllowedError):
        serde().loads_typed(data)


def test_only_what_is_marked_is_listed_whatever_it_is_called() -> None:
    trust = Trust("strict")
    for path in ("Invoice", "Renamed", "Outer.Inner", "Outer.Alias"):
        assert trust.standing(trust.find(f"{HERE}:{path}")) is Standing.LISTED
    for path in ("Credit", "HERE", "Invoice.number", "Claiming", ""):
        with pytest.raises(TypeNotAllowedError):
            trust.find(f"{HERE}:{path}")


def test_a_module_that_is_not_imported_yet_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop_of_this_test.py").write_text(
        "from dataclasses import dataclass\nfrom langgraph_once import storable\n\n"
        "@storable\n@dataclass\nclass Invoice:\n    number: int\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("shop_of_this_test")
    rows = {codec: serde(codec).dumps_typed([module.Invoice(3)]) for codec in ("once2", "msgpack")}
    del sys.modules["shop_of_this_test"]
    for row in rows.values():
        with pytest.raises(TypeNotAllowedError, match=r"@storable.*import shop_of_this_test first"):
            serde().loads_typed(row)
    assert "shop_of_this_test" not in sys.modules
    importlib.import_module("shop_of_this_test")
    for row in rows.values():
        assert serde().loads_typed(row)[0].number == 3


class _Answering(type):
    """Claims to be marked, by code."""

    def __getattribute__(cls, name: str) -> Any:
        raise AssertionError("asked")


class Claiming(metaclass=_Answering):
    pass


def test_an_attribute_of_an_instance_is_no_mark() -> None:
    value = Credit(3)
    value.__dict__["__once_storable__"] = True
    with pytest.raises(EncodeError):
        serde().dumps_typed([value])


def test_only_classes_that_a_reader_finds_can_be_storable() -> None:
    with pytest.raises(TypeError, match="only a class"):
        storable(len)  # type: ignore[type-var]  # not a class
    with pytest.raises(TypeError, match="top of a module"):

        @storable
        class Local:
            pass
