"""Channel values that are decoded when someone looks at them are a dict to all."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from langgraph_once.checkpoint.stored import LazyValues

VALUES: dict[str, Any] = {"a": [1], "b": {"c": None}, "none": None}


@pytest.fixture
def seen() -> list[str]:
    return []


@pytest.fixture
def lazy(seen: list[str]) -> LazyValues:
    def decode(name: str) -> Any:
        seen.append(name)
        return copy.deepcopy(VALUES[name])

    return LazyValues(VALUES, decode)


def test_each_lazy_value_is_decoded_once_and_none_before_it_is_read(
    lazy: LazyValues, seen: list[str]
) -> None:
    assert list(lazy) == list(lazy.keys()) == ["a", "b", "none"]
    assert len(lazy) == 3
    assert "a" in lazy
    assert repr(lazy) == "{'a': …, 'b': …, 'none': …}"
    assert seen == []
    assert lazy["a"] is lazy["a"] is lazy.get("a")
    assert seen == ["a"]


READ: dict[str, Callable[[Any], Any]] = {
    "equal": lambda lazy: (lazy == VALUES and lazy == VALUES) and VALUES,
    "not unequal": lambda lazy: {} if lazy != VALUES else dict(VALUES),
    "dict()": dict,
    "dict(**)": lambda lazy: dict(**lazy),
    "{**}": lambda lazy: {**lazy},
    "copy": LazyValues.copy,
    "copy.copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda lazy: pickle.loads(pickle.dumps(lazy)),
    "json": lambda lazy: json.loads(json.dumps(lazy)),
    "items": lambda lazy: dict(lazy.items()),
    "values": lambda lazy: dict(zip(lazy, lazy.values(), strict=True)),
    "|": lambda lazy: lazy | {},
    "| it": lambda lazy: {} | lazy,
    "update": lambda lazy: (found := {}, found.update(lazy))[0],
    "comprehension": lambda lazy: {name: lazy[name] for name in lazy},
}


@pytest.mark.parametrize("way", READ)
def test_lazy_values_read_as_a_plain_dict(lazy: LazyValues, way: str) -> None:
    found = READ[way](lazy)
    assert found == VALUES
    assert type(found) is dict


def test_lazy_values_change_as_a_plain_dict(lazy: LazyValues, seen: list[str]) -> None:
    lazy["b"] = 1
    del lazy["a"]
    assert lazy.setdefault("new", 2) == lazy.setdefault("new", 3) == 2
    assert lazy.pop("b") == 1
    assert lazy.pop("b", "default") == "default"
    with pytest.raises(KeyError):
        lazy.pop("b")
    with pytest.raises(KeyError):
        lazy["b"]
    assert lazy.get("b", 5) == 5
    assert seen == []
    assert lazy.popitem() == ("new", 2)
    assert lazy.popitem() == ("none", None)
    assert lazy == {}


def test_what_cannot_be_decoded_raises_each_time_and_alone() -> None:
    def decode(name: str) -> Any:
        if name == "bad":
            raise ValueError("damaged")
        return name

    lazy = LazyValues(dict.fromkeys(["good", "bad"]), decode)
    assert lazy["good"] == "good"
    for _ in range(2):
        with pytest.raises(ValueError, match="damaged"):
            lazy["bad"]
    del lazy["bad"]
    assert lazy == {"good": "good"}
