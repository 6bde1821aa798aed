"""Types that their value is the whole of come back equal, and hostile data make none of them."""

from __future__ import annotations

import decimal
import ipaddress
import math
import pathlib
import re
import uuid
from array import array
from collections import OrderedDict, UserDict
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from dateutil import tz  # type: ignore[import-untyped]  # has no types
from pydantic import SecretBytes, SecretStr, TypeAdapter

from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.opaque import UnwritableError
from langgraph_once.serde.plans import values
from langgraph_once.serde.plans.values import BY_NUMBER, BY_TYPE
from tests.unit_tests.serde.labels import label
from tests.unit_tests.serde.plans.forms import assert_comes_back, back, each

BERLIN = ZoneInfo("Europe/Berlin")


class OwnZone(tzinfo):
    def utcoffset(self, _when: datetime | None) -> timedelta:
        return timedelta(hours=3)

    def dst(self, _when: datetime | None) -> timedelta:
        return timedelta(0)

    def tzname(self, _when: datetime | None) -> str:
        return "own"


class SilentZone(OwnZone):
    def utcoffset(self, _when: datetime | None) -> None:  # type: ignore[override]  # it has none
        return None


SAMPLES = [
    datetime(2025, 3, 1, 12, 30, 5, 7, fold=1),  # noqa: DTZ001  # without a zone is what is tested
    datetime(2025, 3, 1, tzinfo=UTC),
    datetime(2025, 3, 1, tzinfo=timezone(timedelta(hours=-3))),
    datetime(2025, 3, 1, tzinfo=timezone(timedelta(hours=5, microseconds=1))),
    datetime(2025, 3, 1, tzinfo=timezone(timedelta(0), "Z")),
    datetime(2025, 10, 26, 2, 30, tzinfo=BERLIN, fold=1),
    datetime.max,  # noqa: DTZ901  # as above
    *(date.min, date(2024, 2, 29), time(1, 2, 3, 4), time(9, fold=1, tzinfo=BERLIN)),
    *(time(1, tzinfo=UTC), timedelta.min, timedelta.max, timedelta(microseconds=-1)),
    *(UTC, timezone(timedelta(hours=2), "EET"), BERLIN, ZoneInfo("Etc/GMT+5")),
    *(uuid.UUID(int=7), uuid.UUID(int=9, is_safe=uuid.SafeUUID.safe)),
    *map(Decimal, ("1.50", "1E+5", "0E-10", "-sNaN123", "-0", "-Infinity", "1" * 5000)),
    *(Fraction(-3, 7), Fraction(10**40, 3**50), complex(-0.0, math.inf)),
    *(range(10, -10, -3), range(2**70), slice(1, None, (2,)), ..., NotImplemented),
    *(re.compile("(?x) a # b", re.IGNORECASE), re.compile(b"x\xff", re.DOTALL)),
    *(array("d", [1.5, -0.0]), array("B", b"ab"), array("u", "ab☃"), array("q")),
    *(MappingProxyType({"a": {1}}), MappingProxyType(OrderedDict(b=1, a=2))),
    MappingProxyType(UserDict(a=1)),
    *(SecretStr("s"), SecretBytes(b"s")),
    *(pathlib.Path("a/b"), pathlib.PurePosixPath("/"), pathlib.PureWindowsPath("C:\\x")),
    *map(ipaddress.ip_address, ("10.0.0.1", "::1", "fe80::1%eth0")),
    *map(ipaddress.ip_interface, ("10.0.0.1/8", "fe80::1%1/64")),
    *map(ipaddress.ip_network, ("10.0.0.0/8", "::/64", "10.0.0.0/31")),
]


@pytest.mark.parametrize("value", SAMPLES, ids=label)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    assert_comes_back(value)


def test_every_type_has_a_number_of_its_own_and_a_sample() -> None:
    assert len(BY_NUMBER) == len(BY_TYPE)
    others = {pathlib.PosixPath, pathlib.WindowsPath}  # one of which exists
    assert {*map(type, SAMPLES)} | others == {*BY_TYPE}


def test_the_numbers_of_types_never_change() -> None:
    found = {cls.__name__: value.number for cls, value in BY_TYPE.items()}
    assert [found[name] for name in ("datetime", "UUID", "Decimal", "Pattern")] == [1, 7, 8, 15]
    assert [found[name] for name in ("PosixPath", "IPv4Address", "IPv6Network")] == [22, 24, 29]


def read_from_json() -> datetime:
    return TypeAdapter(datetime).validate_json('"2026-01-02T03:04:05+02:00"')


@pytest.mark.parametrize(
    "value",
    [
        read_from_json(),
        datetime(2026, 1, 2, tzinfo=tz.gettz("Europe/Berlin")),
        datetime(2026, 1, 2, tzinfo=OwnZone()),
        datetime(2026, 1, 2, 3, fold=1, tzinfo=tz.tzoffset(None, -90)),
    ],
    ids=["pydantic", "named", "own", "offset"],
)
def test_a_date_with_a_foreign_zone_gets_its_offset_as_with_langgraph(value: datetime) -> None:
    found = back([value])[0]
    assert (found, type(found.tzinfo)) == (value, timezone)
    assert found.utcoffset() == value.utcoffset()
    assert back([found]) == [found]


def test_a_time_with_a_foreign_zone_gets_its_offset_if_it_has_one() -> None:
    assert back([time(3, tzinfo=OwnZone())]) == [time(3, tzinfo=timezone(timedelta(hours=3)))]
    assert back([time(3, tzinfo=tz.gettz("Europe/Berlin"))]) == [time(3)]
    assert back([datetime(2026, 1, 1, tzinfo=SilentZone())]) == [datetime(2026, 1, 1)]  # noqa: DTZ001  # as LangGraph


