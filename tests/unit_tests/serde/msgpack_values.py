"""Random values of many kinds, awkward ones above all, for tests against upstream."""

from __future__ import annotations

import functools
import ipaddress
import re
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, Flag, IntEnum, IntFlag, StrEnum, auto
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

import langchain_core.messages as lc
import numpy as np
import pydantic
import pydantic.v1
from hypothesis import strategies as st
from langchain_core.documents import Document
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.store.base import Item
from langgraph.types import Command, Interrupt, Overwrite, Send, TimeoutPolicy
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

NOW = datetime(2025, 3, 1, tzinfo=UTC)


class Shade(Enum):
    LIGHT = "light"
    PAIR = (1, [2])
    NESTED = {"a": date(2025, 1, 1)}  # noqa: RUF012


class Word(StrEnum):
    YES = "yes"


class Rank(IntEnum):
    LOW = 1


class Access(IntFlag):
    READ = 1
    WRITE = 2


class Mode(Flag):
    A = auto()
    B = auto()


class Answering(Enum):
    """Has an attribute that upstream asks for before it asks for the type."""

    ONE = 1

    def dict(self) -> dict[str, int]:
        return {"one": 1}


class Renamed(Enum):
    ONE = 1

    @property
    def value(self) -> Any:  # type: ignore[override]
        return "renamed"


class Text(str):
    __slots__ = ()


class Number(int):
    pass


class Mapping(dict[Any, Any]):
    pass


class Listing(list[Any]):
    pass


class Pair(NamedTuple):
    left: Any
    right: Any = None


class Bag(set[Any]):
    pass


@dataclass
class Plain:
    a: Any
    b: Any = None


@dataclass(slots=True, frozen=True, eq=False)
class Slotted:
    a: Any
    b: Any = 3


@dataclass
class Late(Plain):
    """Sets a field in another order, and one that is no field."""

    c: Any = field(init=False)

    def __post_init__(self) -> None:
        b = self.b
        del self.b
        self.c = 1
        self.b = b
        self.extra = 2


@dataclass
class LikeSend:
    node: Any
    arg: Any


@dataclass
class LikeModel:
    a: Any

    def dict(self) -> dict[str, Any]:
        return {"a": 0}


@dataclass
class HalfSend:
    node: Any


@dataclass
class Computed:
    a: Any

    @property
    def b(self) -> int:
        return 1

    @functools.cached_property
    def c(self) -> int:
        return 2


@dataclass
class Delegating:
    a: Any = 1

    def __getattr__(self, name: str) -> Any:
        if name == "_asdict":
            return lambda: {"a": 5}
        raise AttributeError(name)


class Leaf(BaseModel):
    x: Any = None
    when: datetime | None = None


class SubLeaf(Leaf):
    more: int = 1


class Tree(BaseModel):
    leaf: Leaf | None = None
    leaves: list[Leaf] = []
    by_name: dict[Any, Any] = {}
    child: Tree | None = None
    shade: Shade | None = None


class Info(TypedDict, total=False):
    a: int


class Typed(BaseModel):
    info: Any = None
    known: Info = {}


class Awkward(BaseModel):
    """A bit of everything that changes a dump."""

    model_config = ConfigDict(extra="allow", serialize_by_alias=True, populate_by_name=True)

    named: Any = Field(None, serialization_alias="other")
    hidden: Any = Field(None, exclude=True)
    secret: pydantic.SecretStr = pydantic.SecretStr("s")
    _private: int = 3
    constant: ClassVar[int] = 1

    @pydantic.computed_field  # type: ignore[prop-decorator]
    @property
    def twice(self) -> int:
        return 2


class Serializing(BaseModel):
    a: Any = 1

    @pydantic.field_serializer("a")
    def _a(self, value: Any) -> Any:
        return repr(value)


class WholeSerializing(BaseModel):
    a: Any = 1

    @pydantic.model_serializer
    def _whole(self) -> Any:
        return {"whole": self.a}


