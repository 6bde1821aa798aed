"""What is derived from built-in types comes back whole, or as LangGraph leaves it."""

from __future__ import annotations

import collections
import enum
import functools
import ipaddress
import pathlib
import re
import sys
import threading
import time as time_module
import uuid
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import pytest
from dateutil import tz  # type: ignore[import-untyped]  # has no types

from langgraph_once import OnceSerializer, SerdeConfig
from langgraph_once.serde import Opaque, OpaqueDict, OpaqueInt, OpaqueStr
from langgraph_once.serde.opaque import UnavailableError, UnwritableError
from langgraph_once.serde.plans.builtin import DerivedForm
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


class Colour(enum.Enum):
    RED = "red"
    GREEN = (0, 128, 0)
    CRIMSON = "red"  # noqa: PIE796  # an alias


class Settings(enum.Enum):
    """Its values cannot be hashed."""

    SMALL = {"size": [1, (2, 3)]}  # noqa: RUF012  # a member


class Names(enum.StrEnum):
    fast = "fast"


class Level(enum.IntEnum):
    HIGH = 3


class OldMode(str, enum.Enum):  # noqa: UP042  # as it was written before StrEnum
    FAST = "f"


class Operation(enum.Enum):
    ADD = functools.partial(max, 1)


class Holding(enum.Enum):
    OBJECT = threading.Lock


class Access(enum.Flag):
    READ = enum.auto()
    WRITE = enum.auto()
    BOTH = READ | WRITE


class Bits(enum.IntFlag):
    ONE = 1
    FOUR = 4


class Outer:
    class Inner(enum.Enum):
        ONE = 1


ENUMS = [
    *(*Colour, Colour.CRIMSON, *Names, *Level, *OldMode, *Operation, *Holding, *Access, *Bits),
    *(Access(0), ~Access.READ, Bits(5), Bits(129), Outer.Inner.ONE, re.IGNORECASE | re.MULTILINE),
]


@pytest.mark.parametrize("member", ENUMS, ids=repr)
def test_a_member_comes_back_as_itself(member: Any) -> None:
    (again, twice) = back([member, member])
    assert again is twice is member
    assert back({member: 1}) == {member: 1}


@pytest.mark.parametrize(
    ("member", "data"),
    [
        *((Names.fast, "fast"), (Colour.RED, ["RED", "red"]), (Bits(5), [None, 5])),
        *((Holding.OBJECT, ["OBJECT"]), (Access.BOTH, ["BOTH", 3])),
        (Settings.SMALL, ["SMALL", {"size": [1, (2, 3)]}]),
    ],
    ids=repr,
)
def test_the_data_are_the_name_and_the_value_where_it_is_another(member: Any, data: Any) -> None:
    assert take(member) == data


def test_what_others_have_made_into_what_it_is_not_is_no_more_than_langgraph_writes() -> None:
    stray = object.__new__(Colour)
    stray._name_, stray._value_ = "BLUE", 7
    with pytest.raises(UnwritableError, match="does not have"):
        take(stray)
    assert back([stray]) == [7]
    longer = tuple.__new__(Point, (1, 2, 3))
    with pytest.raises(UnwritableError, match="another number of items"):
        take(longer)


@pytest.mark.parametrize("member", [*Colour, *Names, *Level, *OldMode, Bits(5)], ids=repr)
def test_without_its_class_a_member_is_its_value_as_with_langgraph(member: Any) -> None:
    found = shown(member)
    assert found == stock_shown(member)
    assert type(found) in (OpaqueStr, OpaqueInt) or isinstance(found, (list, tuple))


class Recoloured(enum.Enum):
    SCARLET = "red"
    GREEN = "changed"
    OTHER = "other"

    @classmethod
    def _missing_(cls, value: object) -> Any:
        return cls.OTHER if value == "fast" else None


def test_a_member_with_another_name_is_found_by_its_value_as_with_langgraph() -> None:
    assert moved(Colour.RED, Recoloured) is Recoloured.SCARLET
    assert moved(Colour.GREEN, Recoloured) is Recoloured.GREEN
    assert moved(Names.fast, Recoloured) is Recoloured.OTHER
    assert moved(OldMode.FAST, Recoloured) == "f"
    assert moved(Bits(5), Recoloured) == 5


