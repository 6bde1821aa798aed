"""Types of Python that their value is the whole of: dates, UUIDs, paths, numbers, ranges.

A byte stands for each of them in the bytes, and its data are built of native values. So a UUID
takes 20 bytes, and no name. The numbers stand for ever. Each `make` checks the shape of its data,
which may be anybody's, before a constructor sees them.

A date is the text that LangGraph writes: with a zone of pydantic, dateutil or pytz it gets the
offset that it has at that time. Only a `ZoneInfo` with a key, the name of an offset, and the second
of two equal times when clocks go back say more, and are kept beside the fields.
"""

from __future__ import annotations

import gc
import ipaddress
import math
import pathlib
import re
import sys
import uuid
from array import array, typecodes
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from functools import cache
from types import EllipsisType, MappingProxyType, NotImplementedType
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from pydantic import SecretBytes, SecretStr

from langgraph_once.serde.limits import checked_pattern
from langgraph_once.serde.opaque import STAND_INS, UnwritableError
from langgraph_once.serde.plans.base import check, parts

# The longest address has 45, and a zone whose name the system bounds.
_MAX_ADDRESS_CHARS: Final = 200
_MAX_BITS: Final = 1 << 16
"""Dividing larger numbers takes quadratic time: fractions of them are taken as they are stored."""


class Value(NamedTuple):
    """How values of one type are written and made."""

    number: int
    """Stands for the type in the bytes, for ever."""
    take: Callable[[Any], Any]
    make: Callable[[Any], Any]


_DAY_SECONDS: Final = 86_400


def _take_datetime(value: datetime) -> Any:
    zone, fold = value.tzinfo, value.fold
    if not _says_more(zone, fold):
        return value.isoformat()
    key = zone.key if type(zone) is ZoneInfo else zone
    day = (value.year, value.month, value.day)
    clock = (value.hour, value.minute, value.second, value.microsecond)
    # The offset is for a machine that does not know the zone.
    return [*day, *clock, fold, key, _seconds(value.utcoffset())]


def _make_datetime(data: Any) -> datetime:
    if type(data) is str:
        return datetime.fromisoformat(data)
    year, month, day, *clock, fold, zone, offset = parts(data, *[int] * 8, object, object)
    hour, minute, second, micro = clock
    tz = _zone(zone, offset)
    return datetime(year, month, day, hour, minute, second, micro, tz, fold=fold)


def _take_time(value: time) -> Any:
    zone, fold = value.tzinfo, value.fold
    if not _says_more(zone, fold):
        return value.isoformat()
    key = zone.key if type(zone) is ZoneInfo else zone
    return [value.hour, value.minute, value.second, value.microsecond, fold, key]


def _make_time(data: Any) -> time:
    if type(data) is str:
        return time.fromisoformat(data)
    hour, minute, second, micro, fold, zone = parts(data, *[int] * 5, object)
    return time(hour, minute, second, micro, _zone(zone, None), fold=fold)


def _says_more(zone: tzinfo | None, fold: int) -> bool:
    """Whether zone and fold are to be kept, and are more than the offset, which a text holds."""
    if zone is None or zone is UTC:
        return fold == 1
    if type(zone) is timezone:
        return fold == 1 or len(zone.__getinitargs__()) > 1  # type: ignore[attr-defined]  # typeshed leaves it out
    return isinstance(zone, ZoneInfo) and _is_key(zone.key)  # those of pendulum are derived from it


def _zone(zone: Any, offset: Any) -> tzinfo | None:
    found = known_zone(zone) if type(zone) is str else zone
    if zone is None or issubclass(type(found), tzinfo):
        return found
    if found is not None and type(found) not in STAND_INS:
        raise ValueError("not a time zone")
    # The machine does not know it, or may not load its class.
    return None if offset is None else timezone(timedelta(seconds=check(offset, int)))


def _seconds(offset: timedelta | None) -> int | None:
    return None if offset is None else offset.days * _DAY_SECONDS + offset.seconds


def _take_timezone(value: Any) -> list[Any]:
    offset, *name = value.__getinitargs__()
    return [_seconds(offset), offset.microseconds, *(name or [None])]


def _make_timezone(data: Any) -> timezone:
    seconds, micro, name = parts(data, int, int, object)
    offset = timedelta(seconds=seconds, microseconds=micro)
    return timezone(offset) if name is None else timezone(offset, check(name, str))


_ZONE_KEY: Final = re.compile(r"[A-Za-z0-9_+-]{1,40}(/[A-Za-z0-9_+-]{1,40}){0,4}")


def _is_key(key: Any) -> bool:
    """Whether a zone can be found again by its key, which becomes a path."""
    return type(key) is str and _ZONE_KEY.fullmatch(key) is not None


