"""One value of each kind, and random values of many kinds, for tests against upstream."""

from __future__ import annotations

import ipaddress
import re
from collections import Counter, OrderedDict, defaultdict, deque
from datetime import UTC, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Any
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

from tests.unit_tests.serde.msgpack_classes import (
    NOW,
    Access,
    Aliased,
    Amount,
    Answering,
    Awkward,
    Bag,
    Caching,
    Computed,
    Day,
    Delegating,
    Deriving,
    Dumping,
    Excluding,
    Extra,
    HalfSend,
    Late,
    Leaf,
    LikeModel,
    LikeSend,
    Listing,
    Mapping,
    Mode,
    MyMessage,
    Number,
    Older,
    Pair,
    Plain,
    Rank,
    Renamed,
    Root,
    Serializing,
    Shade,
    Slotted,
    SubLeaf,
    Text,
    Tree,
    Typed,
    Validating,
    WholeSerializing,
    Word,
)


def touched(value: Any) -> Any:
    getattr(value, "c", None), getattr(value, "cached", None)
    return value


def item(value: Any) -> Item:
    return Item(value={"v": value}, key="k", namespace=("n",), created_at=NOW, updated_at=NOW)


def trees(one: Any, two: Any, pairs: dict[Any, Any]) -> Tree:
    leaf = Leaf(x=one, when=NOW)
    tree = Tree(leaf=leaf, leaves=[leaf, Leaf(x=two)], by_name=pairs, shade=Shade.LIGHT)
    tree.child = Tree(leaf=SubLeaf(x=one))
    tree.child.leaves = two
    return tree


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
    *(Computed(1), touched(Computed(1)), Delegating(), Pair(1, [Pair(2)]), Day.FIRST, Amount()),
    *(
        _altered(Plain(1), node=1, arg=2),
        _altered(Plain(1), dict=dict),
        _altered(HalfSend(1), arg=2),
    ),
    *(_without(Plain(1), "a"), _altered(_without(Plain(1), "b"), c=2)),
    *(Leaf(x=1), SubLeaf(), Tree(leaf=Leaf()), Tree(leaf=SubLeaf()), Tree(child=Tree())),
    *(Tree(by_name={1: Leaf(x=SubLeaf())}), Tree(leaves=[Leaf(x={Leaf().x})]), Leaf(x=Plain(1))),
    *(
        Awkward.model_validate({"named": 1, "hidden": 2, "more": 3}),
        Aliased(a=1),
        Excluding(a=1),
        Deriving(),
        Caching(),
        Extra.model_validate({"b": 1}),
    ),
    *(
        _without(touched(Caching()), "a"),
        touched(Caching()),
        _altered(Leaf(), z=1),
        _without(Leaf(), "x"),
        Serializing(),
        Validating(),
    ),
    *(
        WholeSerializing(),
        Dumping(),
        Root([1]),
        Older(),
        [Leaf(x=Caching()), Leaf(x=Excluding(a=1))],
    ),
    *(
        touched(Leaf(x=touched(Caching()))),
        Leaf(x=Aliased(a=1)),
        Leaf(x=Deriving()),
        Leaf(x=Root(1)),
    ),
    *(
        Leaf(x=_altered(Leaf(), z=1)),
        Leaf(x=Extra.model_validate({"b": 1})),
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
        MyMessage(content="x", mine=Leaf()),
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
    *(np.arange(3), np.arange(6).reshape(2, 3).T, np.arange(6)[::2], np.zeros((0, 2)), np.array(1)),
    *(np.array(["a", 1], dtype=object), np.array(["2025"], dtype="M8[D]")),
    *(np.arange(size, dtype="u1") for size in (65_535, 65_536, 70_000)),
    *(
        np.zeros((300, 200)).T,
        np.array(["ab"] * 20_000, dtype=object),
        np.zeros(9000, dtype="M8[s]"),
    ),
    *(np.zeros((100, 100), dtype="M8[s]").T, np.zeros((99, 99), dtype="i1,f8")[::2]),
    *(np.arange(3, dtype=">i4"), np.array([True]), np.float32(1), np.ma.array([1])),
    *(Answering.ONE, Renamed.ONE, Bag([1]), Counter("aab"), bytearray(b"x"), {Shade.LIGHT: 1}),
]
"""One of each kind at least."""


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
        st.builds(touched, st.builds(Computed, inner)),
        *(st.builds(cls, a=inner) for cls in (Serializing, WholeSerializing, Validating, Dumping)),
        *(st.builds(cls, a=inner) for cls in (Extra, Caching, Older)),
        st.builds(Extra, a=inner, b=inner),
        st.builds(touched, st.builds(Caching, a=inner)),
        st.builds(Root, inner),
        st.builds(Awkward, named=inner, hidden=inner, more=inner),
        st.builds(trees, inner, inner, pairs),
        st.builds(lambda a, b: Typed.model_construct(info=a, known=b), inner, pairs),
        st.builds(lambda v: Leaf(x=v), inner),
        st.builds(Document, st.just("p"), metadata=pairs),
        st.builds(Send, st.just("n"), inner),
        st.builds(Send, st.just("n"), inner, timeout=st.just(TimeoutPolicy(run_timeout=1))),
        st.builds(Interrupt, inner),
        st.builds(Overwrite, inner),
        st.builds(lambda v: Command(update=v, goto=[Send("a", v)]), inner),
        st.builds(_DeltaSnapshot, inner),
        st.builds(item, inner),
        messages(inner, pairs),
    )


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except (TypeError, ValueError):
        return False
    return True


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
                MyMessage(content="x", mine=1),
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


VALUES = st.recursive(SCALARS, _containers, max_leaves=8)
"""Anything, much of which upstream cannot write."""
