"""Dataclasses, attrs classes and ordinary objects are their attributes, made without their code."""

from __future__ import annotations

import copyreg
import functools
import io
import operator
import re
import sqlite3
import string
import subprocess
import threading
import types
import weakref
from collections import ChainMap, UserDict, UserList
from dataclasses import InitVar, dataclass, field
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, Generic, TypeVar

import attrs
import pydantic.dataclasses
import pytest
from langgraph.store.base import Item
from langgraph.types import Interrupt, Send
from pydantic import Field, Secret

from langgraph_once import OnceSerializer, SerdeConfig
from langgraph_once.errors import EncodeError
from langgraph_once.serde import Opaque, OpaqueDict
from langgraph_once.serde.opaque import UnavailableError, UnwritableError
from langgraph_once.serde.plans.records import (
    ObjectForm,
    RecordForm,
    ReducedForm,
    is_subclass,
    layout,
)
from tests.unit_tests.serde.fidelity import object_kinds as o
from tests.unit_tests.serde.labels import label
from tests.unit_tests.serde.plans.forms import (
    assert_comes_back,
    back,
    each,
    make,
    moved,
    name_of,
    shown,
    stock_shown,
    take,
)

T = TypeVar("T")
NOW = datetime(2026, 1, 2, tzinfo=UTC)


@dataclass
class Plain:
    name: str
    tags: list[str] = field(default_factory=list)


@dataclass
class Child(Plain):
    more: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    name: str
    limit: float = 1.0


@dataclass
class Counting:
    """Each time that it is constructed, it counts on."""

    count: int
    width: int = field(init=False)
    late: int = field(init=False)
    start: InitVar[int] = 0

    def __post_init__(self, start: int) -> None:
        self.count += 1
        self.width = start

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


@dataclass
class Cached:
    n: int

    @functools.cached_property
    def double(self) -> int:
        return self.n * 2


@dataclass
class Box(Generic[T]):
    content: T


@dataclass
class Asking:
    name: str

    def __getattribute__(self, name: str) -> Any:
        if name == "__dict__":
            raise AssertionError
        return object.__getattribute__(self, name)


@attrs.define
class Ship:
    name: str
    crew: list[str] = attrs.field(factory=list)


@attrs.frozen(cache_hash=True)
class Coin:
    value: int


def _more(logs: int) -> int:
    return logs + 1


@attrs.define(slots=False)
class Raft:
    logs: int = attrs.field(converter=_more)


@pydantic.dataclasses.dataclass
class Checked:
    count: int
    tags: list[str] = Field(default_factory=lambda: ["new"])


def with_attributes(value: Any, **attributes: Any) -> Any:
    for name, attribute in attributes.items():
        object.__setattr__(value, name, attribute)
    return value


def cached() -> Cached:
    made = Cached(2)
    assert made.double == 4
    return made


def hashed() -> Coin:
    made = Coin(3)
    hash(made)
    return made


RECORDS: dict[str, Any] = {
    "plain": Plain("a", ["b"]),
    "nested": Plain("a", [Child("b", more=(Sealed(name="c"), {1}))]),  # type: ignore[list-item]  # any value will do
    "frozen, slots": Sealed(name="a", limit=2),
    "changed by __post_init__, with a field unset": Counting(3, 4),
    "generic": Box((1, 2)),
    "with an attribute": with_attributes(Plain("a"), later=[1]),
    "with a cached property": cached(),
    "attrs": Ship("a", ["b"]),
    "attrs, with a cached hash": hashed(),
    "attrs, with a converter": Raft(1),
    "of pydantic": Checked(1),
}
OBJECTS: dict[str, Any] = {
    "object": o.Basket(1, (2,), {3}),
    "subclass": o.GiftBasket(1, note="n"),
    "with a slot unset": o.Slotted([1]),
    "with slots and a dict": with_attributes(o.SlottedChild(1), extra=(2,)),
    "of an abstract class": o.Square(2.0),
    "of a nested class": o.Outer.Inner(),
    "that hides a method": o.Hiding(),
    "as a key": {o.Keyed("a"): 1},
    "SimpleNamespace": SimpleNamespace(a=1, b=SimpleNamespace(c=(2,))),
    "Template": string.Template("$a"),
    "UserDict": UserDict({"a": (1,), 2: "b"}),
    "UserList": UserList([1, (2,)]),
    "UserString": o.Title("t"),
    "ChainMap": ChainMap({"a": 1}, {"b": 2}),
    "Secret": Secret("s"),
    "Send": Send("node", {"a": (1,)}),
    "Interrupt": Interrupt(value=(1,), id="i"),
}