@pytest.mark.parametrize("data", [None, 3, [], {}, [None], ["?"], ["?", []], ["?", 7, 7]], ids=str)
def test_data_that_are_no_member_make_none(data: Any) -> None:
    with pytest.raises(ValueError):
        make(Colour, data)


class Point(NamedTuple):
    x: int
    y: Any = None


Pair = collections.namedtuple("Pair", "left right")  # noqa: PYI024  # the old way is meant


class LongPoint(Point):
    """Takes attributes."""


class Wider(NamedTuple):
    x: int
    z: int = 9
    y: Any = 8


class Demanding(NamedTuple):
    x: int
    must: int


def with_attributes(value: Any, **attributes: Any) -> Any:
    vars(value).update(attributes)
    return value


TUPLES = [
    *(Point(1, [2]), Pair((1,), None), Point(1, Point(2, {3})), LongPoint(1, 2)),
    with_attributes(LongPoint(1, 2), note="n"),
]


@pytest.mark.parametrize("value", TUPLES, ids=label)
def test_a_named_tuple_comes_back_as_it_was(value: Any) -> None:
    assert_comes_back(value)
    assert_comes_back({value: 1} if type(value) is LongPoint else [value])


def test_without_its_class_a_named_tuple_is_a_dictionary_as_with_langgraph() -> None:
    for value in (Point(1, [2]), with_attributes(LongPoint(1, 2), note="n")):
        found = shown(value)
        assert (type(found), found) == (OpaqueDict, stock_shown(value))
    made: Any = collections.namedtuple("made", "a b")  # noqa: PYI024  # as above
    assert back([made(1, 2)]) == [{"a": 1, "b": 2}]


def test_items_go_where_the_fields_are_today() -> None:
    assert moved(Point(1, 2), Wider) == Wider(x=1, y=2, z=9)
    assert moved(Point(1, 2), Demanding) == {"x": 1, "y": 2}


class Text(str):
    page: Any


class Slug(str):
    __slots__ = ()


class Number(int):
    pass


class Ratio(float):
    pass


class Blob(bytes):
    pass


class Phase(complex):
    pass


class Rows(list[Any]):
    pass


class Table(dict[Any, Any]):
    pass


class Itself(dict[str, Any]):
    """Its items are its attributes."""

    def __init__(self, **items: Any) -> None:
        super().__init__(items)
        self.__dict__ = self


class Triple(tuple[Any, ...]):
    pass


class Some(set[Any]):
    pass


class Frozen(frozenset[Any]):
    pass


class Log(deque[Any]):
    pass


class Counts(Counter[Any]):
    pass


class Groups(defaultdict[Any, Any]):
    pass


class Sorted(OrderedDict[Any, Any]):
    pass


class Buffer(bytearray):
    pass


class Shouting(dict[str, Any]):
    """Overrides what a naive reader would call."""

    def __init__(self) -> None:
        raise AssertionError

    def __setitem__(self, key: str, value: Any) -> None:
        raise AssertionError

    def __iter__(self) -> Any:
        raise AssertionError


def shouting() -> Shouting:
    made = Shouting.__new__(Shouting)
    dict.update(made, low=1)
    return made


def ordered() -> OrderedDict[str, int]:
    made = OrderedDict(a=1, b=2)
    made.move_to_end("a")
    return made


CONTAINERS: dict[str, Any] = {
    "OrderedDict": ordered(),
    "Counter": Counter("abca"),
    "defaultdict": defaultdict(list, a=[1]),
    "defaultdict without factory": defaultdict(None, a=1),
    "deque": deque([1, [2]], maxlen=3),
    "deque without room": deque(maxlen=0),
    "str": Slug("a"),
    "str with attributes": with_attributes(Text("a"), page={"n": (1,)}),
    "int": Number(2**80),
    "float": Ratio(0.5),
    "bytes": Blob(b"a"),
    "complex": Phase(1, 2),
    "list with attributes": with_attributes(Rows([1, (2,)]), source="s"),
    "dict with attributes": with_attributes(Table({1: "a"}), source="s"),
    "dict with its own methods": shouting(),
    "tuple with attributes": with_attributes(Triple((1, [2])), note="n"),
    "set": Some({1, 2}),
    "frozenset": Frozen({(1,)}),
    "deque, derived": Log([1], maxlen=2),
    "Counter, derived": with_attributes(Counts("aba"), note="n"),
    "defaultdict, derived": Groups(list, {1: [2]}),
    "OrderedDict, derived": Sorted(b=1, a=2),
    "bytearray": Buffer(b"ab"),
    "as a key": {Slug("a"): 1},
}


