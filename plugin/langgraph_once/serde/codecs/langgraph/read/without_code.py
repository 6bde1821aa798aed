"""LangGraph's rows of classes that are not listed: objects made of their parts, without their code.

LangGraph writes a model as its dump and reads it with the constructor, which runs validators,
`__post_init__` and whatever else the class has. Here the same object is made of the dump alone,
where that is known to be the same: the class keeps what it is given, and each value is of the very
type that its field declares, or can become it in only one way. Any other class must be listed.
"""

from __future__ import annotations

import dis
from collections import deque
from collections.abc import Callable, Container
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from langgraph.checkpoint.serde.jsonplus import (
    EXT_CONSTRUCTOR_KW_ARGS,
    EXT_CONSTRUCTOR_POS_ARGS,
    EXT_CONSTRUCTOR_SINGLE_ARG,
    EXT_PYDANTIC_V1,
    EXT_PYDANTIC_V2,
)
from pydantic import BaseModel

from langgraph_once.serde.codecs.langgraph.read.constructors import from_members, listed
from langgraph_once.serde.codecs.langgraph.read.model_dumps import (
    Called,
    Dumps,
    DumpTypeError,
    is_builtin,
)
from langgraph_once.serde.codecs.once1.types.base.attributes import is_dataclass
from langgraph_once.serde.codecs.once1.types.catalogue import CODE_FREE_FAMILIES
from langgraph_once.serde.trust.class_code import hook_of
from langgraph_once.serde.trust.lookup import declared

if TYPE_CHECKING:
    from langgraph_once.serde.codecs.once1.types.base.protocol import Family

__all__ = ["NeedsListError", "is_of_data", "structural"]

_CONTAINERS: Final = (set, frozenset, deque)
_VALUES: Final = (date, time, timedelta, Decimal, UUID, PurePath)
"""Values that hold no others."""
_IN_C: Final = (date, time, timedelta, Decimal)
"""Those of which a subclass that makes nothing itself is made without its code."""
_OTHER_WAYS: Final = frozenset({"__setattr__", "setattr", "__dict__", "vars", "super", "update"})
"""To set attributes, besides assigning to them."""


class NeedsListError(Exception):
    """The class has to be listed, since rebuilding it takes its code: which, says the text."""


def structural(code: int, cls: type, called: Called) -> Callable[[Any], Any]:
    """Return what makes instances of `cls`, without its code, of what an extension holds.

    Args:
        code: The extension's.
        cls: A class that is not listed.
        called: Returns what calls a class that is nested in one, if that is listed.

    Raises:
        NeedsListError: It takes code to make any of them; what is returned raises it where it takes
            code for one.
    """
    hook = hook_of(cls)
    if hook is not None:
        raise NeedsListError(hook)
    make: Callable[[Any], Any] | None = _of_plain_value(code, cls)
    if make is not None:
        pass
    elif code in (EXT_PYDANTIC_V2, EXT_PYDANTIC_V1, EXT_CONSTRUCTOR_KW_ARGS):
        make = _of_fields(cls, lambda other: None if other is cls else called(other))
    elif code == EXT_CONSTRUCTOR_SINGLE_ARG:
        make = _of_value(cls)
    if make is None:
        raise NeedsListError("its constructor")

    def rebuilt(argument: Any) -> Any:
        try:
            return make(argument)
        except DumpTypeError as error:
            raise NeedsListError(str(error)) from error

    return rebuilt


def is_of_data(cls: Any) -> bool:
    """Whether instances of `cls` are what upstream writes: data, made by a constructor of data.

    Of other classes upstream writes nothing, so a row that names one is made to call it.
    """
    if not isinstance(cls, type):
        return False
    return (
        any(base in cls.__mro__ for base in (*_CONTAINERS, *_VALUES, Enum, BaseModel))
        or is_dataclass(cls)
        or any(CODE_FREE_FAMILIES[name].matches(cls) for name in ("namedtuple", "v1model"))
    )


def _of_fields(cls: type, called: Called) -> Callable[[Any], Any] | None:
    schema = declared(cls, "__pydantic_core_schema__")
    if BaseModel in cls.__mro__ or (is_dataclass(cls) and schema is not None):
        return Dumps(schema, called).value
    if is_dataclass(cls) and _family("record", cls):
        return lambda argument: _dataclass(cls, argument)
    if tuple in cls.__mro__ and type(declared(cls, "_fields")) is tuple:
        if not _is_generated(declared(cls, "__new__")):
            raise NeedsListError("__new__")
        return lambda argument: _named_tuple(cls, argument)
    family = _family("v1model", cls)
    return None if family is None else lambda argument: _v1_model(cls, family, argument)


