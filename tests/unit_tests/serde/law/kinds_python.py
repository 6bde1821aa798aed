"""Values of Python: builtins and their subclasses, enums, dates and zones, exceptions."""

from __future__ import annotations

import re
import uuid
from array import array
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from ipaddress import ip_address, ip_interface, ip_network
from pathlib import Path, PurePosixPath, PureWindowsPath
from random import Random
from threading import Lock
from types import MappingProxyType, SimpleNamespace
from typing import Any, Final
from zoneinfo import ZoneInfo

from dateutil import parser, relativedelta, tz  # type: ignore[import-untyped]  # has no types
from pydantic import TypeAdapter

from tests.unit_tests.serde.fidelity import kinds as k, object_kinds as o
from tests.unit_tests.serde.law import values as v
from tests.unit_tests.serde.law.drawn import moment, number, plain, word, words

FROM_JSON: TypeAdapter[datetime] = TypeAdapter(datetime)
TIME_FROM_JSON: TypeAdapter[time] = TypeAdapter(time)


def _key(r: Random) -> uuid.UUID:
    return uuid.UUID(int=r.getrandbits(128))


def _with(value: Any, **attributes: Any) -> Any:
    vars(value).update(attributes)
    return value


def _zoned(zone: tzinfo) -> Callable[[Random], datetime]:
    return lambda r: moment(r).replace(tzinfo=zone)


def _read(r: Random) -> datetime:
    text = moment(r).isoformat() + r.choice(["Z", "+02:00", "-07:30"])
    return FROM_JSON.validate_json(f'"{text}"')


def _raised(r: Random) -> Exception:
    """It has been raised, from another."""
    try:
        try:
            raise KeyError(word(r))
        except KeyError as error:
            raise ValueError(word(r)) from error
    except ValueError as error:
        return error.with_traceback(None)


def _noted(r: Random) -> Exception:
    error = ValueError(word(r))
    error.add_note(word(r))
    return error


def _run_time_tuple(r: Random) -> Any:
    made: Any = namedtuple  # noqa: PYI024  # made at run time, which mypy does not know
    return made("RunTime", "x y")(number(r), plain(r))


def _cyclic(r: Random) -> list[Any]:
    value: list[Any] = [number(r)]
    value.append(value)
    return value


PLAIN: Final[dict[str, Callable[[Random], Any]]] = {
    "bool": lambda r: r.random() < 0.5,
    "bytearray": lambda r: bytearray(word(r).encode()),
    "bytes": lambda r: word(r).encode(),
    "complex": lambda r: complex(number(r), 1),
    "dict with keys of many types": lambda r: {1: plain(r), 2.5: 1, None: 3, b"k": 4},
    "dict with keys that are dates": lambda r: {moment(r): 1, moment(r).date(): 2},
    "dict with keys that are enums": lambda r: {v.Colour.RED: number(r), v.Mode.FAST: 1},
    "dict with keys that are tuples": lambda r: {(1, number(r)): plain(r)},
    "dict with keys that are UUIDs": lambda r: {_key(r): plain(r)},
    "Ellipsis": lambda r: ...,
    "float": lambda r: r.choice([r.random(), float("nan"), float("inf"), -0.0]),
    "frozenset": lambda r: frozenset(words(r)),
    "int": lambda r: r.choice([number(r), -1, 2**63, -(2**63), 2**64 - 1]),
    "int of more than 64 bits": lambda r: 2**80 + number(r),
    "list that contains itself": _cyclic,
    "memoryview": lambda r: memoryview(word(r).encode()),
    "plain": plain,
    "range": lambda r: range(number(r)),
    "set": lambda r: {*words(r), number(r)},
    "str with a lone surrogate": lambda r: word(r) + "\ud800",
    "text": word,
    "tuple": lambda r: (number(r), plain(r)),
    "type": lambda r: r.choice([int, v.Colour, Path]),
}