@pytest.mark.parametrize("value", [*CONTAINERS.values()], ids=[*CONTAINERS])
def test_a_derived_value_comes_back_as_it_was(value: Any) -> None:
    assert_comes_back(value)


def test_a_container_may_contain_itself() -> None:
    rows = with_attributes(Rows([1]), me=[])
    rows.me.append(rows)
    rows.append(rows)
    again = back(rows)
    assert again[1] is again
    assert again.me[0] is again


def test_a_dictionary_that_is_its_own_attributes_stays_so() -> None:
    again = back([Itself(a=1)])[0]
    again.b = 2
    assert (type(again), again, vars(again) is again) == (Itself, {"a": 1, "b": 2}, True)


class Moment(datetime):
    @property
    def year(self) -> int:
        raise AssertionError


class Day(date):
    pass


class Clock(time):
    pass


class Span(timedelta):
    pass


class Money(Decimal):
    def __str__(self) -> str:
        raise AssertionError


class Share(Fraction):
    pass


class Key(uuid.UUID):
    pass


class Zone(ZoneInfo):
    pass


class File(type(pathlib.Path())):  # type: ignore[misc]  # Python 3.11 takes no other base
    def __init__(self, *args: Any) -> None:
        if sys.version_info >= (3, 12):  # before, `__new__` took them
            super().__init__(*args)
        self.note = "new"


class Pure(pathlib.PurePosixPath):
    __slots__ = ("note",)


class Address(ipaddress.IPv4Address):
    pass


class Net(ipaddress.IPv4Network):
    pass


class Interface(ipaddress.IPv6Interface):
    pass


VALUES: dict[str, Any] = {
    "datetime": with_attributes(Moment(2026, 1, 2, tzinfo=UTC, fold=1), note="n"),
    "datetime with a zone": Moment(2026, 7, 2, tzinfo=ZoneInfo("Europe/Berlin")),
    "datetime with a derived zone": Moment(2026, 7, 2, tzinfo=Zone("Europe/Berlin")),
    "date": Day(2026, 1, 2),
    "time": Clock(1, 2, tzinfo=UTC),
    "timedelta": with_attributes(Span(days=-1, microseconds=3), note="n"),
    "Decimal": Money("1.50"),
    "Fraction": with_attributes(Share(1, 3), note="n"),
    "UUID": Key(int=5),
    "ZoneInfo": Zone("Europe/Berlin"),
    "Path": File("a", "b"),
    "PurePath": Pure("/a"),
    "IPv4Address": with_attributes(Address("10.0.0.1"), note="n"),
    "IPv4Network": with_attributes(Net("10.0.0.0/8"), note="n"),
    "IPv4Network of one": Net("10.0.0.1/32"),
    "IPv6Interface": Interface("fe80::1%1/64"),
}


@pytest.mark.parametrize("value", [*VALUES.values()], ids=[*VALUES])
def test_a_derived_date_or_number_comes_back_as_it_was(value: Any) -> None:
    (again,) = back([value])
    assert (type(again), getattr(again, "note", None)) == (
        type(value),
        getattr(value, "note", None),
    )
    base = DerivedForm().extra(value)[0]
    assert take(again) == take(value)
    assert base != type(value).__name__
    if not isinstance(value, ZoneInfo):
        assert again == value


@pytest.mark.parametrize(
    "value",
    [
        *(Slug("a"), Number(3), Rows([1]), Table({"a": 1}), Some({1}), Log([1]), Counter("a")),
        *(defaultdict(list, a=[1]), OrderedDict(a=1), with_attributes(Text("a"), page=1)),
        *(with_attributes(Some({1}), note=1), Day(2026, 1, 2), Clock(1, 2), Span(days=1)),
        *(Key(int=5), Zone("Europe/Berlin"), File("a", "b"), Address("10.0.0.1")),
        *(Net("10.0.0.0/8"), Interface("::1/64"), Triple((1,))),
    ],
    ids=lambda value: type(value).__name__,
)
def test_without_its_class_it_is_what_langgraph_hands_on(value: Any) -> None:
    if isinstance(value, Triple):  # LangGraph writes none
        assert shown(value) == [1]
    else:
        assert shown(value) == stock_shown(value)


