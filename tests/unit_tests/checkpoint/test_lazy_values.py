"""Channel values are decoded when someone looks at them."""

from __future__ import annotations

import copy
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
    "items": lambda lazy: dict(lazy.items()),
    "values": lambda lazy: dict(zip(lazy, lazy.values(), strict=True)),
    "update": lambda lazy: (found := {}, found.update(lazy))[0],
    "comprehension": lambda lazy: {name: lazy[name] for name in lazy},
}


@pytest.mark.parametrize("way", READ)
def test_lazy_values_read_as_a_plain_dict(lazy: LazyValues, way: str) -> None:
    found = READ[way](lazy)
    assert found == VALUES
    assert type(found) is dict


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
    with pytest.raises(KeyError):
        lazy["absent"]
    assert lazy.get("absent", 5) == 5