@pytest.mark.parametrize("zone", [None, UTC, timezone(timedelta(hours=1)), BERLIN], ids=repr)
def test_the_second_of_two_equal_times_stays_the_second(zone: tzinfo | None) -> None:
    value = datetime(2025, 10, 26, 2, 30, fold=1, tzinfo=zone)
    found = back([value, value.timetz()])
    assert [(one, one.fold) for one in found] == [(value, 1), (value.timetz(), 1)]


class Zone(ZoneInfo):
    """As the zones of pendulum are."""


def test_a_zone_that_is_derived_from_zone_info_stays_itself() -> None:
    value = datetime(2026, 7, 1, tzinfo=Zone("Europe/Berlin"))
    (found,) = back([value])
    assert (found, type(found.tzinfo), found.tzinfo.key) == (value, Zone, "Europe/Berlin")


def test_where_a_zone_is_unknown_its_date_keeps_the_offset(monkeypatch: pytest.MonkeyPatch) -> None:
    take = BY_TYPE[datetime].take
    data = take(datetime(2026, 7, 1, tzinfo=BERLIN))
    monkeypatch.setattr(values, "known_zone", lambda _: None)
    assert BY_NUMBER[1](data).utcoffset() == timedelta(hours=2)
    assert BY_NUMBER[6]("Europe/Berlin") == "Europe/Berlin"


def test_a_zone_without_a_key_is_not_written_by_its_key(tmp_path: pathlib.Path) -> None:
    from importlib.resources import files

    with (files("tzdata") / "zoneinfo" / "Europe" / "Berlin").open("rb") as file:
        zone = ZoneInfo.from_file(file)
    with pytest.raises(UnwritableError):
        BY_TYPE[ZoneInfo].take(zone)
    value = datetime(2026, 7, 1, tzinfo=zone)
    assert back([value])[0].utcoffset() == timedelta(hours=2)


def test_a_path_of_another_system_gives_its_parts_as_with_langgraph() -> None:
    other = BY_TYPE[pathlib.WindowsPath].number
    assert BY_NUMBER[other]("C:\\a\\b") == ["C:\\", "a", "b"]


def test_a_range_that_nobody_could_print_is_not_written() -> None:
    with pytest.raises(UnwritableError, match="too large"):
        BY_TYPE[range].take(range(2**100_000))


def test_a_pattern_that_prints_is_not_written() -> None:
    import contextlib
    import io

    with contextlib.redirect_stdout(io.StringIO()):
        pattern = re.compile("a", re.DEBUG)
    with pytest.raises(UnwritableError):
        BY_TYPE[re.Pattern].take(pattern)


def test_a_view_shows_the_very_mapping() -> None:
    shown = {"a": 1}
    assert BY_TYPE[MappingProxyType].take(MappingProxyType(shown)) is shown


def test_a_decimal_is_read_in_any_context() -> None:
    with decimal.localcontext(decimal.Context(prec=3, capitals=0, traps=[])):
        assert back([Decimal("1.23456E+77")]) == [Decimal("1.23456E+77")]


BAD_ZONES: list[Any] = [1.5, "../x", b"", []]


@pytest.mark.parametrize(
    ("cls", "data"),
    [
        *each(datetime, [], [2025, 1, 1], "x", [1.0, 1, 1, 0, 0, 0, 0, 0, None]),
        *each(datetime, *([2025, 1, 1, *[0] * 5, zone, 0] for zone in BAD_ZONES)),
        (datetime, [2025, 1, 1, 0, 0, 0, 0, 0, None, None, None]),
        *each(date, [2025, 13, 1], b"\x07\xe9\x01\x01", [True, 1, 1]),
        *each(time, [1], [1, 2, 3, 4, 0, {}], "25:00"),
        *each(timedelta, [0, 86_400, 0], [0, 0, -1], [10**10, 0, 0]),
        *each(timezone, [86_400, 0, None], [0, 0, 3], [0.0, 0, None]),
        *each(ZoneInfo, "../etc/passwd", "/etc/passwd", "a" * 100, 3),
        *each(uuid.UUID, b"short", "0" * 32, [b"", 1], [bytes(16), 7]),
        *each(Decimal, "", "x", " 1", "1_0", "١", 1),  # noqa: RUF001  # a digit of Arabic
        *each(Fraction, [2, 4], [1, 0], [1, -2], [1.0, 2]),
        *each(complex, [1, 2], "1j"),
        *each(range, [0, 1, 0], [1]),
        *each(re.Pattern, ["(", 0], ["a", re.DEBUG.value], [["a"], 0], ["a"]),
        *each(array, ["d", 4, b""], ["dd", 8, b""], ["u", 4, b"\xff" * 4]),
        *each(MappingProxyType, [], "a", None),
        *each(SecretStr, b"a", 3),
        *each(pathlib.PurePosixPath, b"a", ["a"]),
        *each(ipaddress.IPv4Address, 1, "1" * 300, "10.0.0.256"),
        *each(ipaddress.IPv6Network, ["::", 64], "::1/64"),
    ],
    ids=label,
)
def test_data_of_another_shape_is_refused(cls: type, data: Any) -> None:
    with pytest.raises((ValueError, TypeError, ArithmeticError, OverflowError)):
        BY_TYPE[cls].make(data)


def test_a_secret_of_another_type_is_carried_as_langgraph_does() -> None:
    """pydantic does not look at what a call gives it; as bytes of ours it could not be read."""
    number: Any = 115
    carried = OnceSerializer()
    (found,) = carried.loads_typed(carried.dumps_typed([SecretBytes(number)]))
    assert found.get_secret_value() == number