def test_a_derived_date_with_a_foreign_zone_gets_its_offset() -> None:
    value = Moment(2026, 7, 2, tzinfo=tz.gettz("Europe/Berlin"))
    (again,) = back([value])
    assert (type(again), again.utcoffset()) == (Moment, timedelta(hours=2))
    assert again == value


class Pickled(str):
    """Says that it is more than a text with attributes, as the texts of BeautifulSoup do."""

    def __getnewargs__(self) -> Any:
        return (str(self),)


class PickledRows(list[Any]):
    def __reduce__(self) -> Any:
        raise AssertionError


def test_what_has_its_own_way_to_be_pickled_is_what_langgraph_leaves() -> None:
    value = with_attributes(Pickled("a"), page=threading.Lock())
    assert back([value, PickledRows([1])]) == ["a", [1]]
    for one in (value, time_module.gmtime(0)):
        with pytest.raises(UnwritableError):
            take(one)


class NowRows(list[Any]):
    """What `Table` became."""


def test_a_class_of_another_base_is_another_kind_of_class() -> None:
    assert moved(Table({"a": 1}), NowRows) == {"a": 1}
    with pytest.raises(UnavailableError):
        make(NowRows, {"a": 1}, "dict", 0)


EXTRAS: list[Any] = [(), ("list",), ("list", 0, 1), (["list"], 0), (0, 0)]
NAMES: list[Any] = [(), (["x"],), ([1, 2],), (["x", "y"], True)]


@pytest.mark.parametrize(
    ("cls", "data", "extra"),
    [
        *each(Rows, {}, "a", None, (1,), extra=("list", 0)),
        *each(Rows, [], [[1]], [[1], []], [{}, {}], extra=("list", 1)),
        *((Rows, [], extra) for extra in EXTRAS),
        *each(Text, b"a", ["a"], 3, extra=("str", 0)),
        *each(Log, [], [[1, 2], 1], [[1], "a"], [[1], -1], extra=("deque", 0)),
        *each(Groups, {}, [{}, 3], [[], None], extra=("defaultdict", 0)),
        *each(Moment, ["a"], "2026", date(2026, 1, 1), extra=("datetime", 0)),
        *each(Net, "10.0.0.0/8", 3, extra=("IPv4Network", 0)),
        *each(Point, [], [1], [1, 2, 3], {"x": 1, "y": 2}, extra=(["x", "y"],)),
        *((Point, [1, 2], extra) for extra in NAMES),
        *each(functools.partial, [], [max, (), {}], [max, [], {}, {}], extra=()),
        (functools.partial, [max, (), {1: 2}, {}], ()),
    ],
    ids=label,
)
def test_data_of_another_shape_are_refused(cls: type, data: Any, extra: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        make(cls, data, *extra)


def greet(greeting: str, name: str = "you") -> str:
    return f"{greeting}, {name}"


def test_a_partial_comes_back_with_what_it_holds() -> None:
    serde = OnceSerializer(SerdeConfig(allowed_types=(f"{__name__}:greet", "builtins:max")))
    inner = with_attributes(functools.partial(greet, "hello"), note=(1,))
    value = [functools.partial(inner, name="me"), functools.partial(max, 1)]
    again: list[Callable[..., Any]] = serde.loads_typed(serde.dumps_typed(value))
    assert (again[0](), again[1](0)) == ("hello, me", 1)
    assert vars(again[0].func) == {"note": (1,)}  # type: ignore[attr-defined]  # of a partial


def test_a_partial_of_a_function_that_may_not_be_loaded_is_opaque() -> None:
    found = back([functools.partial(greet, "hello"), defaultdict(functools.partial(greet, "a"))])
    assert type(found[0]) is Opaque
    assert found[1] == {}
    assert name_of(functools.partial) == found[0].type_name
