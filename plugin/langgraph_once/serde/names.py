"""What the bytes call a class, a function or a type with parameters.

A class or function is `module:Qual.Name`. A type with parameters is a list of what it is of and of
the parameters: `["builtins:list", "builtins:int"]`. So is a generic pydantic model, since pydantic
makes `Page[int]` where the expression stands, and no name leads to it. A `Literal` is a list, too:
an empty text, then its values; a member of an enum is `{class: name}`.
"""

from __future__ import annotations

import enum
import functools
import operator
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any, Final

from pydantic import BaseModel

from langgraph_once.serde.lookup import declared, find
from langgraph_once.serde.opaque import UnavailableError, UnwritableError

MAX_NAME_CHARS: Final = 500
"""Of longer names, nothing is looked up."""
_MAX_PARTS: Final = 256
"""Of a type with parameters. Of a union of many, each is compared with each."""

_FORMS: Final[dict[str, Any]] = {
    "typing:Any": typing.Any,
    "builtins:...": ...,
    "builtins:None": None,
    "builtins:NoneType": type(None),
}
_UNION: Final = "types:UnionType"
_OLD_UNION: Final = "typing:Union"
_LITERAL: Final = "typing:Literal"
_typing_alias: Final = type(typing.List[int])  # noqa: UP006  # another type than that of `list[int]`
_FUNCTIONS: Final = (types.FunctionType, types.BuiltinFunctionType)
_parametrise: Final[Any] = vars(BaseModel)["__class_getitem__"]
_parametrise_generic: Final[Any] = vars(typing.Generic)["__class_getitem__"]


def is_alias(cls: type) -> bool:
    """Whether instances of `cls` are types with parameters."""
    return cls in (types.GenericAlias, types.UnionType) or cls.__module__ == "typing"


def name_of(target: Any) -> Any:
    """Return what the bytes call a class, a function, or a type with parameters.

    Raises:
        UnwritableError: No name leads to it.
    """
    for name, form in _FORMS.items():
        if target is form:
            return name
    if isinstance(target, _FUNCTIONS):
        name = f"{target.__module__}:{target.__qualname__}"
        if find(target.__module__, target.__qualname__) is not target:
            raise UnwritableError(
                f"{name} does not lead back to it; define it at the top of a module"
            )
        return name
    origin, args = _taken_apart(target)
    if origin is _LITERAL:
        return [_LITERAL, "", *map(_literal, args)]
    if origin is not None:
        return [origin if isinstance(origin, str) else name_of(origin), *map(name_of, args)]
    if not isinstance(target, type):
        raise UnwritableError(f"a {type(target).__qualname__} that no name leads to")
    # Python 3.13 alone calls the module of paths so.
    module = "pathlib" if target.__module__ == "pathlib._local" else target.__module__
    return f"{module}:{target.__qualname__}"


def _taken_apart(target: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return what a type with parameters is of, and these; None where it has none."""
    if isinstance(target, types.UnionType):
        return _UNION, target.__args__
    origin = typing.get_origin(target)
    if origin is typing.Union:
        return _OLD_UNION, typing.get_args(target)
    if origin is typing.Literal:
        return _LITERAL, target.__args__
    if type(target) in (types.GenericAlias, _typing_alias):
        return target.__origin__, target.__args__
    generic = (
        declared(target, "__pydantic_generic_metadata__") if isinstance(target, type) else None
    )
    own = vars(target).get("__pydantic_generic_metadata__") if generic else None
    return (own["origin"], own["args"]) if own and own.get("origin") else (None, ())


def _literal(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return {name_of(type(value)): value.name}
    return value


def classes_in(target: Any) -> Iterator[type]:
    """Yield the classes that a class is made of: mostly itself."""
    origin, args = _taken_apart(target)
    if origin is _LITERAL:
        yield from {type(each) for each in args if isinstance(each, enum.Enum)}
    elif origin is not None:
        for each in (origin, *args):
            yield from classes_in(each)
    elif isinstance(target, type):
        yield target


def found(name: Any, find_class: Callable[[str], Any]) -> Any:
    """Return what has a name; `find_class` returns what a text names.

    Raises:
        UnavailableError: Nothing can have such a name.
    """
    if type(name) is list and not _is_short(name):
        raise UnavailableError("a type of too many parameters")
    return _found(name, find_class)


def _is_short(name: list[Any]) -> bool:
    todo, count = [name], 0
    for each in todo:
        count += len(each)
        if count > _MAX_PARTS:
            return False
        todo += [part for part in each if type(part) is list]
    return True


def _found(name: Any, find_class: Callable[[str], Any]) -> Any:
    if type(name) is str:
        return _FORMS[name] if name in _FORMS else find_class(name)
    if type(name) is not list or len(name) < 2:  # what it is of, and one more
        raise UnavailableError("no name where one belongs")
    try:
        return _made(name, find_class)
    except TypeError as error:
        raise UnavailableError("parameters of what does not take them") from error


def _made(name: list[Any], find_class: Callable[[str], Any]) -> Any:
    of, *rest = name
    if type(of) is not str:
        raise UnavailableError("parameters of what has some")
    if of == _LITERAL:
        return typing.Literal[tuple(_of_literal(each, find_class) for each in rest[1:])]
    args = tuple(_found(each, find_class) for each in rest)
    if of == _UNION:
        return functools.reduce(operator.or_, args)
    if of == _OLD_UNION:
        return typing.Union[args]  # noqa: UP007  # another object than that of `|`
    origin = None if of in _FORMS else _found(of, find_class)
    if not isinstance(origin, type):
        raise UnavailableError("parameters of what is no class")
    if BaseModel in origin.__mro__:  # not by a method that the class may have overridden
        return _parametrise.__get__(None, origin)(args)
    if typing.Generic in origin.__mro__:
        return _parametrise_generic.__get__(None, origin)(args)
    return types.GenericAlias(origin, args)


def _of_literal(value: Any, find_class: Callable[[str], Any]) -> Any:
    if type(value) is not dict:
        return value
    ((name, member),) = value.items()
    members = find_class(name)
    if not (isinstance(members, type) and issubclass(members, enum.Enum)):
        raise UnavailableError("a member of what is no enum")
    return members._member_map_[member]


def class_names(name: Any) -> Iterator[str]:
    """Yield the names of the classes and functions that a name is made of."""
    if type(name) is list:
        if name[:1] == [_LITERAL]:
            yield from (key for each in name if type(each) is dict for key in each)
            return
        for each in name:
            yield from class_names(each)
    elif type(name) is str and name not in (*_FORMS, _UNION, _OLD_UNION, _LITERAL, ""):
        yield name
