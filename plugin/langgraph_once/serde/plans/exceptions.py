"""Exceptions: arguments, attributes, notes, cause and context; never a traceback.

They are made without `__init__`, which often takes other arguments than those that it passes on.
What the built-in exceptions keep outside of their `__dict__` is listed here. Tracebacks are left
out, as `pickle` leaves them out, since they hold frames; so is the object that an `AttributeError`
was raised for.

An exception that cannot be written whole becomes an `UnstoredError`: class and text. LangGraph
keeps the text of each exception, and nothing else.
"""

from __future__ import annotations

import builtins
from typing import Any, Final

from langgraph_once.serde.opaque import STAND_INS, UnwritableError
from langgraph_once.serde.plans.base import Form, Maker, check, parts
from langgraph_once.serde.plans.records import fill, is_subclass, take

# An error may quote a whole page; who reads a history needs its beginning.
_MAX_TEXT_CHARS: Final = 20_000


class UnstoredError(Exception):
    """Stands for an exception that could not be stored, or may not be loaded.

    It has the notes of that exception. Its text begins with the name of the class.

    Attributes:
        type_name: The class, as `module:Qual.Name`.
        text: What `str()` of the exception said, cut short at 20,000 characters.
    """

    __module__ = "langgraph_once.serde"

    def __init__(self, type_name: str, text: str) -> None:
        super().__init__(type_name, text)
        self.type_name = type_name
        self.text = text

    def __str__(self) -> str:
        return f"{self.type_name}: {self.text}" if self.text else self.type_name


def as_text(error: BaseException) -> UnstoredError:
    """Return what stands for an exception that cannot be written whole."""
    cls = type(error)
    try:
        said: Any = str(error)
        text = str.__getitem__(said, slice(_MAX_TEXT_CHARS))
    except Exception:  # it is code of the exception's class
        text = ""
    made = UnstoredError(f"{cls.__module__}:{cls.__qualname__}", text)
    notes: Any = getattr(error, "__notes__", None)
    for note in notes if type(notes) is list else ():
        if type(note) is str:
            made.add_note(note)
    return made


_UNICODE: Final[dict[str, type]] = {
    "encoding": str,
    "object": object,
    "start": int,
    "end": int,
    "reason": str,
}
_SYNTAX: Final = "msg filename lineno offset text end_lineno end_offset print_file_and_line"

_FIELDS: Final[dict[type, dict[str, type]]] = {
    StopIteration: {"value": object},
    SystemExit: {"code": object},
    ImportError: dict.fromkeys(("msg", "name", "path"), object),
    NameError: {"name": object},
    AttributeError: {"name": object},
    OSError: {
        **dict.fromkeys(("errno", "strerror", "filename", "filename2"), object),
        "characters_written": int,
    },
    SyntaxError: dict.fromkeys(_SYNTAX.split(), object),
    UnicodeDecodeError: {**_UNICODE, "object": bytes},
    UnicodeEncodeError: {**_UNICODE, "object": str},
    UnicodeTranslateError: {
        **{name: kind for name, kind in _UNICODE.items() if name != "encoding"},
        "object": str,
    },
}
"""What built-in exceptions keep beside their arguments, by what `str()` of them relies on: of
another type, some of them crash Python."""

_ARGS: Final[Any] = vars(BaseException)["args"]
_LINKS: Final = ("__cause__", "__context__", "__suppress_context__")


class _RaisedForm(Form):
    """What both kinds of exceptions have in common. The head holds the name of the class."""

    upgrades_shown = False

    def extra_of(self, cls: type) -> tuple[Any, ...]:
        return (cls.__name__,)

    def args_of(self, data: Any) -> list[Any]:
        """Return the arguments among the data."""
        raise NotImplementedError

    def shown(self, data: Any, extra: list[Any]) -> Any:
        (name,) = parts(extra, str)
        args = check(self.args_of(data), list)
        return f"{name}({', '.join(map(repr, args)) if _is_short(args) else '...'})"


class ExceptionForm(_RaisedForm):
    """Every exception but groups. The data are arguments, fields, attributes and links."""

    name = "exception"

    def matches(self, cls: type) -> bool:
        return BaseException in cls.__mro__ and BaseExceptionGroup not in cls.__mro__

    def take(self, obj: Any) -> list[Any]:
        _check_whole(type(obj))
        return [[*_ARGS.__get__(obj)], _taken_fields(obj), take(obj), _taken_links(obj)]

    def blank(self, cls: type) -> Any:
        return _builtin(cls).__new__(cls)

    def fill(self, obj: Any, data: Any, extra: list[Any]) -> None:
        args, fields, state, links = parts(data, list, dict, dict, list)
        _check_fields(type(obj), fields)
        for name, value in fields.items():
            _descriptors(type(obj))[name].__set__(obj, value)
        fill(obj, state)
        _ARGS.__set__(obj, tuple(args))
        _fill_links(obj, links)

    def args_of(self, data: Any) -> list[Any]:
        return parts(data, list, dict, dict, list)[0]  # type: ignore[no-any-return]  # it is a list


