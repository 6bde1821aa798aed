"""What is asked of a class before its instances are written or read without its code."""

from __future__ import annotations

import dataclasses
import functools
import types
from typing import Any

import attr
import pytest

from langgraph_once.serde.codecs.once1.types.base.attributes import (
    _layout,
    check_factories,
    fill_state,
    is_plain_subclass,
    plain_names,
)
from langgraph_once.serde.codecs.once1.types.base.protocol import UnreadableError


@dataclasses.dataclass
class Plain:
    a: int
    b: int = 1


@dataclasses.dataclass(slots=True)
class Slotted:
    a: int
    b: int = 1


@dataclasses.dataclass
class WithProperty(Plain):
    @functools.cached_property
    def twice(self) -> int:
        return 2 * self.a


class OfAttributes(Plain):
    def __getattribute__(self, name: str) -> Any:
        return super().__getattribute__(name)


@attr.s(auto_attribs=True, slots=True)
class OfAttrs:
    a: int
    b: int = 1
    c: list[int] = attr.Factory(list)
    d: int = attr.Factory(lambda self: self.a, takes_self=True)


class Named(types.SimpleNamespace):
    pass


class MissingError(KeyError):
    pass


def test_the_names_of_fields_are_told_where_an_instance_has_nothing_else() -> None:
    assert plain_names(Plain) == ["a", "b"]
    for cls in (Slotted, WithProperty, OfAttributes, Named):
        assert plain_names(cls) is None


def test_a_default_may_be_a_value_and_no_code() -> None:
    check_factories({**_layout(Slotted).defaulted, "c": list})
    assert _layout(Slotted).defaulted.keys() == {"b"}
    assert _layout(OfAttrs).defaulted.keys() == {"b", "c"}
    code: list[Any] = [lambda: 1, functools.partial(dict, [])]
    for made in code:
        with pytest.raises(UnreadableError, match="'c'"):
            check_factories({"c": made})


@pytest.mark.parametrize(
    ("cls", "base", "expected"),
    [
        (Plain, object, True),
        (Slotted, object, True),
        (Named, types.SimpleNamespace, True),
        (Named, object, False),
        (MissingError, KeyError, True),
        (MissingError, object, False),
    ],
)
def test_data_that_c_keeps_is_not_that_of_a_python_class(
    cls: type, base: type, expected: bool
) -> None:
    assert is_plain_subclass(cls, base) is expected


def test_a_default_that_is_made_of_the_object_is_none_for_older_bytes() -> None:
    made: Any = object.__new__(OfAttrs)
    fill_state(made, {"a": 1})
    assert (made.a, made.b, made.c) == (1, 1, [])
    assert not hasattr(made, "d")
