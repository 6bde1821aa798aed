"""LangGraph's rows: what `JsonPlusSerializer` writes and wrote, read by its rules.

An extension holds the msgpack of `[module, name, argument]`: a call. LangGraph makes it, whatever
it names. Here a call is made where it is of a class of data that may be loaded, or of the short
list of what LangGraph itself writes. Then the result is exactly LangGraph's: validators and
constructors run, and where they fail, `model_construct` takes their place. Where a class is gone,
refused, or fails, LangGraph hands on the argument; so does this, as a stand-in that is written back
unchanged.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, Flag
from functools import cache
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
)
from pathlib import Path, PosixPath, PurePath, WindowsPath
from typing import TYPE_CHECKING, Any, Final, NoReturn
from uuid import UUID
from zoneinfo import ZoneInfo

import langchain_core.messages as lc
from langgraph.checkpoint.serde.event_hooks import emit_serde_event
from langgraph.checkpoint.serde.jsonplus import LC_REVIVER
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.store.base import Item, SearchItem
from langgraph.types import Send
from ormsgpack import OPT_NON_STR_KEYS, packb, unpackb
from pydantic import BaseModel, RootModel, SecretBytes, SecretStr
from pydantic.v1 import SecretBytes as OldSecretBytes
from pydantic.v1 import SecretStr as OldSecretStr

from langgraph_once.errors import PayloadError, SerdeError, SizeLimitError, TypeNotAllowedError
from langgraph_once.serde.format import head_bytes
from langgraph_once.serde.limits import (
    Budget,
    as_key,
    check_hashes,
    check_keys,
    check_levels,
    checked_pattern,
    flag_of,
    held_networks,
)
from langgraph_once.serde.opaque import stand_in
from langgraph_once.serde.plans.arrays import make_array
from langgraph_once.serde.plans.base import Form, Maker, check, parts
from langgraph_once.serde.plans.values import known_zone
from langgraph_once.serde.refused import UnavailableError
from langgraph_once.serde.stock_writes import encode_stock
from langgraph_once.serde.trust.off_loop import off_loop
from langgraph_once.serde.trusted.lookup import declared, is_data
from langgraph_once.serde.trusted.policy import Standing

if TYPE_CHECKING:
    from langgraph_once.serde.plans.registry import Plans

__all__ = [
    "StockForm",
    "check_class",
    "read_json",
    "read_stock",
    "rebuild_message",
    "stock_form",
]

SINGLE, POSITIONAL, KEYWORDS, METHOD, PYDANTIC_1, PYDANTIC_2, ARRAY, SNAPSHOT = range(8)
"""The codes of LangGraph's extensions."""

_FEW_LEVELS: Final = 3
_MAX_LEVELS: Final = 2000
"""How deep lists and dictionaries may stand in each other, in extensions that stand in each other:
what is written has few in each. The first extensions are not asked: 1,022 levels are the most."""
_MAX_EXPONENT: Final = 100_000
"""Of a `Decimal` in an object: a field that is an integer writes it out, which takes minutes."""


# Reading --------------------------------------------------------------------------------