class Validating(BaseModel):
    a: Any = 1
    _seen: list[int] = pydantic.PrivateAttr(default_factory=list)

    @pydantic.field_validator("a", mode="before")
    @classmethod
    def _a(cls, value: Any) -> Any:
        return value

    @pydantic.model_validator(mode="after")
    def _after(self) -> Any:
        return self


class Caching(BaseModel):
    a: Any = 1

    @functools.cached_property
    def cached(self) -> int:
        return 7


class Extra(BaseModel):
    model_config = ConfigDict(extra="allow")

    a: Any = 1


class Dumping(BaseModel):
    a: Any = 1

    def model_dump(self, **_: Any) -> Any:  # type: ignore[override]
        return {"dumped": self.a}


class Aliased(BaseModel):
    model_config = ConfigDict(serialize_by_alias=True, populate_by_name=True)

    a: Any = Field(1, serialization_alias="b")


class Excluding(BaseModel):
    a: Any = Field(1, exclude=True)


class Deriving(BaseModel):
    a: Any = 1

    @pydantic.computed_field  # type: ignore[prop-decorator]
    @property
    def b(self) -> int:
        return 2


class Root(pydantic.RootModel[Any]):
    pass


class Day(date, Enum):
    FIRST = 2025, 1, 1


@dataclass
class Amount(Decimal):
    a: Any = 1


class Older(pydantic.v1.BaseModel):
    a: Any = 1


class MyMessage(lc.HumanMessage):
    """A subclass of a message, with a field of its own."""

    mine: Any = None


TEXT = st.text(max_size=4) | st.sampled_from(["type", "tool_calls", "content", "\ud800"])

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**65), 2**65),
    st.floats(),
    TEXT,
    st.binary(max_size=4),
    st.builds(Text, TEXT),
    st.builds(Number, st.integers(-9, 9)),
    st.datetimes(timezones=st.none() | st.just(UTC) | st.just(ZoneInfo("Europe/Berlin"))),
    st.dates(),
    st.times(),
    st.timedeltas(),
    st.uuids(),
    st.decimals(),
    st.ip_addresses(),
    st.sampled_from(
        [
            *(*Shade, *Word, *Rank, Access.READ | Access.WRITE, Access(8), Mode.A | Mode.B, Mode.A),
            *(Answering.ONE, Renamed.ONE, UTC, timezone(timedelta(hours=2), "x"), ZoneInfo("UTC")),
            *(Path("/a/b"), Path(), PurePosixPath("a"), re.compile("a", re.IGNORECASE)),
            *(ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_interface("::1/64")),
            *(bytearray(b"x"), memoryview(b"y"), ValueError("x"), KeyError(), int, len, object()),
            *(1j, range(3), ..., TimeoutPolicy(run_timeout=1), pydantic.SecretStr("s")),
            *(np.arange(3), np.arange(4).reshape(2, 2).T, np.float64(1.5), np.array("x"), iter("")),
            time(1, tzinfo=UTC, fold=1),
        ]
    ),
)