COLLECTIONS: Final[dict[str, Callable[[Random], Any]]] = {
    "array": lambda r: array("i", [number(r)]),
    "ChainMap": lambda r: ChainMap({"a": plain(r)}, {"b": 1}),
    "Counter": lambda r: Counter(words(r)),
    "defaultdict": lambda r: defaultdict(list, {word(r): [number(r)]}),
    "deque": lambda r: deque(words(r), maxlen=5),
    "mappingproxy": lambda r: MappingProxyType({"a": plain(r)}),
    "namedtuple by function": lambda r: v.Pair(number(r), plain(r)),
    "namedtuple made at run time": _run_time_tuple,
    "OrderedDict": lambda r: OrderedDict(b=plain(r), a=1),
    "SimpleNamespace": lambda r: SimpleNamespace(a=plain(r)),
    "subclass of Counter": lambda r: v.Counts(words(r)),
    "subclass of defaultdict": lambda r: v.Groups(list, {word(r): [number(r)]}),
    "subclass of deque": lambda r: v.Queue(words(r)),
    "subclass of dict": lambda r: v.Table({word(r): plain(r)}),
    "subclass of dict whose items are attributes": lambda r: v.AttributeTable(a=plain(r)),
    "subclass of dict with an attribute": lambda r: _with(v.Table(a=1), note=plain(r)),
    "subclass of frozenset": lambda r: k.FrozenNames(words(r)),
    "subclass of list": lambda r: v.Rows([plain(r)]),
    "subclass of list with an attribute": lambda r: _with(v.Rows([1]), note=plain(r)),
    "subclass of OrderedDict": lambda r: v.Sequence(b=plain(r), a=1),
    "subclass of set": lambda r: k.Names(words(r)),
    "subclass of tuple": lambda r: v.Couple((number(r), plain(r))),
    "UserDict": lambda r: v.Settings({"a": plain(r)}),
    "UserList": lambda r: o.Stack([plain(r)]),
    "UserString": lambda r: o.Title(word(r)),
}

SUBCLASSES: Final[dict[str, Callable[[Random], Any]]] = {
    "subclass of bytearray": lambda r: v.Buffer(word(r).encode()),
    "subclass of bytearray with a lock": lambda r: _with(v.Buffer(word(r).encode()), lock=Lock()),
    "subclass of bytes": lambda r: k.Blob(word(r).encode()),
    "subclass of bytes with a lock": lambda r: _with(k.Blob(word(r).encode()), lock=Lock()),
    "subclass of date": lambda r: v.Day(2026, 1, 1 + number(r) % 28),
    "subclass of datetime": lambda r: v.Moment(2026, 1, 1 + number(r) % 28, tzinfo=UTC),
    "subclass of Decimal": lambda r: v.Money(number(r)) / 4 and v.Money("1.50"),
    "subclass of float": lambda r: k.Ratio(r.random()),
    "subclass of Fraction": lambda r: v.Share(number(r), 7),
    "subclass of int": lambda r: v.Whole(number(r)),
    "subclass of IPv4Address": lambda r: v.Address("10.0.0.1"),
    "subclass of Path": lambda r: v.File("a", word(r)),
    "subclass of str": lambda r: v.Text(word(r)),
    "subclass of str that refers to itself": lambda r: _itself(v.Text(word(r))),
    "subclass of str with an attribute": lambda r: _with(v.Text(word(r)), page=plain(r)),
    "subclass of str with slots": lambda r: k.Slug(word(r)),
    "subclass of time": lambda r: v.Clock(number(r) % 24, 30),
    "subclass of timedelta": lambda r: v.Span(seconds=number(r)),
    "subclass of UUID": lambda r: v.Key(int=r.getrandbits(128)),
}


def _itself(text: Any) -> Any:
    """As a text of BeautifulSoup refers to its page, which refers to it."""
    return _with(text, page={"texts": [text]})


ENUMS: Final[dict[str, Callable[[Random], Any]]] = {
    "Enum": lambda r: r.choice([*v.Colour]),
    "Enum in a class": lambda r: r.choice([*v.Holder.Inner]),
    "Enum of tuples": lambda r: r.choice([*v.Shade]),
    "Enum with __init__": lambda r: r.choice([*v.Planet]),
    "Flag": lambda r: r.choice([*k.Access]),
    "Flag, combined": lambda r: k.Access.BOTH,
    "Flag, empty": lambda r: k.Access(0),
    "IntEnum": lambda r: r.choice([*k.Level]),
    "IntFlag, combined": lambda r: k.Bits(5),
    "IntFlag, unknown bits": lambda r: k.Bits(9),
    "RegexFlag": lambda r: re.IGNORECASE | re.MULTILINE,
    "str and Enum": lambda r: r.choice([*v.OldMode]),
    "StrEnum": lambda r: r.choice([*v.Mode]),
}