class _Reader:
    """Reads one row.

    Attributes:
        plans: What may be loaded, and what makes it.
        tag: Of the row, for errors.
        keeps: Whether a stand-in is handed on for what cannot be made.
        error: The first one: ormsgpack hides those of its hook.
    """

    error: BaseException | None = None
    _level = 0
    _levels = 0

    def __init__(
        self, plans: Plans, budget: Budget, *, keeps: bool, hold: Callable[[Any], Any]
    ) -> None:
        self.plans = plans
        self.tag = budget.tag
        self._budget = budget
        self.keeps = keeps
        self._hold = hold
        self._own: dict[tuple[int, str, str], Maker] = {}
        self._refusals: dict[tuple[int, str, str], Exception] = {}

    def read(self, data: bytes) -> Any:
        """Return the value of a row.

        Raises:
            SerdeError: It is damaged, takes too much, or names what may not be loaded.
        """
        try:
            check_keys(data, self._budget)
            return unpackb(data, ext_hook=self.hook, option=OPT_NON_STR_KEYS)
        except Exception as error:
            raise self.told(error) from error

    def told(self, error: BaseException) -> BaseException:
        """Return what to raise."""
        first = self.error or error
        if isinstance(first, SerdeError) or not isinstance(first, Exception):
            return first
        return PayloadError(f"damaged, or nested too deep ({type(first).__name__})", tag=self.tag)

    def hook(self, code: int, content: bytes) -> Any:
        """Return the value of an extension. Called by ormsgpack, in one frame for each level."""
        try:
            levels = self._enter(content)
            parts = unpackb(content, ext_hook=self.hook, option=OPT_NON_STR_KEYS)
            self._level -= 1
            self._levels -= levels
            self._budget.open(-len(content))
            if code == PYDANTIC_2:
                message = rebuild_message(parts)
                if message is not None:
                    return message
            try:
                return self._hold(self.made(code, parts))
            except (SizeLimitError, RecursionError):
                raise
            except Exception as error:
                return self.instead(code, parts, content, error)
        except BaseException as error:
            self.error = self.error or error
            raise

    def _enter(self, content: bytes) -> int:
        """Take what reading a content costs; return how many levels to give back."""
        self._level += 1
        self._budget.open(len(content))
        self._budget.write_out(len(content))
        check_keys(content, self._budget)
        levels = 0
        if self._level > _FEW_LEVELS:
            levels = check_levels(content, _MAX_LEVELS - self._levels)
            self._levels += levels
        return levels

    def made(self, code: int, parts: Any) -> Any:
        """Return the object of an extension.

        Raises:
            Exception: Of any class; it cannot be made.
        """
        if code == ARRAY:
            return make_array(parts)
        if code == SNAPSHOT:
            return _DeltaSnapshot(parts)
        module, name, argument = check(parts, list)[:3]
        key = code, check(module, str), check(name, str)
        if code == METHOD and parts[3:] != ["fromisoformat"]:
            _tell_of_method(module, name, parts[3:])
        if type(argument) is list and key[1:] in _HASHED:
            self._budget.take_hashes([*map(as_key, argument)])
        made = (self._own.get(key) or self.maker(key))(argument)
        if self._level and isinstance(made, Decimal) and abs(made.adjusted()) > _MAX_EXPONENT:
            raise UnavailableError("a number of too many digits")
        return made

    def maker(self, key: tuple[int, str, str]) -> Maker:
        """Return what makes objects of such an extension."""
        if key in self._refusals:
            raise self._refusals[key]
        if not self._budget.may_look():
            raise UnavailableError("too many classes of the row cannot be loaded")
        known = self.plans.stock_makers.current(key)
        if known is not None:
            self._own[key] = known
            return known
        code, module, name = key
        make: Maker
        try:
            if key[1:] == _PATTERN:
                make = self._pattern
            elif key[1:] in _SHORT:
                make = self.plans.stock_makers.note(key, _maker(code, _SHORT[key[1:]]))
            else:
                make = _maker(code, self._class(module, name))
                trust = self.plans.trust
                if not trust.reports:  # where all is trusted, each row tells what is not listed
                    place = trust.current_name(f"{module}:{name}")
                    self.plans.stock_makers.note(key, make, place)
        except Exception as error:
            self._refusals[key] = error.with_traceback(None)
            self._budget.note_refusal()
            raise
        self._own[key] = make
        return make

    def _class(self, module: str, name: str) -> Any:
        """Return the class that an extension names."""
        trust = self.plans.trust
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

    def instead(self, code: int, parts: Any, content: bytes, error: Exception) -> Any:
        """Return what stands for an object that cannot be made: LangGraph hands on its argument."""
        is_call = code < ARRAY and type(parts) is list and len(parts) > 2
        named = is_call and type(parts[0]) is type(parts[1]) is str
        name = f"{parts[0]}:{parts[1]}"[:300] if named else _NAMES.get(code, "?:?")
        if not self.keeps:
            if isinstance(error, SerdeError):
                error.tag = error.tag or self.tag
                raise error
            why = f"{name} could not be rebuilt ({type(error).__name__})"
            raise PayloadError(why, tag=self.tag) from error
        if not isinstance(error, TypeNotAllowedError):
            text = "Could not rebuild %s as LangGraph wrote it (%s); its content stands for it"
            self.plans.trust.warn(name, text, name, type(error).__name__)
        return stand_in(head_bytes("stock", name, 0, code), content, parts[2] if is_call else None)


def _tell_of_method(module: str, name: str, method: Any) -> NoReturn:
    kind, called = "msgpack_method_blocked", str(method)[:100]
    emit_serde_event({"kind": kind, "module": module, "name": name, "method": called})
    raise UnavailableError("a call of a method")


