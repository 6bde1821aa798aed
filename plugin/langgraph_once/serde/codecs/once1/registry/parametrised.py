"""Names of parametrised pydantic models: `shop.state:Page(builtins:int)` for `Page[int]`.

Pydantic makes such a class where the expression stands, in a function, say, where no name leads
to it. So it is named by the generic class and its parameters, each a name that leads to a class:

    module:Qual.Name                    a class
    module:Qual.Name(name, ...)         a generic class with its parameters
    types:UnionType(name, ...)          `int | None`
    typing:Union(name, ...)             `Optional[int]`, which Python 3.13 and older tell apart
    typing:Literal(literal, ...)        str:%61b  bytes:0a  int:1  bool:True  builtins:None, and a
                                        member of an enum, module:Qual.Name(name:MEMBER)
    builtins:None  builtins:NoneType  builtins:Ellipsis  typing:Any
"""

from __future__ import annotations

import functools
import operator
import re
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from types import GenericAlias, NoneType, UnionType
from typing import Any, Final, Literal
from urllib.parse import quote, unquote

from pydantic import BaseModel

from langgraph_once.serde.codecs.once1.types.base.protocol import UnwritableError
from langgraph_once.serde.codecs.once1.types.python.generics import make_alias, typing_alias

__all__ = ["Parametrised", "is_parametrised", "parse"]

_FORMS: Final[dict[str, Any]] = {
    "builtins:None": None,
    "builtins:NoneType": NoneType,
    "builtins:Ellipsis": ...,
    "typing:Any": Any,
}
_UNION: Final = "types:UnionType"
_OLD_UNION: Final = "typing:Union"
_LITERAL: Final = "typing:Literal"
_BARE: Final = frozenset({_UNION, _OLD_UNION, _LITERAL})
_LITERALS: Final[dict[str, tuple[Callable[[Any], str], Callable[[str], Any]]]] = {
    "str": (
        functools.partial(quote, safe="", errors="surrogatepass"),
        functools.partial(unquote, errors="surrogatepass"),
    ),
    "bytes": (bytes.hex, bytes.fromhex),
    "int": (str, int),
    "bool": (str, {"True": True, "False": False}.__getitem__),
}
_TOKEN: Final = re.compile(r"[^(),\s]+|[()]|, ")
_parametrise: Final[Any] = vars(BaseModel)["__class_getitem__"]


@dataclass(frozen=True, slots=True)
class Parametrised:
    """A name, taken apart; without parameters, `args` is None."""

    name: str
    args: tuple[Parametrised, ...] | None = None

    @classmethod
    def of(cls, target: Any, name_of: Callable[[type], str]) -> Parametrised:
        """Return the name of a class, or of what a class may be parametrised with.

        Raises:
            UnwritableError: It is made of something else than classes.
        """
        for name, form in _FORMS.items():
            if target is form:
                return cls(name)
        if typing.get_origin(target) is Literal:
            return cls(
                _LITERAL, tuple(cls._of_literal(value, name_of) for value in target.__args__)
            )
        origin, args = _taken_apart(target)
        if origin is None:
            return cls(name_of(target))
        name = origin if isinstance(origin, str) else name_of(origin)
        return cls(name, tuple(cls.of(arg, name_of) for arg in args))

    @classmethod
    def _of_literal(cls, value: Any, name_of: Callable[[type], str]) -> Parametrised:
        if value is None:
            return cls("builtins:None")
        if isinstance(value, Enum):
            return cls(name_of(type(value)), (cls(f"name:{value.name}"),))
        kind = type(value).__name__
        return cls(f"{kind}:{_LITERALS[kind][0](value)}")

    def __str__(self) -> str:
        return self.name if self.args is None else f"{self.name}({', '.join(map(str, self.args))})"

    def class_names(self) -> Iterator[str]:
        """Yield the names of the classes that it is made of."""
        if self.name == _LITERAL:
            # Of literals, only the members of enums have parameters.
            yield from (arg.name for arg in self.args or () if arg.args is not None)
            return
        if self.name not in _FORMS and self.name not in _BARE:
            yield self.name
        for arg in self.args or ():
            yield from arg.class_names()

    def make(self, load: Callable[[str], Any]) -> Any:
        """Return what it names; `load` finds the classes.

        Raises:
            ValueError: Nothing can have that name.
            TypeError: The class cannot have these parameters.
        """
        if self.args is None:
            return _FORMS[self.name] if self.name in _FORMS else load(self.name)
        if self.name == _LITERAL:
            return Literal[tuple(arg.make_literal(load) for arg in self.args)]
        args = tuple(arg.make(load) for arg in self.args)
        if self.name == _UNION:
            return functools.reduce(operator.or_, args)
        if self.name == _OLD_UNION:
            return typing.Union[args]  # noqa: UP007  # another object than of `|`
        origin = load(self.name)
        if isinstance(origin, type) and BaseModel in origin.__mro__:
            # Not by a method that the class may have overridden.
            return _parametrise.__get__(None, origin)(args)
        return make_alias(origin, args)

    def make_literal(self, load: Callable[[str], Any]) -> Any:
        """Return the literal that it names; errors are those of `make`."""
        if self.args is None:
            if self.name == "builtins:None":
                return None
            kind, _, text = self.name.partition(":")
            return _LITERALS[kind][1](text)
        members = load(self.name)
        (member,) = self.args
        if not issubclass(members, Enum):
            raise TypeError("not an enum")
        return members._member_map_[member.name.removeprefix("name:")]


def is_parametrised(name: str) -> bool:
    """Whether `name` has parameters. No other name of a class has parentheses."""
    return "(" in name


def parse(text: str) -> Parametrised:
    """Return `text` taken apart.

    Raises:
        ValueError: It is no name.
    """
    tokens = _TOKEN.findall(text)
    if "".join(tokens) != text:
        raise ValueError("not a name")
    tokens.reverse()
    made = _parsed(tokens)
    if tokens:
        raise ValueError("more than a name")
    return made


def _parsed(tokens: list[str]) -> Parametrised:
    name = tokens.pop() if tokens else ""
    if ":" not in name:
        raise ValueError("not a name")
    if not tokens or tokens[-1] != "(":
        return Parametrised(name)
    args: list[Parametrised] = []
    separator = tokens.pop()
    while separator != ")":
        args.append(_parsed(tokens))
        separator = tokens.pop() if tokens else ""
        if separator not in (", ", ")"):
            raise ValueError("not the parameters of a name")
    return Parametrised(name, tuple(args))


def _taken_apart(target: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the class, or the name of a form, and its parameters; None without any."""
    if isinstance(target, UnionType):
        return _UNION, target.__args__
    if typing.get_origin(target) is typing.Union:
        return _OLD_UNION, typing.get_args(target)
    if type(target) in (GenericAlias, typing_alias):
        return target.__origin__, target.__args__
    if isinstance(target, type):
        generic = vars(target).get("__pydantic_generic_metadata__") or {}
        return generic.get("origin"), generic.get("args", ())
    raise UnwritableError("it is parametrised with something that is not made of classes")
