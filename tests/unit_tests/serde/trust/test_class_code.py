"""Which code of a class would run."""

from __future__ import annotations

import enum
import functools
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import attrs
import pytest
from pydantic import BaseModel, field_validator

from langgraph_once.serde.trust.class_code import (
    argument_hook,
    combination_hook,
    hash_hook,
    hook_of,
    is_harmless_factory,
    making_hook,
)

T = TypeVar("T")


class Model(BaseModel, frozen=True):
    value: int = 0

    @field_validator("value")
    @classmethod
    def check(cls, value: int) -> int:
        return value

    @functools.cached_property
    def double(self) -> int:
        return self.value * 2


@dataclass(frozen=True)
class Record:
    value: int = 0


@attrs.frozen
class Attrs:
    value: int = 0


class Colour(enum.Enum):
    RED = 1


class Bits(enum.Flag):
    A = 1
    B = 2


class Text(str):
    """Has all from `str`."""

    __slots__ = ()


@pytest.mark.parametrize("cls", [Model, Record, Attrs, Colour, Bits, Text, object, int])
def test_what_libraries_write_into_classes_is_no_hook(cls: type) -> None:
    assert (hook_of(cls), hash_hook(cls), argument_hook(cls)) == (None, None, None)


@pytest.mark.parametrize("name", ["__hash__", "__eq__"])
@pytest.mark.parametrize("base", [object, Model, Record, Attrs, Text])
@pytest.mark.parametrize("wrap", [lambda method: method, functools.partial, staticmethod])
def test_a_hash_by_hand_is_found_whatever_it_is_written_as(name: str, base: Any, wrap: Any) -> None:
    body = {"__hash__": base.__hash__, "__slots__": ()} if base is not Model else {}
    body[name] = wrap(lambda *_: 1)
    assert hash_hook(type(base)("Own", (base,), body)) == name


def test_a_hash_that_dataclasses_write_asks_for_attributes() -> None:
    for name in ("__getattribute__", "__getattr__"):
        own = type("Own", (Record,), {name: lambda *_: 1})
        assert hash_hook(own) == name
    assert hash_hook(type("Own", (Record,), {"value": property(lambda _: 1)})) == "value"


@pytest.mark.parametrize("name", ["__float__", "__iter__", "__fspath__", "__len__", "keys"])
def test_argument_hook_finds_methods_that_constructors_call_on_arguments(name: str) -> None:
    assert argument_hook(type("Own", (Record,), {name: lambda _: 1})) == name


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"__del__": lambda _: None}, "__del__"),
        ({"__class__": property(lambda _: int)}, "__class__"),
        ({"__dict__": property(lambda _: {})}, "__dict__"),
        ({"__init__": lambda _: None, "__setattr__": lambda *_: None}, None),
    ],
)
def test_hooks_of_every_instance(body: dict[str, Any], expected: str | None) -> None:
    assert hook_of(type("Own", (), body)) == expected


def test_a_metaclass_may_do_what_it_likes_only_while_the_class_is_made() -> None:
    quiet = type("Quiet", (type,), {"__new__": type.__new__, "register": lambda _: None})
    loud = type("Loud", (type,), {"__hash__": lambda _: 1})
    assert hook_of(quiet("Own", (), {})) is None
    assert hook_of(loud("Own", (), {})) == "__hash__ of its metaclass"


def test_a_metaclass_with_a_metaclass_is_not_known() -> None:
    above = type("Above", (type,), {})
    assert hook_of(above("Meta", (type,), {})("Own", (), {})) == "a metaclass of its metaclass"


@pytest.mark.parametrize("name", ["__pydantic_fields_set__", "__pydantic_extra__"])
def test_a_model_with_a_descriptor_in_place_of_a_slot(name: str) -> None:
    own: Any = type("Own", (Model,), {"__module__": __name__})
    type.__setattr__(own, name, property(lambda _: None))
    assert hook_of(own) == name


@pytest.mark.parametrize("name", ["_missing_", "__or__", "__hash__", "__getattribute__"])
def test_flags_that_combine_by_hand(name: str) -> None:
    class Own(enum.Flag):
        locals()[name] = classmethod(lambda *_: None)

    assert combination_hook(Own) == name
    assert combination_hook(Bits) is None


def test_flags_with_a_descriptor_where_enums_look() -> None:
    own: Any = enum.Flag("own", "A B")
    type.__setattr__(own, "_value2member_map_", property(lambda _: {}))
    assert combination_hook(own) == "_value2member_map_"


@pytest.mark.parametrize(
    "name",
    ["__init_subclass__", "__pydantic_init_subclass__", "__class_getitem__"],
)
def test_what_runs_when_a_generic_model_gets_parameters(name: str) -> None:
    class Page(BaseModel, Generic[T]):
        value: int = 0

    assert making_hook(Page) is None
    type.__setattr__(Page, name, classmethod(lambda *_: None))
    assert making_hook(Page) == name


def test_a_descriptor_of_its_own_runs_when_parameters_are_given() -> None:
    class Asked:
        def __get__(self, *_: Any) -> int:
            return 1

    class Page(BaseModel, Generic[T]):
        value: int = 0

    type.__setattr__(Page, "other", Asked())
    assert making_hook(Page) == "other"


def test_factories_of_the_builtins_are_harmless_and_no_others() -> None:
    assert all(map(is_harmless_factory, (list, dict, set, str)))
    assert not any(map(is_harmless_factory, (lambda: [1], Record, print, functools.partial(list))))


@pytest.mark.parametrize("base", [NamedTuple, tuple, list, dict, set, str, int])
def test_a_parameter_made_of_python_s_own_classes_runs_nothing(base: Any) -> None:
    class Part(base):  # type: ignore[misc]  # a base that is a parameter
        """Holds something."""

    assert making_hook(Part) is None