@pytest.mark.parametrize("value", [*RECORDS.values()], ids=[*RECORDS])
def test_a_record_comes_back_as_it_was(value: Any) -> None:
    assert_comes_back(value)


@pytest.mark.parametrize("value", [*OBJECTS.values()], ids=[*OBJECTS])
def test_an_object_comes_back_as_it_was(value: Any) -> None:
    assert_comes_back(value)


def test_an_object_may_contain_itself() -> None:
    basket = o.Basket(1)
    basket.items.append(basket)
    again = back(basket)
    assert again.items[1] is again


@pytest.mark.parametrize(
    "value",
    [
        *(Plain("a", ["b"]), Sealed(name="a", limit=2.0), Checked(1), Interrupt("v", id="i")),
        Item(value={"a": 1}, key="k", namespace=("n",), created_at=NOW, updated_at=NOW),
    ],
    ids=label,
)
def test_without_its_class_it_is_what_langgraph_hands_on(value: Any) -> None:
    found = shown(value)
    assert isinstance(found, OpaqueDict)
    if not isinstance(value, (Interrupt, Item)):  # LangGraph knows these
        assert found == stock_shown(value)


def test_what_is_asked_for_an_attribute_is_not_asked() -> None:
    assert [each.name for each in back([Asking("a"), Asking("b")])] == ["a", "b"]


def test_cached_properties_and_hashes_are_not_stored() -> None:
    assert take(cached()) == {"n": 2}
    assert take(hashed())["_attrs_cached_hash"] is None


@dataclass
class Learned:
    """What `Plain` became."""

    name: str
    added: dict[str, int] = field(default_factory=lambda: {"a": 1})
    number: int = 7


@dataclass(slots=True)
class Demanding:
    """What `Plain` became, with a field that older rows do not have."""

    name: str
    must: int


@dataclass(slots=True)
class Narrow:
    name: str


@pydantic.dataclasses.dataclass
class CheckedLater:
    count: int
    added: int = Field(default=5)


def test_new_fields_get_their_defaults_and_lost_ones_stay_attributes() -> None:
    found = moved(Plain("a", ["b"]), Learned)
    assert vars(found) == {"name": "a", "tags": ["b"], "added": {"a": 1}, "number": 7}
    assert moved(Plain("a"), Learned).added is not found.added
    assert moved(Checked(1), CheckedLater).added == 5


@pytest.mark.parametrize("cls", [Demanding, Narrow])
def test_what_does_not_fit_its_class_any_more_is_a_dictionary_as_with_langgraph(cls: type) -> None:
    found = moved(Plain("a", ["b"]), cls)
    assert (type(found), found) == (OpaqueDict, {"name": "a", "tags": ["b"]})


def test_a_field_that_was_deleted_stays_so() -> None:
    value = Plain("a")
    del value.tags
    assert vars(back([value])[0]) == {"name": "a"}
    assert shown(value) == {"name": "a"}


def test_an_attrs_default_that_is_made_of_the_object_is_none_for_older_rows() -> None:
    @attrs.define
    class Own:
        a: int
        b: int = attrs.Factory(lambda self: self.a, takes_self=True)

    with pytest.raises(UnavailableError, match="'b'"):
        make(Own, {"a": 1})


class Registered:
    pass


class Showing:
    """Shows attributes of its own making."""

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]  # that is what is tested
        raise AssertionError


@pytest.mark.parametrize(
    "cls",
    [
        *(object, type(None), type, o.Meta, types.ModuleType, types.FunctionType, int, dict),
        *(types.GeneratorType, types.CodeType, type(threading.Lock()), threading.local),
        *(type(re.match("a", "a")), functools.partial, operator.itemgetter, weakref.ref),
        *(io.BytesIO, sqlite3.Connection, sqlite3.Row, subprocess.Popen),
        *(o.Reduced, o.Stateful, o.Restored, o.Remade, o.Closing),
    ],
    ids=lambda cls: cls.__qualname__,
)
def test_what_is_more_than_its_attributes_is_no_ordinary_object(cls: type) -> None:
    assert not ObjectForm().matches(cls)
    assert not RecordForm().matches(cls)


def test_an_object_that_copyreg_knows_is_no_ordinary_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ObjectForm().matches(Registered)
    monkeypatch.setitem(copyreg.dispatch_table, Registered, lambda _: (Registered, ()))
    assert not ObjectForm().matches(Registered)


