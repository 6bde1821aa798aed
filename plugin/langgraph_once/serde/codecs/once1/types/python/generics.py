"""Parametrised generics, `Box[int]` and `list[int]`: the class and its parameters.

An instance made by `Box[int](1)` keeps `Box[int]` as an attribute. Made by the method of
`Generic` itself: one that the class overrides could do anything. Unions, literals and the like
are refused.
"""

from __future__ import annotations

from types import EllipsisType, GenericAlias
from typing import Any, Final, Generic, TypeVar

from langgraph_once.serde.codecs.once1.types.base.protocol import Adapter, UnwritableError, parts

__all__ = ["ADAPTERS", "make_alias", "typing_alias"]

T = TypeVar("T")


class _Box(Generic[T]):
    """Only here to be asked what `typing` makes of a parametrised class."""


_Generic: Final[Any] = Generic
typing_alias: Final[Any] = type(_Box[int])
"""The type of a class that `typing` has parametrised."""


def make_alias(origin: Any, args: tuple[Any, ...]) -> Any:
    """Return `origin[args]`, made by `typing` if it is a subclass of `Generic`.

    Raises:
        ValueError: `origin` is not a class.
    """
    if not isinstance(origin, type):
        raise ValueError("expected a class and its parameters")
    if not issubclass(origin, _Generic):
        return GenericAlias(origin, args)
    return vars(_Generic)["__class_getitem__"].__get__(None, origin)(args)


def _encode(value: Any) -> tuple[type, tuple[Any, ...]]:
    data = value.__origin__, value.__args__
    kind = type(value)
    made = _decode_typing(data) if kind is typing_alias else _decode_builtin(data)
    if made != value or repr(made) != repr(value):
        raise UnwritableError("more than a class and its parameters")
    return data


def _decode_typing(data: Any) -> Any:
    origin, args = _checked(data)
    if not issubclass(origin, _Generic):
        raise ValueError("not a generic class")
    return make_alias(origin, args)


def _decode_builtin(data: Any) -> GenericAlias:
    return GenericAlias(*_checked(data))


def _checked(data: Any) -> Any:
    origin, args = parts(data, object, tuple)
    kinds = (type, typing_alias, GenericAlias, EllipsisType)
    if not issubclass(type(origin), type) or not all(issubclass(type(arg), kinds) for arg in args):
        raise ValueError("expected a class and its parameters")
    return origin, args


ADAPTERS: Final = (
    Adapter(name="generic", types=(typing_alias,), encode=_encode, decode=_decode_typing),
    Adapter(name="genericalias", types=(GenericAlias,), encode=_encode, decode=_decode_builtin),
)