KEYS = st.one_of(
    TEXT,
    st.integers(0, 2),
    st.none(),
    st.booleans(),
    st.floats(),
    st.binary(max_size=1),
    st.builds(Text, TEXT),
    st.uuids(),
    st.dates(),
    st.sampled_from([*Word, *Rank, Shade.LIGHT, (1, "a"), Pair(1, 2), frozenset({1}), Decimal(1)]),
    st.sampled_from([(Shade.LIGHT, Text("x")), (UUID(int=1), NOW), (1, (2, Rank.LOW))]),
)


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    pairs = st.dictionaries(KEYS, inner, max_size=3)
    hashed = st.lists(SCALARS.filter(_hashable), max_size=3)
    return st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        pairs,
        *(hashed.map(cls) for cls in (set, frozenset, deque, Bag, Counter)),
        *(pairs.map(cls) for cls in (OrderedDict, Mapping)),
        pairs.map(lambda d: defaultdict(list, d)),
        st.lists(inner, max_size=3).map(Listing),
        *(st.builds(cls, inner, inner) for cls in (Plain, Slotted, Late, LikeSend, Pair)),
        *(st.builds(cls, inner) for cls in (HalfSend, LikeModel, Computed, Delegating)),
        st.builds(_touched, st.builds(Computed, inner)),
        *(st.builds(cls, a=inner) for cls in (Serializing, WholeSerializing, Validating, Dumping)),
        *(st.builds(cls, a=inner) for cls in (Extra, Caching, Older)),
        st.builds(Extra, a=inner, b=inner),
        st.builds(_touched, st.builds(Caching, a=inner)),
        st.builds(Root, inner),
        st.builds(Awkward, named=inner, hidden=inner, more=inner),
        st.builds(_trees, inner, inner, pairs),
        st.builds(lambda a, b: Typed.model_construct(info=a, known=b), inner, pairs),
        st.builds(lambda v: Leaf(x=v), inner),
        st.builds(Document, st.just("p"), metadata=pairs),
        st.builds(Send, st.just("n"), inner),
        st.builds(Send, st.just("n"), inner, timeout=st.just(TimeoutPolicy(run_timeout=1))),
        st.builds(Interrupt, inner),
        st.builds(Overwrite, inner),
        st.builds(lambda v: Command(update=v, goto=[Send("a", v)]), inner),
        st.builds(_DeltaSnapshot, inner),
        st.builds(_item, inner),
        messages(inner, pairs),
    )


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except (TypeError, ValueError):
        return False
    return True


def _touched(value: Any) -> Any:
    getattr(value, "c", None), getattr(value, "cached", None)
    return value


def _item(value: Any) -> Item:
    return Item(value={"v": value}, key="k", namespace=("n",), created_at=NOW, updated_at=NOW)


def _trees(one: Any, two: Any, pairs: dict[Any, Any]) -> Tree:
    leaf = Leaf(x=one, when=NOW)
    tree = Tree(leaf=leaf, leaves=[leaf, Leaf(x=two)], by_name=pairs, shade=Shade.LIGHT)
    tree.child = Tree(leaf=SubLeaf(x=one))
    tree.child.leaves = two
    return tree


@st.composite
def messages(draw: Any, inner: st.SearchStrategy[Any], pairs: st.SearchStrategy[Any]) -> Any:
    """A message of any kind, its fields as they come, right or wrong."""
    plain = draw(st.booleans())
    maybe = st.none() if plain else inner
    made = draw(
        st.sampled_from(
            [
                lc.HumanMessage("x"),
                lc.HumanMessageChunk(content=""),
                lc.SystemMessage("x", id="1"),
                lc.AIMessage("x"),
                lc.AIMessageChunk(content="x"),
                lc.ToolMessage("x", tool_call_id="c"),
                lc.ChatMessage(content="x", role="r"),
                lc.FunctionMessage(content="x", name="f"),
                lc.RemoveMessage("4"),
                MyMessage("x", mine=1),
                lc.HumanMessage("x", extra_field=Shade.LIGHT),
            ]
        )
    ).model_copy(deep=True)
    for name in draw(st.lists(st.sampled_from([*type(made).model_fields]), max_size=3)):
        made.__dict__[name] = draw(_FIELDS.get(name, maybe) if plain else inner)
    if draw(st.booleans()):
        made.additional_kwargs = draw(pairs)
    if not plain and draw(st.booleans()):
        made.__dict__.pop(draw(st.sampled_from([*made.__dict__])), None)
    return made


_CALLS = st.lists(
    st.fixed_dictionaries(
        {"name": TEXT, "args": st.dictionaries(KEYS, SCALARS, max_size=2), "id": st.none() | TEXT},
        optional={"type": st.just("tool_call"), "extras": SCALARS, 1: SCALARS},
    ),
    max_size=2,
)
_DETAILS = st.dictionaries(st.sampled_from(["audio", "cache_read", "other", 1]), st.integers(0, 9))
_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "content": TEXT | st.lists(TEXT | st.dictionaries(KEYS, SCALARS, max_size=2), max_size=2),
    "name": st.none() | TEXT,
    "id": st.none() | TEXT,
    "tool_calls": _CALLS,
    "usage_metadata": st.none()
    | st.fixed_dictionaries(
        dict.fromkeys(("input_tokens", "output_tokens", "total_tokens"), st.integers(0, 9)),
        optional={"input_token_details": _DETAILS, "output_token_details": _DETAILS, "x": SCALARS},
    ),
    "artifact": SCALARS,
}


