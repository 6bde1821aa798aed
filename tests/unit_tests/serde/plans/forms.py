"""Forms: what they take objects apart into, what they make of anybody's data, and what is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_once import OnceSerializer, SerdeConfig
from langgraph_once.serde.registry import FORMS
from tests.unit_tests.serde.fidelity.sameness import difference

SERDE: Final = OnceSerializer(SerdeConfig(compression="none"))
_STRICT_STOCK: Final = JsonPlusSerializer(allowed_msgpack_modules=None)


def back(value: Any) -> Any:
    """Return what a value comes back as."""
    return SERDE.loads_typed(SERDE.dumps_typed(value))


def assert_comes_back(value: Any) -> None:
    """Check that a value comes back as it was, in a list so that it is no value of its own."""
    assert difference([value], back([value])) is None


def each(cls: type, *data: Any, extra: Any = None) -> Iterator[Any]:
    """Yield a case for each of the data: the class, them, and what the head adds, if given."""
    for one in data:
        yield (cls, one) if extra is None else (cls, one, extra)


def take(value: Any) -> Any:
    """Return the data of an object, as its form takes them."""
    return next(form for form in FORMS if form.matches(type(value))).take(value)


def make(cls: type, data: Any, *extra: Any) -> Any:
    """Return what a form makes of data that are said to be of an instance of `cls`."""
    return next(form for form in FORMS if form.matches(cls)).maker(cls, [*extra])(data)


def name_of(cls: type) -> str:
    """Return what rows call a class."""
    return f"{cls.__module__}:{cls.__qualname__}"


def moved(value: Any, cls: type) -> Any:
    """Return what a value comes back as where its class has become `cls`."""
    aliases = {name_of(type(value)): name_of(cls)}
    reader = OnceSerializer(SerdeConfig(compression="none", aliases=aliases))
    return reader.loads_typed(SERDE.dumps_typed([value]))[0]


def shown(value: Any) -> Any:
    """Return what a value comes back as where its class is gone."""
    aliases = {name_of(type(value)): "gone_for_ever:Gone"}
    reader = OnceSerializer(SerdeConfig(compression="none", aliases=aliases))
    return reader.loads_typed(SERDE.dumps_typed([value]))[0]


def stock_shown(value: Any) -> Any:
    """Return what LangGraph hands on for a value whose class it may not load."""
    return _STRICT_STOCK.loads_typed(_STRICT_STOCK.dumps_typed([value]))[0]
