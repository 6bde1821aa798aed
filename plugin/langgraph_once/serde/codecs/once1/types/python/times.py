"""Dates, times and time zones: their fields, and the time zone as a value of its own.

A `ZoneInfo` is stored by its key and stays a `ZoneInfo`, so that arithmetic across a change of
the clocks gives what it gave before. One that was read from a file without a key is refused. A
zone of any other class, as of each date that pydantic reads from JSON, becomes the offset that it
has at that time: as with LangGraph's serializer.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from typing import Any, Final
from zoneinfo import ZoneInfo

from langgraph_once.serde.codecs.once1.types.base.protocol import (
    Adapter,
    UnwritableError,
    parts,
    plain,
)

__all__ = ["ADAPTERS"]

_ZONES: Final = (timezone, ZoneInfo)
_ZONE_KEY: Final = re.compile(r"[A-Za-z0-9_+-]{1,40}(/[A-Za-z0-9_+-]{1,40}){0,4}")


def _encode_datetime(value: datetime) -> tuple[Any, ...]:
    day = (value.year, value.month, value.day)
    clock = (value.hour, value.minute, value.second, value.microsecond)
    return (*day, *clock, value.fold, _kept(value))


def _decode_datetime(data: Any) -> datetime:
    year, month, day, *clock, fold, zone = parts(data, *[int] * 8, object)
    hour, minute, second, micro = clock
    return datetime(year, month, day, hour, minute, second, micro, _zone(zone), fold=fold)


def _encode_time(value: time) -> tuple[Any, ...]:
    clock = (value.hour, value.minute, value.second, value.microsecond)
    return (*clock, value.fold, _kept(value))


def _kept(value: datetime | time) -> tzinfo | None:
    """Return the time zone that is stored for a value."""
    zone = value.tzinfo
    if zone is None or type(zone) in _ZONES:
        return zone
    offset = value.utcoffset()
    return None if offset is None else timezone(offset)


def _decode_time(data: Any) -> time:
    hour, minute, second, micro, fold, zone = parts(data, *[int] * 5, object)
    return time(hour, minute, second, micro, _zone(zone), fold=fold)


def _zone(value: Any) -> tzinfo | None:
    if value is not None and not issubclass(type(value), tzinfo):
        raise ValueError("not a time zone")
    zone: tzinfo | None = value
    return zone


def _decode_date(data: Any) -> date:
    return date(*parts(data, int, int, int))


def _encode_timedelta(value: timedelta) -> tuple[int, int, int]:
    return value.days, value.seconds, value.microseconds


def _decode_timedelta(data: Any) -> timedelta:
    days, seconds, microseconds = parts(data, int, int, int)
    if abs(days) > 999_999_999 or not 0 <= seconds < 86_400 or not 0 <= microseconds < 1_000_000:
        raise ValueError("a duration out of range")
    return timedelta(days, seconds, microseconds)


def _encode_timezone(value: timezone) -> tuple[timedelta, str | None]:
    offset, *name = value.__getinitargs__()  # type: ignore[attr-defined]  # typeshed leaves it out
    return offset, name[0] if name else None


def _decode_timezone(data: Any) -> timezone:
    offset, name = parts(data, timedelta, object)
    return timezone(offset) if name is None else timezone(offset, plain(name, str))


def _encode_zone_info(value: ZoneInfo) -> str:
    if not isinstance(value.key, str) or not _ZONE_KEY.fullmatch(value.key):
        raise UnwritableError("a ZoneInfo without a key cannot be found again")
    return value.key


def _decode_zone_info(data: Any) -> ZoneInfo:
    # The key becomes a path; ZoneInfo checks it too, but differently from version to version.
    if not _ZONE_KEY.fullmatch(plain(data, str)):
        raise ValueError("not the key of a time zone")
    try:
        return ZoneInfo(data)
    except (KeyError, OSError) as error:
        raise ValueError("a time zone that this machine does not know") from error


ADAPTERS: Final = (
    Adapter(name="datetime", types=(datetime,), encode=_encode_datetime, decode=_decode_datetime),
    Adapter(
        name="date",
        types=(date,),
        encode=lambda value: (value.year, value.month, value.day),
        decode=_decode_date,
    ),
    Adapter(name="time", types=(time,), encode=_encode_time, decode=_decode_time),
    Adapter(
        name="timedelta", types=(timedelta,), encode=_encode_timedelta, decode=_decode_timedelta
    ),
    Adapter(name="timezone", types=(timezone,), encode=_encode_timezone, decode=_decode_timezone),
    Adapter(name="zoneinfo", types=(ZoneInfo,), encode=_encode_zone_info, decode=_decode_zone_info),
)