class GroupForm(_RaisedForm):
    """Groups, which cannot be made empty. The data are text, exceptions, and as of the others."""

    name = "group"

    def matches(self, cls: type) -> bool:
        return BaseExceptionGroup in cls.__mro__

    def take(self, obj: Any) -> list[Any]:
        _check_whole(type(obj))
        args = [*_ARGS.__get__(obj)]
        return [obj.message, [*obj.exceptions], args, take(obj), _taken_links(obj)]

    def maker(self, cls: type, extra: list[Any]) -> Maker:
        def make(data: Any) -> Any:
            message, exceptions, args, state, links = parts(data, str, list, list, dict, list)
            obj: Any = BaseExceptionGroup.__new__(cls, message, [*map(_raised, exceptions)])
            fill(check(obj, cls), state)
            _ARGS.__set__(obj, tuple(args))
            _fill_links(obj, links)
            return obj

        return make

    def args_of(self, data: Any) -> list[Any]:
        return parts(data, str, list, list, dict, list)[2]  # type: ignore[no-any-return]  # as above


def _is_short(args: list[Any]) -> bool:
    """Whether the arguments are soon shown, with their shared parts written out."""
    todo, left = [*args], _MAX_TEXT_CHARS
    for each in todo:
        kind = type(each)
        if kind in (list, tuple, set, frozenset):
            todo += each
        elif kind is dict:
            todo += [*each, *each.values()]
        elif kind in (str, bytes):
            left -= len(each)
        elif hasattr(kind, "__dictoffset__") and kind.__dictoffset__:
            todo += object.__getattribute__(each, "__dict__").values()
        if len(todo) > left:
            return False
    return True


def _check_whole(cls: type) -> None:
    if not is_subclass(cls, _builtin(cls)):
        raise UnwritableError("an exception that an extension in C keeps more of")


def _taken_links(obj: BaseException) -> list[Any]:
    return [obj.__cause__, obj.__context__, obj.__suppress_context__]


def _fill_links(obj: BaseException, links: Any) -> None:
    *raised_from, suppress = parts(links, object, object, bool)
    found = [None if link is None else _raised(link) for link in raised_from]
    for name, value in zip(_LINKS, (*found, suppress), strict=True):
        vars(BaseException)[name].__set__(obj, value)  # past a `__setattr__` of its class


def _raised(found: Any) -> BaseException:
    """Return an exception, or what stands in the place of one whose class may not be loaded."""
    if issubclass(type(found), BaseException):
        return found  # type: ignore[no-any-return]  # mypy takes no `issubclass` of a type
    if type(found) in STAND_INS:
        return UnstoredError(found.type_name, str(found) if isinstance(found, str) else "")
    raise ValueError("an exception that is none")


def _taken_fields(obj: BaseException) -> dict[str, Any]:
    fields = {}
    for name, descriptor in _descriptors(type(obj)).items():
        try:
            value = descriptor.__get__(obj)
        except AttributeError:
            continue
        if value is not None:  # unset and None look alike; a new exception has it unset
            fields[name] = value
    try:
        _check_fields(type(obj), fields)
    except ValueError as error:
        raise UnwritableError(str(error)) from None
    return fields


def _check_fields(cls: type, fields: dict[Any, Any]) -> None:
    kinds = _kinds(cls)
    if not fields.keys() <= kinds.keys():
        raise ValueError("an exception with an unknown field")
    for name, value in fields.items():
        if kinds[name] is not object:
            check(value, kinds[name])
    if "reason" in kinds and (fields.keys() != kinds.keys() or fields["start"] < 0):
        raise ValueError("an incomplete UnicodeError")


def _builtin(cls: type) -> Any:
    return next(base for base in cls.__mro__ if vars(builtins).get(base.__name__) is base)


def _with_fields(cls: type) -> Any:
    return next((base for base in cls.__mro__ if base in _FIELDS), None)


def _kinds(cls: type) -> dict[str, type]:
    return _FIELDS.get(_with_fields(cls), {})


def _descriptors(cls: type) -> dict[str, Any]:
    base = _with_fields(cls)
    return {name: vars(base)[name] for name in _kinds(cls) if name in vars(base)}


FORMS: Final[tuple[Form, ...]] = (ExceptionForm(), GroupForm())
"""No class is of both."""
