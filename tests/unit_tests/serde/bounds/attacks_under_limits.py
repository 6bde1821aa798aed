"""What costs most of what a row below a megabyte may say under the default limits.

Each takes as much as is allowed: a little more would be refused.
"""

from __future__ import annotations

import struct
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pandas as pd  # type: ignore[import-untyped]  # pandas has no types
import polars as pl

from langgraph_once.config import SerdeConfig
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.codecs.once1.format.layout import Ext, array, pack
from tests.unit_tests.serde.bounds.attacks_small import (
    alias,
    doubled,
    ext,
    in_set,
    integers,
    one,
    pattern,
    ref,
    same,
    sliced,
    tied,
    upstream_pattern,
)

if TYPE_CHECKING:
    from tests.unit_tests.serde.bounds.attacks_small import Made

_UNITS: Final = 2**28 // 56
_LONG: Final = 120 * 1024 * 1024


def many(item: bytes, units: int) -> bytes:
    """Return as many items in a list as a small row may hold, of so many units each."""
    count = _UNITS // units - 10
    return b"\xdd" + struct.pack(">I", count) + item * count


def aliased(parameters: int) -> bytes:
    of = ext(Ext.CLASS, b"builtins:int")
    return tied(of, alias("genericalias", "builtins:tuple", *[ref(0)] * parameters))


def frames(units: int, *objects: Any) -> bytes:
    """Return as many of these as a small row may hold, if each takes so many units."""
    row = OnceSerializer(SerdeConfig(compression="none")).dumps_typed([*objects, 0])[1]
    count = _UNITS // units
    return b"\xdd" + struct.pack(">I", count) + row[1:-1] * count


def listed(item: bytes, count: int) -> bytes:
    return b"[" + item * count + b"0]"


_WORDS: Final = "a|" * 375_000

UNDER_LIMITS: Final[dict[str, Made]] = {
    "one-letter texts": ("once1", partial(many, b"\xa1a", 1)),
    "texts of one emoji": ("once1", partial(many, b"\xa4\xf0\x9f\x98\x80", 1)),
    "msgpack: texts of one emoji": ("msgpack", partial(many, b"\xa4\xf0\x9f\x98\x80", 1)),
    "lists of one text": ("once1", partial(many, b"\x91\xa1b", 5)),
    "empty tuples": ("once1", partial(many, b"\xd4\x01\x90", 12)),
    "empty sets": ("once1", partial(many, b"\xd4\x03\x90", 24)),
    "msgpack: extensions": ("msgpack", partial(many, b"\xd4\x07\xc0", 21)),
    "a text of 119 MB": ("once1", lambda: pack("\u00e9" * (_LONG // 2 - 10) + "\U0001f600")),
    "119 MB of bytes in a tuple": (
        "once1", lambda: ext(Ext.TUPLE, array([pack(bytes(_LONG - 100))])),
    ),
    "references to one entry": ("once1", lambda: tied(pack(1), many(ref(0), 20))),
    "integers of one byte": ("once1", partial(many, b"\xd4\x05\x01", 20)),
    "a class of 150,000 parameters": ("once1", partial(aliased, 150_000)),
    "95,000 tuples of one tuple each, in a set": ("once1", partial(doubled, 95_000, one, in_set)),
    "95,000 slices of one slice each": ("once1", partial(doubled, 95_000, sliced, same)),
    "40,000 tuples with one integer of 100 KB": ("once1", partial(integers, 40_000, 100_000)),
    "polars frames": ("once1", lambda: frames(1050, pl.DataFrame({"a": [1]}))),
    "indexes of pandas": (
        "once1", lambda: frames(1150, pd.date_range("2026-01-01", periods=2, freq="D")),
    ),
    "a pattern of 750,000 signs": ("once1", partial(pattern, _WORDS)),
    "a pattern of 2 MB": ("once1", lambda: pattern("a|" * 1_000_000)),
    "msgpack: a pattern of 750,000 signs": ("msgpack", partial(upstream_pattern, _WORDS)),
    "JSON: empty lists": ("json", partial(listed, b"[],", 400_000)),
    "JSON: numbers": ("json", partial(listed, b"1.5,", 2_000_000)),
    "JSON: numbers of 4,000 digits": ("json", partial(listed, b"9" * 4000 + b",", 10_000)),
}  # fmt: skip