def _altered(value: Any, **own: Any) -> Any:
    """Change what lies in an instance's dictionary, past its checks."""
    vars(value).update(own)
    return value


def _without(value: Any, name: str) -> Any:
    del vars(value)[name]
    return value


CALL = {"name": "f", "args": {1: 2}, "id": "c", "type": "tool_call"}

KINDS: list[Any] = [
    *(Plain(1, Plain(2)), Slotted(1), Late(1, 2), LikeSend("n", 1), LikeModel(1), HalfSend("n")),
    *(Computed(1), _touched(Computed(1)), Delegating(), Pair(1, [Pair(2)]), Day.FIRST, Amount()),
    *(
        _altered(Plain(1), node=1, arg=2),
        _altered(Plain(1), dict=dict),
        _altered(HalfSend(1), arg=2),
    ),
    *(_without(Plain(1), "a"), _altered(_without(Plain(1), "b"), c=2)),
    *(Leaf(x=1), SubLeaf(), Tree(leaf=Leaf()), Tree(leaf=SubLeaf()), Tree(child=Tree())),
    *(Tree(by_name={1: Leaf(x=SubLeaf())}), Tree(leaves=[Leaf(x={Leaf().x})]), Leaf(x=Plain(1))),
    *(
        Awkward(named=1, hidden=2, more=3),
        Aliased(),
        Excluding(),
        Deriving(),
        Caching(),
        Extra(b=1),
    ),
    *(
        _touched(Caching()),
        _altered(Leaf(), z=1),
        _without(Leaf(), "x"),
        Serializing(),
        Validating(),
    ),
    *(WholeSerializing(), Dumping(), Root([1]), Older(), [Leaf(x=Caching()), Leaf(x=Excluding())]),
    *(
        _touched(Leaf(x=_touched(Caching()))),
        Leaf(x=Aliased()),
        Leaf(x=Deriving()),
        Leaf(x=Root(1)),
    ),
    *(
        Leaf(x=_altered(Leaf(), z=1)),
        Leaf(x=Extra(b=1)),
        Leaf(x=WholeSerializing()),
        Leaf(x=(1, {2})),
    ),
    *(
        Leaf(x=Shade.LIGHT),
        Leaf(x=Pair(1)),
        Leaf(x={Word.YES: Rank.LOW}),
        Leaf(x=Mapping(a=Text("x"))),
    ),
    *(
        Typed.model_construct(known={"a": 1, "b": 2}),
        Typed(known={"a": 1}),
        Leaf(x=lc.AIMessage("x")),
    ),
    *(
        lc.HumanMessage("x", foo=1),
        MyMessage("x", mine=Leaf()),
        _without(lc.HumanMessage("x"), "id"),
    ),
    *(
        _altered(lc.AIMessage("x"), tool_calls=[CALL | {1: 2}]),
        lc.AIMessage("x", tool_calls=[CALL | {"args": {}}]),
    ),
    *(
        _altered(lc.AIMessage("x"), usage_metadata={1: 2}),
        _altered(lc.AIMessage("x"), tool_calls=5),
    ),
    lc.AIMessage("x", additional_kwargs={1: {2: NOW}, "deep": {"m": lc.HumanMessage("y")}}),
    *(*Shade, *Word, *Rank, Access(0), Access(3), Access(8), Access(16), Mode(0), ~Mode.A),
    *(Answering.ONE, Renamed.ONE, Bag([1]), Counter("aab"), bytearray(b"x"), {Shade.LIGHT: 1}),
]
"""One of each kind at least."""

VALUES = st.recursive(SCALARS, _containers, max_leaves=8)
"""Anything, much of which upstream cannot write."""