_NAMES: Final = {ARRAY: "numpy:ndarray"}


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
    with held_networks() as hold:
        return _Reader(plans, Budget(len(data), tag), keeps=keeps, hold=hold).read(data)


def check_class(plans: Plans, code: int, module: str, name: str) -> None:
    """Ask what reading asks about the class that an extension names.

    Raises:
        SerdeError: It may not be loaded.
        ValueError: There is nothing to load.
    """
    budget = Budget(0, "msgpack")
    _Reader(plans, budget, keeps=False, hold=lambda made: made).maker((code, module, name))


# What makes objects ---------------------------------------------------------------------


def _set_of(kind: Any) -> Callable[..., Any]:
    def make(items: Any = ()) -> Any:
        items = [*map(as_key, check(items, list, tuple))]
        check_hashes(items)
        return kind(items)

    return make


def _zone(key: Any) -> ZoneInfo:
    found = off_loop(known_zone, key)  # it may read a file
    if found is None:
        raise UnavailableError("a time zone that this machine does not know")
    return found


_SHORT: Final[dict[tuple[str, str], Any]] = {
    ("builtins", "set"): _set_of(set),
    ("builtins", "frozenset"): _set_of(frozenset),
    ("zoneinfo", "ZoneInfo"): _zone,
    ("pydantic.v1.types", "SecretStr"): OldSecretStr,
    ("pydantic.v1.types", "SecretBytes"): OldSecretBytes,
    **{
        (cls.__module__, cls.__name__): cls
        for cls in (
            *(datetime, date, time, timedelta, timezone, UUID, Decimal, deque),
            *(IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network),
            *(SecretStr, SecretBytes, Item, SearchItem),
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
_HASHED: Final = (("builtins", "set"), ("builtins", "frozenset"))

_DUMPS: Final = ("model_dump", "dict", "_asdict", "get_secret_value", "__dataclass_fields__")
_VALUES: Final = (
    *(
        date,
        time,
        timedelta,
        timezone,
        ZoneInfo,
        Decimal,
        UUID,
        PurePath,
        set,
        frozenset,
        deque,
        Enum,
        Item,
    ),
    *(IPv4Address, IPv6Address, IPv4Network, IPv6Network, SecretStr, SecretBytes),
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
    if code == METHOD:
        return datetime.fromisoformat if cls is datetime else lambda text: _naive(cls, text)
    if isinstance(cls, type) and issubclass(cls, Enum):
        if code != SINGLE:
            raise UnavailableError("a call that LangGraph never writes")
        return lambda argument: _member(cls, argument)
    if code in (PYDANTIC_1, PYDANTIC_2):
        return _model_maker(cls, "construct" if code == PYDANTIC_1 else "model_construct")
    if isinstance(cls, type) and issubclass(cls, (set, frozenset)):
        cls = _set_of(cls)
    if code == KEYWORDS:
        return lambda argument: cls(**argument)
    if code == POSITIONAL:
        return _send if cls is Send else lambda argument: cls(*argument)
    return cls  # type: ignore[no-any-return]  # called with its only argument


_WIDE: Final = re.compile(r"\d{5}")


def _is_wide(argument: Any) -> bool:
    """Whether a text among the arguments of a template may say how wide it is to become."""
    todo = [argument]
    for each in todo:
        if type(each) is str and _WIDE.search(each):
            return True
        if type(each) in (list, dict):  # templates that are made already were looked at
            todo += each if type(each) is list else [*each, *each.values()]
    return False


def _model_maker(cls: Any, unchecked: str) -> Maker:
    is_root = issubclass(cls, RootModel)

    def make(argument: Any) -> Any:
        if is_root and type(argument) is not dict:
            return cls(argument)
        if argument.get("validate_template") and _is_wide(argument):
            raise UnavailableError("a template that may become very long when it is tried out")
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


# Messages -------------------------------------------------------------------------------


_COMMON: Final = ("content", "additional_kwargs", "response_metadata", "type", "name", "id")


def rebuild_message(parts: Any) -> Any:
    """Return the message of `[module, name, dump, method]` where validation would change nothing.

    Validating a message takes several times as long as unpacking it. A dump that has all the fields
    in order, each of the very type that is declared, is the state of the message. None where that
    is not so.

    Args:
        parts: What an extension holds, or nearly anything else.
    """
    if type(parts) is not list or len(parts) != 4 or type(parts[1]) is not str:
        return None
    found = _messages().get(parts[1])
    dump = parts[2]
    if found is None or type(dump) is not dict:
        return None
    cls, fields, fields_set, its_kind, differs = found
    if [*dump] != fields or parts[0] != cls.__module__:
        return None
    content, more, metadata, kind, name, id_, *own = dump.values()
    if (
        (type(content) is not str and not _are_blocks(content))
        or type(more) is not dict
        or type(metadata) is not dict
        or type(kind) is not str
        or kind != its_kind
        or not (name is None or type(name) is str)
        or not (id_ is None or type(id_) is str)
        or (differs is not None and differs(dump, *own))
    ):
        return None
    return _around(cls, dump, fields_set)


class _Blank(BaseModel):
    """Takes attributes sooner than a message does, and then becomes one."""

    __setattr__ = object.__setattr__


def _around(cls: type, dump: dict[str, Any], fields_set: set[str]) -> Any:
    made: Any = object.__new__(_Blank)
    made.__dict__ = dump
    made.__pydantic_fields_set__ = fields_set.copy()
    made.__pydantic_extra__ = {}
    made.__pydantic_private__ = None
    made.__class__ = cls
    return made


def _as_read(names: Iterable[str]) -> list[str]:
    """Return names as the very strings that ormsgpack hands out: these are compared sooner."""
    return [*unpackb(packb(dict.fromkeys(names)))]


_USAGE: Final = _as_read(("input_tokens", "output_tokens", "total_tokens"))
_CALL: Final = _as_read(("name", "args", "id", "type"))
_DETAILS: Final = {
    "input_token_details": ("audio", "cache_creation", "cache_read"),
    "output_token_details": ("audio", "reasoning"),
}


def _are_blocks(content: Any) -> bool:
    return type(content) is list and all(type(block) in (dict, str) for block in content)


def _ai_differs(dump: dict[str, Any], calls: Any, invalid: Any, usage: Any) -> bool:
    # Without tool calls, validation looks for those of old messages.
    return (
        type(calls) is not list
        or not (
            all(map(_is_call, calls)) if calls else "tool_calls" not in dump["additional_kwargs"]
        )
        or invalid != []
        or not (usage is None or _is_usage(usage))
    )


def _is_call(call: Any) -> bool:
    if type(call) is not dict or [*call] != _CALL:
        return False
    name, args, id_, kind = call.values()
    return (
        type(name) is str
        and type(args) is dict
        and {*map(type, args)} <= {str}
        and (id_ is None or type(id_) is str)
        and type(kind) is str
        and kind == "tool_call"
    )


def _is_usage(usage: Any) -> bool:
    if type(usage) is not dict or [*usage][:3] != _USAGE:
        return False
    counts = [*usage.values()]
    names = [*usage][3:]
    return (
        {*map(type, counts[:3])} == {int}
        and names in ([*_DETAILS], [*_DETAILS][:1], [*_DETAILS][1:], [])
        and all(_are_counts(usage[name], _DETAILS[name]) for name in names)
    )


def _are_counts(details: Any, names: tuple[str, ...]) -> bool:
    """Whether these are nothing but numbers under these names, in this order."""
    return (
        type(details) is dict
        and {*map(type, details.values())} <= {int}
        and [*details] == [name for name in names if name in details]
    )


def _chunk_differs(dump: Any, calls: Any, invalid: Any, usage: Any, pieces: Any, at: Any) -> bool:
    # Validation derives the calls of a chunk from its pieces, and the pieces from its calls.
    return calls != [] or pieces != [] or at is not None or _ai_differs(dump, calls, invalid, usage)


def _tool_differs(_dump: Any, call_id: Any, _artifact: Any, status: Any) -> bool:
    is_text = type(call_id) is type(status) is str
    return not is_text or status not in ("success", "error")


_Message = tuple[type[BaseModel], list[str], set[str], str, Callable[..., bool] | None]
_CLASSES: Final[tuple[tuple[Any, dict[str, Any], Callable[..., bool] | None], ...]] = (
    (lc.HumanMessage, {}, None),
    (lc.HumanMessageChunk, {}, None),
    (lc.SystemMessage, {}, None),
    (lc.SystemMessageChunk, {}, None),
    (lc.AIMessage, {}, _ai_differs),
    (lc.AIMessageChunk, {}, _chunk_differs),
    (lc.ToolMessage, {"tool_call_id": "x"}, _tool_differs),
    (lc.ToolMessageChunk, {"tool_call_id": "x"}, _tool_differs),
)
"""Classes, what a sample needs, and whether validation changes the fields that are not common."""


@cache
def _messages() -> dict[str, _Message]:
    """Return, by name, the classes whose validation leaves a sample as it is."""
    found: dict[str, _Message] = {}
    for cls, needed, differs in _CLASSES:
        sample = cls(content="x", id="1", **needed).model_dump()
        fields = _as_read(cls.model_fields)
        made = _around(cls, sample, {*fields})
        validated = cls(**sample)
        is_same = made == validated and [*vars(validated)] == [*sample] == fields
        if is_same and tuple(fields[:6]) == _COMMON:
            kind = cls.model_fields["type"].default
            found[cls.__name__] = cls, fields, {*fields}, kind, differs
    return found


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

    def matches(self, cls: type) -> bool:  # noqa: ARG002  # as the others
        return False

    def making(self, extra: list[Any], budget: Budget) -> Maker:
        """Return what makes objects of a row of ours, which takes from the budget of the row."""
        (code,) = parts(extra, int)

        def make(data: Any) -> Any:
            with held_networks() as hold:
                reader = _Reader(self._plans, budget, keeps=True, hold=hold)
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
        with held_networks() as hold:
            content = _Reader(self._plans, budget, keeps=True, hold=hold).read(data)
        is_call = code < ARRAY and type(content) is list and len(content) > 2
        return content[2] if is_call else None


def stock_form(obj: Any) -> tuple[int, bytes] | None:
    """Return code and content of the extension that LangGraph writes for an object.

    None where it writes none: it raises, or leaves a native value.
    """
    found: list[tuple[int, bytes]] = []
    try:
        unpackb(encode_stock(obj), ext_hook=lambda *each: found.append(each))
    except Exception:  # of the class
        return None
    return found[0] if len(found) == 1 and type(obj) not in (list, dict, tuple) else None


_PARSERS: Final[dict[tuple[str, ...], Callable[[Any], Any]]] = {
    ("builtins", "bytes", "fromhex"): bytes.fromhex,
    ("builtins", "bytearray", "fromhex"): bytearray.fromhex,
    ("datetime", "date", "fromisoformat"): date.fromisoformat,
    ("datetime", "datetime", "fromisoformat"): datetime.fromisoformat,
    ("datetime", "time", "fromisoformat"): time.fromisoformat,
}
"""Methods that the writers of JSON called."""


def read_json(data: bytes, plans: Plans, tag: str, *, keeps: bool) -> Any:
    """Return the value of a row of codec `json`, which LangGraph wrote before it had msgpack.

    Args:
        data: The row.
        plans: What may be loaded.
        tag: Of the row, for errors.
        keeps: Whether a stand-in is handed on for what cannot be made.

    Raises:
        SerdeError: As `read_stock`.
    """
    with held_networks() as hold:
        reader = _Reader(plans, Budget(len(data), tag), keeps=keeps, hold=hold)
        reader._level = 1  # noqa: SLF001  # of this file
        try:
            return json.loads(data, object_hook=lambda value: hold(_revived(value, reader)))
        except Exception as error:
            raise reader.told(error) from error


def _revived(value: dict[str, Any], reader: _Reader) -> Any:
    if value.get("lc") == 1:
        kwargs = value.get("kwargs")
        if type(kwargs) is dict and kwargs.get("validate_template") and _is_wide(kwargs):
            raise PayloadError("a template that may become very long", tag=reader.tag)
        return LC_REVIVER(value)  # classes of langchain-core only
    names = value.get("id")
    if value.get("lc") != 2 or value.get("type") != "constructor" or not names:
        return value
    *module, name = map(str, check(names, list))
    parse = _PARSERS.get((".".join(module), name, str(value.get("method"))))
    args, kwargs = value.get("args") or [], value.get("kwargs") or {}
    if parse is not None:
        return parse(*args)
    code, argument = KEYWORDS, kwargs
    if value.get("method"):
        code = PYDANTIC_2
    if args and not kwargs:
        code, argument = (SINGLE, args[0]) if len(args) == 1 else (POSITIONAL, args)
    parts = [".".join(module), name, argument]
    try:
        return reader.made(code, parts)
    except (SizeLimitError, RecursionError):
        raise
    except Exception as error:
        return reader.instead(code, parts, encode_stock(parts), error)
