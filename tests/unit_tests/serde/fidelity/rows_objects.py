"""The fidelity table: objects of ordinary classes, and what the standard library makes of them."""

from __future__ import annotations

import functools
import re
import string
from collections import OrderedDict, UserDict, UserList, UserString, defaultdict
from types import MappingProxyType, ModuleType, SimpleNamespace
from typing import Any

import pydantic.v1

from tests.unit_tests.serde.fidelity import kinds as k, object_kinds as o


def _with(value: Any, **attributes: Any) -> Any:
    vars(value).update(attributes)
    return value


def _in_itself() -> Any:
    basket = o.Basket(1)
    basket.items.append(basket)
    return basket


def _counted() -> Any:
    basket = o.Basket(1)
    return [basket.total, basket]


def _seen_twice() -> Any:
    shown = {"a": [1]}
    return [shown, MappingProxyType(shown)]


def _space_in_itself() -> Any:
    space = SimpleNamespace(n=1)
    space.me = [space]
    return space


def _tuple_in_its_list() -> Any:
    value: Any = ([1],)
    value[0].append(value)
    return value


def _tuple_in_its_dict() -> Any:
    value: Any = (1, {})
    value[1]["me"] = [value, value]
    return value


def _tuple_in_its_object() -> Any:
    value = (o.Basket(),)
    value[0].items.append(value)
    return value


def _tuple_in_its_dataclass() -> Any:
    value = (k.Plain("p"), (2,))
    vars(value[0])["more"] = (value, [value])
    return {"t": value}


def _two_tuples() -> Any:
    first: Any = ([], 1)
    second = ([first], first)
    first[0].append(second)
    return [first, second]


ROWS: dict[str, dict[str, Any]] = {
    "Ordinary objects": {
        "object": o.Basket(1, (2,), {3}),
        "object in objects": o.Basket(o.Basket(o.Slotted(k.Plain("x")))),
        "subclass": o.GiftBasket(1, note="n"),
        "attribute added later": _with(o.Basket(), colour="red"),
        "without attributes": k.Outsider(),
        "with a cached property": _counted(),
        "with slots": o.Slotted([1]),
        "with slots and a dict": _with(o.SlottedChild(1), extra=(2,)),
        "generic": o.Shelf[int](3),
        "of an abstract class": o.Square(2.0),
        "of a metaclass": o.Made(3),
        "of a nested class": o.Outer.Inner(),
        "as a key": {o.Keyed("a"): 1},
        "in itself": _in_itself(),
    },
    "Wrappers": {
        "UserDict": UserDict({"a": (1,), 2: "b"}),
        "UserList": UserList([1, (2,)]),
        "UserString": UserString("a☃"),
        "subclass of UserDict": _with(o.Settings(a=1), note="n"),
        "subclass of UserList": o.Stack([1]),
        "subclass of UserString": o.Title("t"),
        "SimpleNamespace": SimpleNamespace(a=1, b=SimpleNamespace(c=(2,))),
        "SimpleNamespace in itself": _space_in_itself(),
        "subclass of SimpleNamespace": o.Space(a=1),
        "string.Template": string.Template("$a is $b"),
        "subclass of string.Template": o.Letter("%a"),
        "partial": functools.partial(o.greet, "hello", name="me"),
        "partial of a built-in function": functools.partial(re.escape, "a"),
        "partial of a class": functools.partial(k.Plain, "n"),
        "partial of a partial": functools.partial(_with(functools.partial(o.greet, "a"), n=1), "b"),
        "defaultdict of a partial": defaultdict(functools.partial(o.greet, "hello"), a="b"),
        "mappingproxy of a mappingproxy": MappingProxyType({"a": MappingProxyType({1: (2,)})}),
        "mappingproxy of an OrderedDict": MappingProxyType(OrderedDict(b=1, a=2)),
        "mappingproxy of a UserDict": MappingProxyType(UserDict(a=1)),
        "mappingproxy of a dict with attributes": MappingProxyType(_with(k.Table(a=1), n=1)),
        "mappingproxy and what it shows": _seen_twice(),
        "pydantic.v1 SecretStr": pydantic.v1.SecretStr("s"),
        "pydantic.v1 SecretBytes": pydantic.v1.SecretBytes(b"s"),
    },
    "Tuples in themselves": {
        "through a list": _tuple_in_its_list(),
        "through a dict": _tuple_in_its_dict(),
        "through an object": _tuple_in_its_object(),
        "through a dataclass": _tuple_in_its_dataclass(),
        "two, through each other": _two_tuples(),
    },
    "Refused": {
        "an object": object(),
        "an object with __reduce__": o.Reduced(),
        "an object with __getstate__": o.Stateful(),
        "an object with __setstate__": o.Restored(),
        "an object with __getnewargs__": o.Remade(),
        "an object with __del__": o.Closing(),
        "an object that hides a method": o.Hiding(),
        "a module": ModuleType("m"),
        "a match of a pattern": re.match("a", "a"),
        "a partial of a lambda": functools.partial(lambda: None),
        "a partial of a method": functools.partial(o.Basket().items.append),
    },
}
