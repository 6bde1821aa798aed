"""Which adapter is asked, and what is said about a wrong one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import ConfigError, EncodeError, PayloadError
from langgraph_once.serde import (
    Adapter,
    OnceSerializer,
    Opaque,
    UnreadableError,
    UnwritableError,
)
from tests.unit_tests.serde.core.classes import back, once


class Celsius:
    """Written by an adapter, since its state is none of its attributes."""

    __slots__ = ("degrees",)

    def __init__(self, degrees: Any) -> None:
        self.degrees = degrees

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Celsius) and other.degrees == self.degrees

    def __hash__(self) -> int:
        return hash(self.degrees)

    def __reduce__(self) -> Any:
        raise TypeError("not to be pickled")


def decode(data: Any) -> Celsius:
    if data == "broken":
        raise ValueError("secret")
    if data == "cold":
        raise UnreadableError("it is too cold")
    return Celsius(data)


CELSIUS = Adapter(
    name="celsius", types=(Celsius,), encode=lambda value: value.degrees, decode=decode
)
NOT_AN_ADAPTER = 3


def test_an_adapter_writes_and_reads_its_types_in_anything() -> None:
    value = {"a": [Celsius(1), (Celsius((2, {3})),)], 4: {Celsius(5)}}
    assert back(value, once(CELSIUS)) == value


def test_configured_adapters_are_imported() -> None:
    assert back(Celsius(3), once(adapters=(f"{__name__}:CELSIUS",))) == Celsius(3)


def test_an_adapter_of_your_own_comes_before_the_built_in_way() -> None:
    own = Adapter(name="fraction", types=(Fraction,), encode=str, decode=Fraction)
    row = once(own).dumps_typed(Fraction(1, 3))
    assert b"own:fraction" in row[1]
    assert once(own).loads_typed(row) == Fraction(1, 3)
    assert once(own).loads_typed(once().dumps_typed(Fraction(1, 3))) == Fraction(1, 3)


def test_a_subclass_is_not_an_adapters() -> None:
    class Kelvin(Celsius):
        pass

    with pytest.raises(EncodeError, match="Kelvin"):
        once(CELSIUS).dumps_typed(Kelvin(1))


@pytest.mark.parametrize(
    ("adapters", "problem"),
    [
        ((CELSIUS, replace(CELSIUS, name="other")), r"'celsius'.*'other'.*Celsius"),
        ((CELSIUS, replace(CELSIUS, types=(Opaque,))), "name 'celsius'"),
        ((NOT_AN_ADAPTER,), "neither"),
        ((Adapter,), "neither"),
        *(((replace(CELSIUS, types=(kind,)),), "native") for kind in (list, int, tuple, Opaque)),
    ],
)
def test_a_clash_is_told_when_the_serializer_is_made(adapters: Any, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        once(*adapters)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"adapters": ("no_such_module:X",)}, "no_such_module:X cannot be imported"),
        ({"adapters": (f"{__name__}:missing",)}, ":missing cannot be imported"),
        ({"adapters": (f"{__name__}:NOT_AN_ADAPTER",)}, "neither"),
        ({"upgrades": {"a:B": "no_such_module:f"}}, "a:B.*no_such_module:f cannot be imported"),
        ({"upgrades": {"a:B": f"{__name__}:NOT_AN_ADAPTER"}}, "not a function"),
        ({"aliases": {"a:A": "b:B", "b:B": "a:A"}}, "a:A -> b:B -> a:A"),
        ({"aliases": {"a:A": "a:A"}}, "a:A -> a:A"),
    ],
)
def test_a_wrong_entry_is_named(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        OnceSerializer(SerdeConfig(**settings))


@pytest.mark.parametrize("error", [ValueError("secret"), TypeError("secret"), KeyError("secret")])
def test_the_message_of_an_adapter_is_not_shown(error: Exception) -> None:
    def refuse(value: Any) -> Any:
        raise error

    with pytest.raises(EncodeError, match=rf"{type(error).__name__}, at \[0\]") as caught:
        once(replace(CELSIUS, encode=refuse)).dumps_typed([Celsius(1)])
    assert "secret" not in str(caught.value)
    row = once(CELSIUS).dumps_typed([Celsius("broken")])
    with pytest.raises(PayloadError) as read:
        once(CELSIUS, on_unavailable="raise").loads_typed(row)
    assert "secret" not in str(read.value)


def test_an_adapter_that_means_to_give_a_reason_can() -> None:
    def refuse(value: Any) -> Any:
        raise UnwritableError("it is too hot")

    with pytest.raises(EncodeError, match="cannot be written: it is too hot, at"):
        once(replace(CELSIUS, encode=refuse)).dumps_typed([Celsius(1)])
    row = once(CELSIUS).dumps_typed([Celsius("cold")])
    with pytest.raises(PayloadError, match="it is too cold"):
        once(CELSIUS, on_unavailable="raise").loads_typed(row)


def test_without_the_adapter_a_row_is_kept_as_it_is() -> None:
    row = once(CELSIUS).dumps_typed([Celsius(1)])
    (kept,) = once().loads_typed(row)
    assert type(kept) is Opaque
    assert once().dumps_typed([kept]) == row
    assert back([kept], once(CELSIUS)) == [Celsius(1)]
    with pytest.raises(PayloadError, match="celsius"):
        once(on_unavailable="raise").loads_typed(row)