def test_attributes_of_its_own_making_are_not_asked_for() -> None:
    with pytest.raises(UnwritableError):
        layout(Showing)


class SlotTwice(o.Slotted):
    __slots__ = ("left",)


def test_a_slot_that_is_declared_twice_cannot_be_taken() -> None:
    with pytest.raises(UnwritableError, match="'left' twice"):
        take(SlotTwice(1))


@pytest.mark.parametrize(
    ("cls", "base", "expected"),
    [
        *((Plain, object, True), (Sealed, object, True), (o.Space, SimpleNamespace, True)),
        *((o.Space, object, False), (KeyError, object, False), (dict, object, False)),
        (Plain, SimpleNamespace, False),
    ],
)
def test_data_that_c_keeps_are_not_those_of_a_python_class(
    cls: type, base: type, expected: bool
) -> None:
    assert is_subclass(cls, base) is expected


@pytest.mark.parametrize(
    ("cls", "data"),
    [
        *each(Plain, [], "a", None, {1: 2}, [{}], [{}, "a"], [[], []]),
        *each(o.Basket, [], {b"a": 1}),
    ],
    ids=label,
)
def test_data_of_another_shape_are_refused(cls: type, data: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        make(cls, data)


class Called:
    """Is made by a call, as `__reduce__` says."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls = [name]

    def __reduce__(self) -> Any:
        return type(self), (self.name,), {"note": getattr(self, "note", None)}


class Stateful:
    def __getstate__(self) -> Any:
        return {"n": self.n, "lock": None}

    def __setstate__(self, state: Any) -> None:
        self.n, self.lock = state["n"], "new"

    def __init__(self) -> None:
        self.n, self.lock = 1, threading.Lock()  # type: ignore[assignment]  # what it was


class DictLike(Called):
    """LangGraph writes what `dict` returns, and calls the class with that."""

    def dict(self) -> Any:
        return {"name": self.name}


def test_what_langgraph_can_write_is_not_reduced() -> None:
    assert not ReducedForm().matches(DictLike)
    assert shown(DictLike("a")) == {"name": "a"}


def listed(*classes: type) -> OnceSerializer:
    return OnceSerializer(SerdeConfig(allowed_types=tuple(map(name_of, classes))))


def test_what_a_call_of_its_class_makes_is_called_if_the_class_is_listed() -> None:
    serde = listed(Called, Stateful)
    called, stateful = serde.loads_typed(
        serde.dumps_typed([with_attributes(Called("a"), note=(1,)), Stateful()])
    )
    assert (called.calls, called.note) == (["a"], (1,))
    assert (stateful.n, stateful.lock) == (1, "new")
    assert ReducedForm.calls


def test_what_a_call_of_its_class_makes_is_opaque_if_it_is_not() -> None:
    found = back([Called("a")])
    assert type(found[0]) is Opaque
    again = listed(Called)
    assert again.loads_typed(again.dumps_typed(found))[0].name == "a"


def test_an_attribute_that_no_code_can_name_is_not_taken() -> None:
    made = o.Basket(1)
    made.__dict__[3] = 4  # type: ignore[index]  # as is tested
    with pytest.raises(UnwritableError, match="name is not text"):
        take(made)


def test_a_struct_is_its_fields_and_nothing_else() -> None:
    msgspec = pytest.importorskip("msgspec")
    fields = [("number", int)]
    with pytest.raises(UnwritableError, match="more than its fields"):
        take(msgspec.defstruct("Open", fields, dict=True)(1))
    struct = msgspec.defstruct("Struct", fields)
    assert make(struct, take(struct(1))) == struct(1)
    with pytest.raises(UnavailableError, match="other fields"):
        make(struct, {"count": 1})


@pytest.mark.parametrize("value", [operator.itemgetter, o.Basket(1).items.append], ids=label)
def test_what_something_else_makes_is_refused(value: Any) -> None:
    class Odd:
        def __reduce__(self) -> Any:
            return value, (1,)

    class Broken:
        def __reduce__(self) -> Any:
            raise KeyError("secret")

    for made in (Odd(), Broken()):
        with pytest.raises(UnwritableError) as caught:
            take(made)
        assert "secret" not in str(caught.value)


def test_an_attribute_that_cannot_be_written_is_named() -> None:
    with pytest.raises(EncodeError) as caught:
        back({"a": o.Basket(1, threading.Lock())})
    assert caught.value.path == "[key 0].items[1]"
