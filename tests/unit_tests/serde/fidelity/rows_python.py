"""The fidelity table, first part: what Python brings."""

from __future__ import annotations

import array
import math
import re
import uuid
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
)
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

from tests.unit_tests.serde.fidelity.kinds import (
    Colour,
    Level,
    Mode,
    Plain,
    Point,
    fresh_list,
    shout,
)

BERLIN = ZoneInfo("Europe/Berlin")


def _equal_lists() -> Any:
    return [[1], [1]]


def _list_in_itself() -> Any:
    value: list[Any] = [1]
    value.append(value)
    return value


def _dict_in_itself() -> Any:
    value: dict[str, Any] = {"n": 1}
    value["self"] = {"inner": [value]}
    return value


def _shared_object() -> Any:
    plain = Plain("p")
    return {"a": plain, "b": [plain]}


def _ordered() -> Any:
    value = OrderedDict(a=1, b=2, c=3)
    value.move_to_end("a")
    return value


def _deep(levels: int) -> Any:
    value: Any = "bottom"
    for _ in range(levels):
        value = [value]
    return value


ROWS: dict[str, dict[str, Any]] = {
    "Plain values": {
        "None": None,
        "True": True,
        "False": False,
        "0": 0,
        "-1": -1,
        "int of 63 bits": 2**63 - 1,
        "int of 64 bits": 2**64 - 1,
        "int of 65 bits": 2**64,
        "negative int of 65 bits": -(2**64),
        "int of 1000 bits": 3**631,
        "float": 0.1,
        "float that is whole": 1.0,
        "nan": math.nan,
        "inf": math.inf,
        "-inf": -math.inf,
        "-0.0": -0.0,
        "smallest float": 5e-324,
        "complex": 1 + 2j,
        "complex with -0.0 and nan": complex(-0.0, math.nan),
        "empty str": "",
        "str beyond ASCII": "snow ☃ 🧊",
        "str with NUL": "a\0b",
        "str with a lone surrogate": "\ud800 alone",
        "bytes": b"\x00\xff",
        "empty bytes": b"",
        "bytearray": bytearray(b"ab"),
        "memoryview": memoryview(b"ab"),
        "Ellipsis": ...,
        "NotImplemented": NotImplemented,
    },
    "Containers": {
        "empty list": [],
        "empty tuple": (),
        "empty dict": {},
        "list": [1, "a", None],
        "tuple": (1, "a"),
        "set": {1, 2},
        "empty set": set(),
        "frozenset": frozenset({1, "a"}),
        "tuple in list in dict": {"a": [(1, (2,))]},
        "list in tuple": ([1], [2, (3,)]),
        "set of tuples": {(1, 2), (3, (4,))},
        "set of frozensets": {frozenset({1}), frozenset()},
        "True and 1 side by side": [True, 1, 1.0],
        "list in itself": _list_in_itself(),
        "dict in itself": _dict_in_itself(),
        "two equal lists": _equal_lists(),
        "one object twice": _shared_object(),
        "400 levels of lists": _deep(400),
    },
    "Dict keys": {
        "order of keys": {"b": 1, "a": 2},
        "int": {1: "a", -1: "b"},
        "bool": {True: "yes", False: "no"},
        "None": {None: 1},
        "float": {1.5: "a", math.inf: "b"},
        "bytes": {b"k": 1},
        "tuple": {(1, 2): "a", ((), "x"): "b"},
        "frozenset": {frozenset({1}): 1},
        "enum": {Colour.RED: 1, Level.HIGH: 2},
        "StrEnum": {Mode.FAST: 1},
        "datetime": {datetime(2025, 1, 1, tzinfo=UTC): 1},
        "UUID": {uuid.UUID(int=5): 1},
        "namedtuple": {Point(1, 2): "p"},
        "mixed types": {1: "int", "1": "str", b"1": "bytes", (1,): "tuple"},
        "UUID and its text": {uuid.UUID(int=5): 1, str(uuid.UUID(int=5)): 2},
        "long int": {2**70: 1},
    },
    "collections": {
        "defaultdict(list)": defaultdict(list, a=[1]),
        "defaultdict without factory": defaultdict(None, a=1),
        "defaultdict of a function": defaultdict(fresh_list, a=[1]),
        "OrderedDict": OrderedDict(b=1, a=2),
        "OrderedDict after move_to_end": _ordered(),
        "Counter": Counter("abca"),
        "ChainMap": ChainMap({"a": 1}, {"b": 2}),
        "deque": deque([1, [2]]),
        "deque with maxlen": deque([1, 2], maxlen=3),
        "empty deque with maxlen": deque(maxlen=0),
        "mappingproxy": MappingProxyType({"a": 1}),
        "array of doubles": array.array("d", [1.5, -0.0]),
        "array of unsigned bytes": array.array("B", b"ab"),
        "array of characters": array.array("u", "ab☃"),
    },
    "Numbers and ranges": {
        "Fraction": Fraction(-3, 7),
        "Fraction of large numbers": Fraction(10**40, 3**50),
        "Decimal": Decimal("1.50"),
        "Decimal with exponent": Decimal("1E+5"),
        "Decimal zero with exponent": Decimal("0E-10"),
        "Decimal NaN": Decimal("NaN"),
        "Decimal sNaN with payload": Decimal("-sNaN123"),
        "Decimal -0": Decimal("-0"),
        "Decimal Infinity": Decimal("-Infinity"),
        "Decimal of 60 digits": Decimal("1." + "123456789" * 6),
        "range": range(5),
        "range with step": range(10, -10, -3),
        "slice": slice(1, None, 2),
    },
    "Dates and times": {
        "datetime without zone": datetime(2025, 3, 1, 12, 30, 5, 7),  # noqa: DTZ001  # without a zone is what is tested
        "datetime UTC": datetime(2025, 3, 1, 12, 30, tzinfo=UTC),
        "datetime with offset": datetime(2025, 3, 1, tzinfo=timezone(timedelta(hours=-3))),
        "datetime with named offset": datetime(2025, 3, 1, tzinfo=timezone(timedelta(0), "Z")),
        "datetime with ZoneInfo": datetime(2025, 7, 1, 12, tzinfo=BERLIN),
        "datetime with fold": datetime(2025, 10, 26, 2, 30, tzinfo=BERLIN, fold=1),
        "datetime without zone, with fold": datetime(2025, 1, 1, fold=1),  # noqa: DTZ001  # without a zone is what is tested
        "datetime.min": datetime.min,  # noqa: DTZ901  # without a zone is what is tested
        "datetime.max": datetime.max,  # noqa: DTZ901  # without a zone is what is tested
        "date": date(2024, 2, 29),
        "time": time(1, 2, 3, 4),
        "time with zone and fold": time(9, fold=1, tzinfo=BERLIN),
        "timedelta": timedelta(days=-1, microseconds=3),
        "timedelta.min": timedelta.min,
        "timedelta.max": timedelta.max,
        "timezone.utc": UTC,
        "timezone with offset": timezone(timedelta(hours=5, minutes=30, microseconds=1)),
        "timezone with name": timezone(timedelta(hours=2), "EET"),
        "ZoneInfo": BERLIN,
    },
    "Identifiers": {
        "UUID": uuid.UUID(int=7),
        "UUID1": uuid.UUID(int=9, is_safe=uuid.SafeUUID.safe),
        "PurePosixPath": PurePosixPath("a/b.txt"),
        "PureWindowsPath": PureWindowsPath("C:\\x\\y"),
        "Path": Path("/tmp/x/y"),
        "Path(.)": Path(),
        "pattern": re.compile("a+(b)"),
        "pattern with flags": re.compile("(?x) a # b", re.IGNORECASE | re.MULTILINE),
        "pattern of bytes": re.compile(b"x\xff", re.DOTALL),
        "IPv4Address": IPv4Address("10.0.0.1"),
        "IPv4Interface": IPv4Interface("10.0.0.1/8"),
        "IPv4Network": IPv4Network("10.0.0.0/8"),
        "IPv6Address": IPv6Address("::1"),
        "IPv6Address with scope": IPv6Address("fe80::1%eth0"),
        "IPv6Interface with scope": IPv6Interface("fe80::1%1/64"),
        "IPv6Network": IPv6Network("::/64"),
    },
    "References": {
        "class": Plain,
        "built-in class": dict,
        "function": shout,
        "list of classes": [Colour, int],
    },
}