def _take_zone(value: ZoneInfo) -> str:
    if not _is_key(value.key):
        raise UnwritableError("a ZoneInfo without a key cannot be found again")
    return value.key


def _make_zone(data: Any) -> Any:
    """Return the zone; its key where this machine does not know it, as LangGraph does."""
    found = known_zone(check(data, str))
    return data if found is None else found


# They come from rows, so whoever writes rows decides how many there are.
_MAX_UNKNOWN: Final = 256
_unknown: Final[set[str]] = set()
"""Keys that were not found: to look for one takes a tenth of a millisecond."""


def known_zone(key: Any) -> ZoneInfo | None:
    """Return the zone of a key; None where this machine does not know it.

    Raises:
        ValueError: It is no key.
    """
    if not _is_key(key):
        raise ValueError("not the key of a time zone")
    if key in _unknown or (len(_unknown) >= _MAX_UNKNOWN and key not in _all_zones()):
        return None
    try:
        return ZoneInfo(key)
    except (KeyError, OSError):
        if len(_unknown) < _MAX_UNKNOWN:
            _unknown.add(key)
        return None


@cache
def _all_zones() -> frozenset[str]:
    return frozenset(available_timezones())


def _take_date(value: date) -> list[int]:
    return [value.year, value.month, value.day]


def _take_timedelta(value: timedelta) -> list[int]:
    return [value.days, value.seconds, value.microseconds]


def _make_timedelta(data: Any) -> timedelta:
    days, seconds, micro = parts(data, int, int, int)
    if not 0 <= seconds < _DAY_SECONDS or not 0 <= micro < 1_000_000:
        raise ValueError("a duration out of range")
    return timedelta(days, seconds, micro)


def _make_decimal(data: Any) -> Decimal:
    made = Decimal(check(data, str))
    # A context without traps makes NaN of what is not a number; one may write small letters.
    if str(made).upper() != data.upper():
        raise ValueError("not a decimal number")
    return made


_NUMERATOR: Final[Any] = vars(Fraction)["_numerator"]
_DENOMINATOR: Final[Any] = vars(Fraction)["_denominator"]


def _make_fraction(data: Any) -> Fraction:
    above, below = parts(data, int, int)
    if below <= 0:
        raise ValueError("a denominator must be positive")
    is_small = max(above.bit_length(), below.bit_length()) <= _MAX_BITS
    if is_small and math.gcd(above, below) != 1:
        raise ValueError("a fraction that is not in lowest terms")
    made = object.__new__(Fraction)
    _NUMERATOR.__set__(made, above)
    _DENOMINATOR.__set__(made, below)
    return made


def _take_range(value: range) -> list[int]:
    data = [int(value.start), int(value.stop), int(value.step)]
    if max(map(int.bit_length, data)) > _MAX_BITS:
        raise UnwritableError("a range of numbers that are too large")
    return data


def _make_range(data: Any) -> range:
    if max(map(int.bit_length, parts(data, int, int, int))) > _MAX_BITS:
        raise ValueError("a range of numbers that are too large")
    return range(*data)


def _take_array(value: array[Any]) -> list[Any]:
    return [value.typecode, value.itemsize, _little_endian(value).tobytes()]


def _make_array(data: Any) -> array[Any]:
    code, item_bytes, content = parts(data, str, int, bytes)
    if len(code) != 1 or code not in typecodes:
        raise ValueError("not the type code of an array")
    made: array[Any] = array(code)
    if made.itemsize != item_bytes or len(content) % item_bytes:
        raise ValueError("an array with items of another size than on this system")
    made.frombytes(content)
    if code in "uw":
        made.tounicode()  # raises for what is not a character
    return _little_endian(made)


def _little_endian(value: array[Any]) -> array[Any]:
    if sys.byteorder == "little":
        return value
    swapped = value[:]
    swapped.byteswap()
    return swapped


_UNKNOWN: Final = uuid.SafeUUID.unknown  # members of enums cost more to look up


def _take_uuid(value: uuid.UUID) -> Any:
    content = value.int.to_bytes(16, "big")
    return content if value.is_safe is _UNKNOWN else [content, value.is_safe.value]


def _make_uuid(data: Any) -> uuid.UUID:
    if type(data) is bytes:
        return uuid.UUID(bytes=data)
    raw, safe = parts(data, bytes, int)
    return uuid.UUID(bytes=raw, is_safe=uuid.SafeUUID(safe))


def _take_pattern(value: re.Pattern[Any]) -> list[Any]:
    flags = int(value.flags)
    if flags & re.DEBUG:
        raise UnwritableError("a pattern compiled with `re.DEBUG` would print when it is loaded")
    return [value.pattern, flags]


