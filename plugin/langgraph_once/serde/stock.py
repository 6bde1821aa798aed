"""LangGraph's rows: what `JsonPlusSerializer` writes and wrote, read by its rules.

An extension holds the msgpack of `[module, name, argument]`: a call. LangGraph makes it, whatever
it names. Here a call is made where it is of a class of data that may be loaded, or of the short
list of what LangGraph itself writes. Then the result is exactly LangGraph's: validators and
constructors run, and where they fail, `model_construct` takes their place. Where a class is gone,
refused, or fails, LangGraph hands on the argument; so does this, as a stand-in that is written back
unchanged.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections import deque
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, Flag
from functools import partial
from pathlib import Path, PosixPath, PurePath, WindowsPath
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol
from uuid import UUID
from zoneinfo import ZoneInfo

from langgraph.checkpoint.serde.event_hooks import emit_serde_event
from langgraph.checkpoint.serde.jsonplus import LC_REVIVER
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.store.base import Item, SearchItem
from langgraph.types import Send
from ormsgpack import OPT_NON_STR_KEYS, unpackb
from pydantic import RootModel, SecretBytes, SecretStr
from pydantic.v1 import SecretBytes as OldSecretBytes, SecretStr as OldSecretStr

from langgraph_once.errors import PayloadError, SerdeError, SizeLimitError, TypeNotAllowedError
from langgraph_once.serde.format import head_bytes
from langgraph_once.serde.limits import (
    NETWORKS,
    Budget,
    as_key,
    check_keys,
    check_levels,
    checked_pattern,
    flag_of,
    hold,
    release,
)
from langgraph_once.serde.lookup import declared, is_data, off_loop
from langgraph_once.serde.messages import rebuild_message
from langgraph_once.serde.opaque import UnavailableError, stand_in
from langgraph_once.serde.plans.arrays import make_array
from langgraph_once.serde.plans.base import Form, Maker, check, parts
from langgraph_once.serde.plans.values import known_zone
from langgraph_once.serde.stock_writes import encode_stock
from langgraph_once.serde.trust import Standing

if TYPE_CHECKING:
    from langgraph_once.serde.plans.base import Makers
    from langgraph_once.serde.trust import Trust

SINGLE, POSITIONAL, KEYWORDS, METHOD, PYDANTIC_1, PYDANTIC_2, ARRAY, SNAPSHOT = range(8)
"""The codes of LangGraph's extensions."""

_LARGE_BYTES: Final = 4096
"""What is smaller is copied for nothing."""
_FEW_LEVELS: Final = 4
_MAX_LEVELS: Final = 2000
"""How deep lists and dictionaries may stand in each other, in extensions that stand in each other:
what is written has few in each. The row and the first extensions count for nothing: ormsgpack
itself lets none have more than 1,022 levels."""
_MAX_EXPONENT: Final = 100_000
"""Of a `Decimal` in an object: a field that is an integer writes it out, which takes minutes."""


# Reading --------------------------------------------------------------------------------


class Plans(Protocol):
    """What a row is read with: `registry.Plans`."""

    trust: Trust
    stock_makers: Makers


