"""Exceptions: class, arguments, attributes, notes, cause and context; never a traceback.

Rebuilt without `__init__`, which often takes other arguments than those it passes on. What the
built-in exceptions keep outside of `__dict__` is listed here. Two things are left out, as
`pickle` leaves them out: tracebacks, which hold frames, and the object that an `AttributeError`
was raised for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

from langgraph_once.serde.codecs.once1.types.base.attributes import (
    FilledFamily,
    fill_state,
    is_plain_subclass,
    take_state,
)
from langgraph_once.serde.codecs.once1.types.base.protocol import (
    Adapter,
    Unstored,
    UnstoredError,
    UnwritableError,
    parts,
    plain,
)
from langgraph_once.serde.trust.lookup import names_of

__all__ = ["ADAPTERS", "ExceptionFamily", "ExceptionGroupFamily", "fill_links", "take_links"]

_Kinds = dict[str, tuple[type, ...]]

_ANY: Final[tuple[type, ...]] = (object,)
_UNICODE: Final[_Kinds] = {"start": (int,), "end": (int,), "reason": (str,)}
_OS: Final[_Kinds] = dict.fromkeys(("errno", "strerror", "filename", "filename2"), _ANY)
_SYNTAX: Final[_Kinds] = dict.fromkeys(
    (
        *("msg", "filename", "lineno", "offset", "text", "end_lineno", "end_offset"),
        "print_file_and_line",
    ),
    _ANY,
)

# By what `str()` of the exception relies on: a wrong type there can crash the interpreter.
_FIELDS: Final[dict[type, _Kinds]] = {
    StopIteration: {"value": _ANY},
    SystemExit: {"code": _ANY},
    ImportError: {"msg": _ANY, "name": _ANY, "path": _ANY},
    NameError: {"name": _ANY},
    AttributeError: {"name": _ANY},
    OSError: {**_OS, "characters_written": (int,)},
    SyntaxError: _SYNTAX,
    UnicodeDecodeError: {**_UNICODE, "encoding": (str,), "object": (bytes,)},
    UnicodeEncodeError: {**_UNICODE, "encoding": (str,), "object": (str,)},
    UnicodeTranslateError: {**_UNICODE, "object": (str,)},
}
"""What built-in exceptions keep beside their arguments, and of which types."""

_ARGS: Final[Any] = vars(BaseException)["args"]
_LINKS: Final = ("__cause__", "__context__", "__suppress_context__")


class ExceptionFamily(FilledFamily):
    """Every exception but groups: arguments, fields, attributes, what it was raised from."""

    name = "exception"

    def matches(self, cls: type) -> bool:
        return (
            issubclass(cls, BaseException)
            and not issubclass(cls, BaseExceptionGroup)
            and is_plain_subclass(cls, _builtin(cls))
        )

    def encode(self, obj: BaseException) -> tuple[Any, ...]:
        return _ARGS.__get__(obj), _take_fields(obj), take_state(obj), take_links(obj)

    def blank(self, cls: type) -> Any:
        return _builtin(cls).__new__(cls)

    def fill(self, obj: Any, data: Any) -> None:
        args, fields, state, links = parts(data, tuple, dict, object, tuple)
        _fill_fields(obj, fields)
        fill_state(obj, state, code_free=self._code_free)
        _ARGS.__set__(obj, args)
        fill_links(obj, links)


class ExceptionGroupFamily:
    """Groups, which cannot be made empty: arguments, attributes, what they were raised from."""

    name = "exceptiongroup"

    def __init__(self, *, code_free: bool = False) -> None:
        """Take whether to refuse where it takes code of the class to make a default."""
        self._code_free = code_free

    def matches(self, cls: type) -> bool:
        return issubclass(cls, BaseExceptionGroup) and is_plain_subclass(cls, _builtin(cls))

    def encode(self, obj: BaseExceptionGroup[Any]) -> tuple[Any, ...]:
        return obj.message, [*obj.exceptions], _ARGS.__get__(obj), take_state(obj), take_links(obj)

    def decode(self, cls: type, data: Any) -> Any:
        message, exceptions, args, state, links = parts(data, str, list, tuple, object, tuple)
        make: Any = BaseExceptionGroup.__new__
        obj = plain(make(cls, message, exceptions), cls)
        fill_state(obj, state, code_free=self._code_free)
        _ARGS.__set__(obj, args)
        fill_links(obj, links)
        return obj


def take_links(obj: BaseException) -> tuple[Any, ...]:
    """Return what an exception was raised from."""
    return obj.__cause__, obj.__context__, obj.__suppress_context__


def fill_links(obj: BaseException, links: Any) -> None:
    """Give an exception what `take_links` returned."""
    cause, context, suppress = parts(links, object, object, bool)
    for link in (cause, context):
        if link is not None and not issubclass(type(link), BaseException):
            raise ValueError("raised from something that is not an exception")
    for name, value in zip(_LINKS, (cause, context, suppress), strict=True):
        vars(BaseException)[name].__set__(obj, value)  # past a `__setattr__` of its class


def _take_fields(obj: BaseException) -> dict[str, Any]:
    fields = {}
    for name, descriptor in _descriptors(type(obj)).items():
        try:
            value = descriptor.__get__(obj)
        except AttributeError:
            continue
        # Unset and None look alike here; unset is what a fresh exception has.
        if value is not None:
            fields[name] = value
    _check_fields(type(obj), fields)
    return fields


def _fill_fields(obj: Any, fields: dict[Any, Any]) -> None:
    _check_fields(type(obj), fields)
    for name, value in fields.items():
        _descriptors(type(obj))[name].__set__(obj, value)


def _check_fields(cls: type, fields: dict[Any, Any]) -> None:
    kinds = _FIELDS.get(_builtin_with_fields(cls), {})
    if not fields.keys() <= kinds.keys():
        raise UnwritableError("an exception with an unknown field")
    for name, value in fields.items():
        if kinds[name] is not _ANY:
            plain(value, *kinds[name])
    if "reason" in kinds and (fields.keys() != kinds.keys() or fields["start"] < 0):
        raise UnwritableError("an incomplete UnicodeError")


def _builtin(cls: type) -> Any:
    return next(base for base in cls.__mro__ if names_of(base)[0] == "builtins")


def _builtin_with_fields(cls: type) -> Any:
    return next((base for base in cls.__mro__ if base in _FIELDS), None)


def _find_descriptors(cls: type) -> dict[str, Any]:
    base = _builtin_with_fields(cls)
    return {name: vars(base)[name] for name in _FIELDS.get(base, {}) if name in vars(base)}


_descriptors: Final[Callable[[type], dict[str, Any]]] = functools.lru_cache(2048)(_find_descriptors)


def _encode_unstored(error: UnstoredError) -> tuple[Any, ...]:
    return _ARGS.__get__(error), take_state(error), take_links(error)


def _decode_unstored(data: Any) -> UnstoredError:
    args, state, links = parts(data, tuple, object, tuple)
    error = UnstoredError.__new__(UnstoredError)
    fill_state(error, state)
    plain(getattr(error, "type_name", None), str)
    plain(getattr(error, "text", None), str)
    _ARGS.__set__(error, args)
    fill_links(error, links)
    return error


ADAPTERS: Final = (
    Adapter(
        name="unstored",
        types=(Unstored,),
        encode=lambda value: value.type_name,
        decode=lambda data: Unstored(plain(data, str)),
    ),
    Adapter(
        name="unstorederror",
        types=(UnstoredError,),
        encode=_encode_unstored,
        decode=_decode_unstored,
    ),
)