VALUES: Final[dict[str, Callable[[Random], Any]]] = {
    "Decimal": lambda r: Decimal(number(r)) / 8,
    "Decimal, not a number": lambda r: Decimal("NaN"),
    "Fraction": lambda r: Fraction(number(r), 7),
    "IP address": lambda r: ip_address(r.choice(["10.0.0.1", "::1"])),
    "IP interface": lambda r: ip_interface(r.choice(["10.0.0.1/8", "::1/64"])),
    "IP network": lambda r: ip_network(r.choice(["10.0.0.0/8", "::/64"])),
    "Path": lambda r: Path("a", word(r)),
    "Pattern": lambda r: re.compile("a+" + re.escape(word(r)), re.IGNORECASE),
    "Pattern of bytes": lambda r: re.compile(b"a+"),
    "PurePosixPath": lambda r: PurePosixPath("/a", word(r)),
    "PureWindowsPath": lambda r: PureWindowsPath("C:/a"),
    "UUID": _key,
}

DATES: Final[dict[str, Callable[[Random], Any]]] = {
    "date": lambda r: moment(r).date(),
    "datetime": moment,
    "datetime in UTC": _zoned(UTC),
    "datetime in a fold": lambda r: datetime(2025, 10, 26, 2, 30, fold=1, tzinfo=_berlin()),
    "datetime of dateutil, isoparse": lambda r: parser.isoparse(moment(r).isoformat() + "Z"),
    "datetime of dateutil, local": _zoned(tz.tzlocal()),
    "datetime of dateutil, named": _zoned(tz.gettz("Europe/Berlin")),
    "datetime of dateutil, offset": _zoned(tz.tzoffset("CET", 3600)),
    "datetime of pydantic, from JSON": _read,
    "datetime with a fixed offset": _zoned(timezone(timedelta(hours=2))),
    "datetime with a named offset": _zoned(timezone(timedelta(hours=2), "here")),
    "datetime with a zone": lambda r: moment(r).replace(tzinfo=_berlin()),
    "datetime with a zone of its own": lambda r: moment(r).replace(tzinfo=v.Zone(3)),
    "datetime with a zone of its own, no arguments": _zoned(v.FixedZone()),
    "datetime with a zone without key": lambda r: moment(r).replace(tzinfo=_without_key()),
    "relativedelta": lambda r: relativedelta.relativedelta(months=1, days=number(r)),
    "time": lambda r: moment(r).time(),
    "time in UTC": lambda r: moment(r).time().replace(tzinfo=UTC),
    "time of pydantic, from JSON": lambda r: TIME_FROM_JSON.validate_json('"10:30:00Z"'),
    "timedelta": lambda r: timedelta(days=number(r), microseconds=number(r)),
    "timezone": lambda r: timezone(timedelta(hours=number(r) % 12)),
    "zone of dateutil": lambda r: tz.tzutc(),
    "zone of its own": lambda r: v.Zone(3),
    "zone of pydantic": lambda r: _read(r).tzinfo,
    "ZoneInfo": lambda r: _berlin(),
}


def _berlin() -> ZoneInfo:
    return ZoneInfo("Europe/Berlin")


def _without_key() -> ZoneInfo:
    from importlib.resources import files

    with (files("tzdata") / "zoneinfo" / "Europe" / "Berlin").open("rb") as file:
        return ZoneInfo.from_file(file)


EXCEPTIONS: Final[dict[str, Callable[[Random], Any]]] = {
    "exception": lambda r: ValueError(word(r), number(r)),
    "exception of its own": lambda r: v.RefusedError(word(r)),
    "exception with a constructor of its own": lambda r: v.CodedError(number(r), reason=word(r)),
    "exception with a note": _noted,
    "exception with an object": lambda r: ValueError((1, v.Colour.RED)),
    "ExceptionGroup": lambda r: ExceptionGroup(word(r), [ValueError(1), KeyError(2)]),
    "exception, raised from another": _raised,
    "KeyError": lambda r: KeyError(word(r)),
    "OSError": lambda r: FileNotFoundError(2, "No such file", word(r)),
    "UnicodeDecodeError": lambda r: UnicodeDecodeError("utf-8", b"\xff", 0, 1, word(r)),
}

KINDS: Final = {
    **PLAIN,
    **COLLECTIONS,
    **SUBCLASSES,
    **ENUMS,
    **VALUES,
    **DATES,
    **EXCEPTIONS,
}