class _Reader:
    """Reads one row. Its objects are made by one set of rules, whichever codec describes them."""

    error: BaseException | None = None
    """The first error of the hook: ormsgpack hides what a hook raises."""
    _level = 0
    _levels = 0
    _option = 0

    def __init__(self, plans: Plans, budget: Budget, *, keeps: bool) -> None:
        """Take what one row needs.

        Args:
            plans: What may be loaded, and what makes it.
            budget: What reading may take.
            keeps: Whether a stand-in is handed on for what cannot be made.
        """
        self._plans = plans
        self._budget = budget
        self._keeps = keeps
        self._networks: list[Any] = []
        self._makers: dict[tuple[int, str, str], Maker] = {}

    def read(self, data: bytes) -> Any:
        """Return the value of a row of msgpack.

        Raises:
            SerdeError: It is damaged, takes too much, or names what may not be loaded.
        """
        return self._complete(lambda: self.hook(None, data))

    def read_json(self, data: bytes) -> Any:
        """Return the value of a row of JSON.

        Raises:
            SerdeError: It is damaged, takes too much, or names what may not be loaded.
        """
        self._level = _IN_AN_OBJECT
        return self._complete(lambda: json.loads(data, object_hook=self._revived))

    def _complete(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except Exception as error:
            first = self.error or error
            if isinstance(first, SerdeError) or not isinstance(first, Exception):
                raise first from error
            why = f"damaged, or nested too deep ({type(first).__name__})"
            raise PayloadError(why, tag=self._budget.tag) from error
        finally:
            for network in self._networks:
                release(network)

    def hook(self, code: int | None, content: bytes) -> Any:
        """Return the value of an extension, or of the row. One frame is on the stack for each."""
        try:
            levels = self._enter(content)
            try:
                parts = unpackb(content, ext_hook=self.hook, option=self._option)
            except ValueError:
                if self.error is not None or self._option:
                    raise
                self._option = OPT_NON_STR_KEYS  # there are keys that are no text: each is hashed
                check_keys(content)
                parts = unpackb(content, ext_hook=self.hook, option=OPT_NON_STR_KEYS)
            self._level -= 1
            self._levels -= levels
            if len(content) > _LARGE_BYTES:
                self._budget.open(-len(content))
            return parts if code is None else self._object(code, parts, content)
        except BaseException as error:
            self.error = self.error or error
            raise

    def _enter(self, content: bytes) -> int:
        """Take what reading a content costs; return how many levels to give back."""
        self._level += 1
        if len(content) > _LARGE_BYTES:
            self._budget.open(len(content))
            self._budget.write_out(len(content))
        if self._option:
            check_keys(content, self._budget)
        if self._level <= _FEW_LEVELS:
            return 0
        levels = check_levels(content, _MAX_LEVELS - self._levels)
        self._levels += levels
        return levels

    def _object(self, code: int, parts: Any, content: bytes | None = None) -> Any:
        """Return the object of an extension, or what stands for it.

        Nothing walks through a network before the value is complete.
        """
        try:
            made = self.made(code, parts)
        except (SizeLimitError, RecursionError):
            raise
        except Exception as error:
            return self._instead(code, parts, content or encode_stock(parts), error)
        if type(made) in NETWORKS:
            self._networks.append(hold(made))
        return made

    def made(self, code: int, parts: Any) -> Any:
        """Return the object of an extension.

        Raises:
            Exception: Of any class; it cannot be made.
        """
        if code >= ARRAY:
            return _SPECIAL[code](parts)
        if code == PYDANTIC_2 and (message := rebuild_message(parts)) is not None:
            return message
        if code == METHOD and parts[3:] != ["fromisoformat"]:
            _tell_of_method(*parts[:4])
        key = code, parts[0], parts[1]
        made = (self._makers.get(key) or self._new_maker(key))(parts[2])
        is_within = self._level >= _IN_AN_OBJECT
        if type(made) is Decimal and is_within and abs(made.adjusted()) > _MAX_EXPONENT:
            raise UnavailableError("a number of too many digits")
        return made

    def _new_maker(self, key: tuple[int, str, str]) -> Maker:
        try:
            make = self.maker(*key)
        except Exception as error:
            self._budget.note_refusal()
            make = partial(_refused, error.with_traceback(None))
        self._makers[key] = make
        return make

    def maker(self, code: int, module: str, name: str) -> Maker:
        """Return what makes the objects of such extensions.

        Raises:
            SerdeError: The class may not be loaded.
            ValueError: There is nothing to load.
        """
        if not self._budget.may_look():
            raise UnavailableError("too many classes of the row cannot be loaded")
        if (module, name) == _PATTERN:
            return self._pattern
        makers, trust = self._plans.stock_makers, self._plans.trust
        known = makers.current((code, module, name))
        if known is not None:
            return known
        is_short = (module, name) in _SHORT
        cls = _SHORT[module, name] if is_short else self._class(module, name)
        if issubclass(cls, (Enum, set, frozenset)) and code != SINGLE:
            raise UnavailableError("a call that LangGraph never writes")
        if issubclass(cls, (set, frozenset)):
            return partial(self._set, cls)
        make = _maker(code, cls)
        # A maker that was noted is not asked for again. A table that reports must be asked for each
        # row: it warns then of a class that is not listed.
        if is_short or not trust.reports:
            place = None if is_short else trust.current_name(f"{module}:{name}")
            makers.note((code, module, name), make, place)
        return make

    def _class(self, module: str, name: str) -> Any:
        """Return the class that an extension names."""
        trust = self._plans.trust
        cls = trust.find(f"{module}:{name}")
        if not isinstance(cls, type):
            raise UnavailableError("a call of what is no class")
        is_written = _is_written(cls)
        trust.check(cls, calls=not (is_written and is_data(cls)))
        if not is_written and trust.standing(cls) is not Standing.LISTED:
            raise UnavailableError("a call that LangGraph never writes")
        return cls

    def _pattern(self, argument: Any) -> Any:
        self._budget.take_pattern(*check(argument, list))
        return checked_pattern(*argument)

    def _set(self, cls: Any, argument: Any) -> Any:
        items = [*map(as_key, check(argument, list, tuple))]
        self._budget.take_hashes(items)
        return cls(items)

    def _instead(self, code: int, parts: Any, content: bytes, error: Exception) -> Any:
        """Return what stands for an object that cannot be made."""
        (name, shown), tag = _described(code, parts), self._budget.tag
        if not self._keeps:
            if isinstance(error, SerdeError):
                error.tag = error.tag or tag
                raise error
            why = f"{name} could not be rebuilt ({type(error).__name__})"
            raise PayloadError(why, tag=tag) from error
        if not isinstance(error, TypeNotAllowedError):
            text = "Could not rebuild %s as LangGraph wrote it (%s); its content stands for it"
            self._plans.trust.warn(name, text, name, type(error).__name__)
        return stand_in(head_bytes("stock", name, 0, code), content, shown)

    def _revived(self, value: dict[str, Any]) -> Any:
        """Return the value of a dictionary of JSON: of LangChain's envelopes, the object."""
        if value.get("lc") == 1:
            if type(kwargs := value.get("kwargs")) is dict:
                _check_template(kwargs)
            return LC_REVIVER(value)  # classes of langchain-core only
        names = value.get("id")
        if value.get("lc") != 2 or value.get("type") != "constructor" or not names:
            return value
        *modules, name = map(str, check(names, list))
        module, method = ".".join(modules), value.get("method")
        args, kwargs = value.get("args") or [], value.get("kwargs") or {}
        parse = _PARSERS.get((module, name, str(method)))
        if parse is not None:
            return parse(*args)
        code, argument = (PYDANTIC_2 if method else KEYWORDS), kwargs
        if args and not kwargs:
            code, argument = (SINGLE, args[0]) if len(args) == 1 else (POSITIONAL, args)
        return self._object(code, [module, name, argument])


_IN_AN_OBJECT: Final = 2
_SPECIAL: Final[dict[int, Maker]] = {ARRAY: make_array, SNAPSHOT: _DeltaSnapshot}


def _described(code: int, parts: Any) -> tuple[str, Any]:
    """Return what an extension names, and what LangGraph hands on where that cannot be made."""
    if code >= ARRAY or type(parts) is not list or len(parts) < 3:  # module, name, argument
        return "numpy:ndarray" if code == ARRAY else "?:?", None
    module, name, argument = parts[:3]
    is_named = type(module) is type(name) is str
    return f"{module}:{name}"[:300] if is_named else "?:?", argument


def _refused(error: Exception, _argument: Any) -> NoReturn:
    raise error


def _tell_of_method(module: Any, name: Any, _argument: Any, method: Any = "") -> NoReturn:
    kind, called = "msgpack_method_blocked", str(method)[:100]
    emit_serde_event({"kind": kind, "module": str(module), "name": str(name), "method": called})
    raise UnavailableError("a call of a method")


def read_stock(data: bytes, plans: Plans, tag: str, *, keeps: bool) -> Any:
    """Return the value of a row of codec `msgpack`.

    Args:
        data: The row.
        plans: What may be loaded.
        tag: Of the row, for errors.
        keeps: Whether a stand-in is handed on for what cannot be made.

    Raises:
        SerdeError: It is damaged, takes too much, or names what may not be loaded.
    """
    return _Reader(plans, Budget(len(data), tag), keeps=keeps).read(data)


def read_json(data: bytes, plans: Plans, tag: str, *, keeps: bool) -> Any:
    """Return the value of a row of codec `json`, which LangGraph wrote before it had msgpack.

    Arguments and errors are those of `read_stock`.
    """
    return _Reader(plans, Budget(len(data), tag), keeps=keeps).read_json(data)


def check_class(plans: Plans, code: int, module: str, name: str) -> None:
    """Ask what reading asks about the class that an extension names.

    Raises:
        SerdeError: It may not be loaded.
        ValueError: There is nothing to load.
    """
    _Reader(plans, Budget(0, "msgpack"), keeps=False).maker(code, module, name)


# What makes objects ---------------------------------------------------------------------


def _zone(key: Any) -> ZoneInfo:
    found = off_loop(known_zone, key)  # it may read a file
    if found is None:
        raise UnavailableError("a time zone that this machine does not know")
    return found


_IP: Final = (
    *(ipaddress.IPv4Address, ipaddress.IPv4Interface, ipaddress.IPv4Network),
    *(ipaddress.IPv6Address, ipaddress.IPv6Interface, ipaddress.IPv6Network),
)
_SHORT: Final[dict[tuple[str, str], Any]] = {
    ("pydantic.v1.types", "SecretStr"): OldSecretStr,
    ("pydantic.v1.types", "SecretBytes"): OldSecretBytes,
    **{
        (cls.__module__, cls.__name__): cls
        for cls in (
            *(set, frozenset, deque, datetime, date, time, timedelta, timezone, UUID, Decimal),
            *(*_IP, ZoneInfo, SecretStr, SecretBytes, Item, SearchItem),
        )
    },
    **{
        (module, cls.__name__): cls
        for cls in (Path, PosixPath, WindowsPath)
        for module in ("pathlib", "pathlib._local")
    },
}
"""What LangGraph writes besides classes of data, and patterns; it is listed in each case."""
_PATTERN: Final = ("re", "compile")

_DUMPS: Final = ("model_dump", "dict", "_asdict", "get_secret_value", "__dataclass_fields__")
_VALUES: Final = (
    *(date, time, timedelta, timezone, ZoneInfo, Decimal, UUID, PurePath, set, frozenset, deque),
    *(*_IP, SecretStr, SecretBytes, Enum, Item),
)


def _is_written(cls: type) -> bool:
    """Whether LangGraph writes calls of a class: it is one of data, or says how it is dumped."""
    return (
        issubclass(cls, _VALUES)
        or any(declared(cls, name) is not None for name in _DUMPS)
        or cls is Send
    )


def _maker(code: int, cls: Any) -> Maker:
    """Return what does with an argument what LangGraph does."""
    if cls is ZoneInfo:
        return _zone
    if code == METHOD:
        return datetime.fromisoformat if cls is datetime else lambda text: _naive(cls, text)
    if issubclass(cls, Enum):
        return lambda argument: _member(cls, argument)
    if code in (PYDANTIC_1, PYDANTIC_2):
        return _model_maker(cls, "construct" if code == PYDANTIC_1 else "model_construct")
    if code == KEYWORDS:
        if cls in _ITEMS:
            return lambda argument: _item(cls, argument)
        return lambda argument: cls(**argument)
    if code == POSITIONAL:
        return _send if cls is Send else lambda argument: cls(*argument)
    return cls  # type: ignore[no-any-return]  # called with its only argument


_ITEMS: Final = (Item, SearchItem)


def _item(cls: Any, argument: dict[str, Any]) -> Any:
    """Make an item of a store. Its constructor makes a tuple of its namespace, however long."""
    if type(argument.get("namespace")) not in (list, tuple):  # a network has 2**64 addresses
        raise UnavailableError("an item whose namespace is no list")
    return cls(**argument)


_WIDE: Final = re.compile(r"\d{5}")


def _check_template(arguments: dict[str, Any]) -> None:
    """Check that no text among the arguments of a template says how wide it is to become."""
    todo: list[Any] = [arguments] if arguments.get("validate_template") else []
    for each in todo:
        if type(each) is str and _WIDE.search(each):
            raise UnavailableError("a template that may become very long when it is tried out")
        if type(each) in (list, dict):  # templates that are made already were looked at
            todo += each if type(each) is list else [*each, *each.values()]


def _model_maker(cls: Any, unchecked: str) -> Maker:
    is_root = issubclass(cls, RootModel)

    def make(argument: Any) -> Any:
        if is_root and type(argument) is not dict:
            return cls(argument)
        _check_template(argument)
        try:
            return cls(**argument)
        except Exception:
            return getattr(cls, unchecked)(**argument)

    return make


def _send(argument: Any) -> Any:
    return Send(*argument) if len(argument) == 2 else Send(*argument[:2], timeout=argument[2])


def _naive(cls: Any, text: Any) -> Any:
    """Return an instance of a subclass of `datetime`, of which LangGraph leaves the text."""
    made = cls.fromisoformat(text)
    if made.tzinfo is not None:
        raise UnavailableError("the text does not say which zone it was in")
    return made


def _member(cls: Any, value: Any) -> Any:
    """Return the member of an enum; a value that was a tuple is a list in the row."""
    if issubclass(cls, Flag):
        return flag_of(cls, value)
    try:
        return cls(value)
    except Exception:
        if type(value) is not list:
            raise
        return cls(as_key(value))


# Other forms of the same ----------------------------------------------------------------


class StockForm(Form):
    """An object as LangGraph writes it, whose data are the bytes of LangGraph's extension.

    It is what is written where no exact form takes an object, and what stands for an object of
    LangGraph's rows that could not be made.
    """

    name = "stock"

    def __init__(self, plans: Plans) -> None:
        """Take what may be loaded."""
        self._plans = plans

    def making(self, extra: list[Any], budget: Budget) -> Maker:
        """Return what makes objects of a row of ours, which takes from the budget of the row."""
        (code,) = parts(extra, int)

        def make(data: Any) -> Any:
            reader = _Reader(self._plans, budget, keeps=True)
            content = reader.read(check(data, bytes))
            try:
                return reader.made(code, content)
            except (SizeLimitError, RecursionError):
                raise
            except Exception as error:
                raise UnavailableError(f"it cannot be made ({type(error).__name__})") from error

        return make

    def shown(self, data: Any, extra: list[Any]) -> Any:
        (code,), budget = parts(extra, int), Budget(len(check(data, bytes)), "once2")
        content = _Reader(self._plans, budget, keeps=True).read(data)
        return _described(code, content)[1]


_PARSERS: Final[dict[tuple[str, ...], Callable[[Any], Any]]] = {
    ("builtins", "bytes", "fromhex"): bytes.fromhex,
    ("builtins", "bytearray", "fromhex"): bytearray.fromhex,
    ("datetime", "date", "fromisoformat"): date.fromisoformat,
    ("datetime", "datetime", "fromisoformat"): datetime.fromisoformat,
    ("datetime", "time", "fromisoformat"): time.fromisoformat,
}
"""Methods that the writers of JSON called."""