def _make_pattern(data: Any) -> re.Pattern[Any]:
    pattern, flags = parts(data, object, int)
    if flags & int(re.DEBUG):
        raise ValueError("a pattern that prints")
    return checked_pattern(check(pattern, str, bytes), flags)


def _take_windows_path(value: pathlib.PurePath) -> str:
    text = str(value)
    if type(value)(text) != value:  # Python 3.11 takes the file `.\c:` for the drive `c:`
        raise UnwritableError("a path that its own text does not name")
    return text


def _path_maker(cls: type[pathlib.PurePath], pure: type[pathlib.PurePath]) -> Callable[[Any], Any]:
    def make(data: Any) -> Any:
        try:
            return cls(check(data, str))
        except NotImplementedError:  # a path of another system: LangGraph gives its parts
            return [*pure(data).parts]

    return make


def _take_view(value: MappingProxyType[Any, Any]) -> Any:
    (mapping,) = gc.get_referents(value)  # the very mapping; to ask the view runs its methods
    return mapping


def _make_view(data: Any) -> Any:
    if issubclass(type(data), Mapping):
        return MappingProxyType(data)
    if type(data) in STAND_INS:  # for a mapping that cannot be made here
        return data
    raise ValueError("a view of something else than a mapping")


def _address_maker(cls: Any) -> Callable[[Any], Any]:
    def make(data: Any) -> Any:
        if len(check(data, str)) > _MAX_ADDRESS_CHARS:
            raise ValueError("not an address")
        return cls(data)

    return make


def _maker(cls: Any, *kinds: type) -> Callable[[Any], Any]:
    """Return what calls a type with parts of these kinds."""
    return lambda data: cls(*parts(data, *kinds))


def _secret(value: Any) -> Any:
    secret = value.get_secret_value()
    if not isinstance(secret, str | bytes):  # pydantic does not look at what a call gives it
        raise UnwritableError("a secret that is no text")
    return secret


def _secret_maker(cls: Any, kind: type) -> Callable[[Any], Any]:
    return lambda data: cls(check(data, kind))


def _nothing(_value: Any) -> None:
    return None


_POSIX: Final = pathlib.PurePosixPath
_WINDOWS: Final = pathlib.PureWindowsPath
_ADDRESSES: Final = (
    *(ipaddress.IPv4Address, ipaddress.IPv4Interface, ipaddress.IPv4Network),
    *(ipaddress.IPv6Address, ipaddress.IPv6Interface, ipaddress.IPv6Network),
)

BY_TYPE: Final[dict[type, Value]] = {
    datetime: Value(1, _take_datetime, _make_datetime),
    date: Value(2, _take_date, _maker(date, int, int, int)),
    time: Value(3, _take_time, _make_time),
    timedelta: Value(4, _take_timedelta, _make_timedelta),
    timezone: Value(5, _take_timezone, _make_timezone),
    ZoneInfo: Value(6, _take_zone, _make_zone),
    uuid.UUID: Value(7, _take_uuid, _make_uuid),
    Decimal: Value(8, str, _make_decimal),
    Fraction: Value(9, lambda value: [value.numerator, value.denominator], _make_fraction),
    complex: Value(10, lambda value: [value.real, value.imag], _maker(complex, float, float)),
    range: Value(11, _take_range, _make_range),
    slice: Value(
        12,
        lambda value: [value.start, value.stop, value.step],
        _maker(slice, object, object, object),
    ),
    EllipsisType: Value(13, _nothing, lambda _: ...),
    NotImplementedType: Value(14, _nothing, lambda _: NotImplemented),
    re.Pattern: Value(15, _take_pattern, _make_pattern),
    array: Value(16, _take_array, _make_array),
    MappingProxyType: Value(17, _take_view, _make_view),
    SecretStr: Value(18, _secret, _secret_maker(SecretStr, str)),
    SecretBytes: Value(19, _secret, _secret_maker(SecretBytes, bytes)),
    pathlib.PurePosixPath: Value(20, str, _path_maker(_POSIX, _POSIX)),
    pathlib.PureWindowsPath: Value(21, _take_windows_path, _path_maker(_WINDOWS, _WINDOWS)),
    pathlib.PosixPath: Value(22, str, _path_maker(pathlib.PosixPath, _POSIX)),
    pathlib.WindowsPath: Value(23, _take_windows_path, _path_maker(pathlib.WindowsPath, _WINDOWS)),
    **{
        cls: Value(number, str, _address_maker(cls))
        for number, cls in enumerate(_ADDRESSES, start=24)
    },
}
"""How values are written, by their exact type. Subclasses are the form `derived`."""

BY_NUMBER: Final[dict[int, Callable[[Any], Any]]] = {
    value.number: value.make for value in BY_TYPE.values()
}
"""What makes values, by the number of their type."""