def _of_value(cls: type) -> Callable[[Any], Any] | None:
    if _family("enum", cls):
        return lambda argument: _member(cls, argument)
    family = _family("container", cls)
    base: Any = next((base for base in _CONTAINERS if base in cls.__mro__), None)
    if base is deque or base is set:
        return lambda argument: _filled(base, cls, argument)
    if base is frozenset and (family or _family("value", cls)):
        return lambda argument: from_members(lambda members: base.__new__(cls, members))(argument)
    return None


def _of_plain_value(code: int, cls: type) -> Callable[[Any], Any] | None:
    base: Any = next((base for base in _IN_C if base in cls.__mro__), None)
    if base is None or declared(cls, "__init__") is not vars(object)["__init__"]:
        return None
    if declared(cls, "__new__") is not vars(base)["__new__"]:
        return None

    def made(argument: Any) -> Any:
        if not is_builtin(argument):
            raise ValueError("something else than a plain value")
        if code == EXT_CONSTRUCTOR_KW_ARGS:
            return base.__new__(cls, **argument)
        positional = code == EXT_CONSTRUCTOR_POS_ARGS
        return base.__new__(cls, *(listed(argument) if positional else [argument]))

    return made


def _family(name: str, cls: type) -> Family | None:
    family = CODE_FREE_FAMILIES[name]
    return family if family.matches(cls) else None


def _dataclass(cls: type, argument: Any) -> Any:
    fields = declared(cls, "__dataclass_fields__")
    if not _is_generated(declared(cls, "__init__")):
        raise NeedsListError("__init__")
    if _sets_more(declared(cls, "__post_init__"), fields):
        raise NeedsListError("__post_init__")
    if not argument.keys() <= fields.keys():
        raise ValueError("a value for something that is not a field; did the class change?")
    return CODE_FREE_FAMILIES["record"].decode(cls, dict(argument))


def _is_generated(method: Any) -> bool:
    """Whether `dataclass` or `namedtuple` wrote a method, which then does nothing but keep."""
    function = getattr(method, "__func__", method)
    return isinstance(function, FunctionType) and function.__code__.co_filename == "<string>"


def _sets_more(post_init: Any, fields: Container[str]) -> bool:
    """Whether `__post_init__` may give an instance anything but the fields, which were stored."""
    if post_init is None:
        return False
    if not isinstance(post_init, FunctionType):
        return True
    code = post_init.__code__
    set_names = {step.argval for step in dis.get_instructions(code) if step.opname == "STORE_ATTR"}
    return not _OTHER_WAYS.isdisjoint(code.co_names) or any(n not in fields for n in set_names)


def _named_tuple(cls: Any, argument: dict[str, Any]) -> Any:
    if [*argument] != [*declared(cls, "_fields")]:
        raise ValueError("another number of fields; did the class change?")
    return tuple.__new__(cls, argument.values())


def _v1_model(cls: Any, family: Family, argument: dict[str, Any]) -> Any:
    """Make a model of `pydantic.v1`, of which nothing is known but that its values are plain."""
    fields = declared(cls, "__fields__")
    for name, value in argument.items():
        kind = getattr(fields.get(name), "outer_type_", None)
        if kind is not Any and type(value) is not kind and value is not None:
            raise NeedsListError(f"validation of the field {name!r:.80}")
    if fields.keys() - argument.keys():
        raise NeedsListError("the default of a field")
    return family.decode(cls, (dict(argument), set(argument), {}))


def _member(cls: type, value: Any) -> Any:
    for member in declared(cls, "_member_map_").values():
        its_value = object.__getattribute__(member, "__dict__")["_value_"]
        comparable = type(its_value) is type(value) and is_builtin(value) and is_builtin(its_value)
        if comparable and its_value == value:
            return member
    raise NeedsListError("_missing_")


def _filled(base: Any, cls: type, argument: Any) -> Any:
    made = base.__new__(cls)
    if base is deque:
        deque.__init__(made, listed(argument))
    else:
        from_members(lambda members: set.update(made, members))(argument)
    return made
