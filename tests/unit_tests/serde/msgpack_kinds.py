"""One value of each kind at least, awkward ones above all."""

from __future__ import annotations

from collections import Counter
from typing import Any

import langchain_core.messages as lc
import numpy as np
from langgraph.store.base import Item

from .msgpack_classes import (
    NOW,
    Access,
    Amount,
    Answering,
    Bag,
    Computed,
    Day,
    Delegating,
    HalfSend,
    Late,
    LikeModel,
    LikeSend,
    Mapping,
    Mode,
    Pair,
    Plain,
    Rank,
    Renamed,
    Shade,
    Slotted,
    Text,
    Word,
)
from .msgpack_models import (
    Aliased,
    Awkward,
    Caching,
    Deriving,
    Dumping,
    Excluding,
    Extra,
    Leaf,
    MyMessage,
    Older,
    Root,
    Serializing,
    SubLeaf,
    Tree,
    Typed,
    Validating,
    WholeSerializing,
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
