"""Patterns that take too long to compile are refused before anyone compiles them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import EncodeError, PayloadError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.bounds.costly_values import (
    MAX_PATTERN_UNITS,
    PatternTooLargeError,
    compiled,
    pattern_units,
)
from tests.unit_tests.serde.bounds.attacks_small import pattern, upstream_pattern

WIDE = "[\0-\uffff]"
WORDS = "|".join(f"state-of-the-art-{number}" for number in range(5_000))
ORDINARY = [
    re.compile(r"(?i)^[a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]{2,}$"),
    re.compile(WORDS, re.IGNORECASE),
    re.compile("[\U0001f300-\U0001faff\u2600-\u27bf]+" * 20),
    re.compile(f"(?i){WIDE}" + "|a" * 500),
    re.compile(rb"(?i)" + rb"[\0-\xff]" * 500),
    re.compile(r"(?:(?:a{2,9}){2,9}){2,9}" * 100),
    re.compile(r"[^\W\d_]+(?<!x)(?P<name>\d)(?(name)a|b)(?=[à-ÿ])", re.VERBOSE),
]
HUGE = [("a|" * 2_000_000, 0), (WIDE * 2_000, re.IGNORECASE), (f"(?i){WIDE}" + WIDE * 2_000, 0),
        ("[\u0100\u0200]" * 10_000, 0)]  # fmt: skip
CODECS: Any = ("once1", "msgpack")


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("value", ORDINARY, ids=lambda value: repr(value)[:40])
def test_what_programs_compile_is_written_and_read(value: Any, codec: Any) -> None:
    serde = OnceSerializer(SerdeConfig(codec=codec))
    assert serde.loads_typed(serde.dumps_typed([value])) == [value]


@pytest.mark.parametrize(("text", "flags"), HUGE, ids=[0, 1, 2, 3])
def test_what_takes_too_long_is_not_compiled(text: str, flags: int) -> None:
    serde = OnceSerializer(SerdeConfig(on_unavailable="raise"))
    row = {"lc": 2, "type": "constructor", "id": ["re", "compile"], "args": [text, int(flags)]}
    blobs = {
        "once1": pattern(text, int(flags)),
        "msgpack": upstream_pattern(text, int(flags)),
        "json": json.dumps(row).encode(),
    }
    for tag, blob in blobs.items():
        with pytest.raises(PayloadError):
            serde.loads_typed((tag, blob))
    with pytest.raises(PatternTooLargeError):
        pattern_units(text, flags)


@pytest.mark.parametrize("codec", CODECS)
def test_what_would_not_be_compiled_is_not_written(codec: Any) -> None:
    value = re.compile("[\u0100\u0200]" * 5_000)
    with pytest.raises(EncodeError, match="regular expression"):
        OnceSerializer(SerdeConfig(codec=codec)).dumps_typed([value])


def test_a_wide_range_counts_each_character_only_where_case_is_ignored() -> None:
    text = WIDE * 600
    assert pattern_units(text, 0) < MAX_PATTERN_UNITS
    with pytest.raises(PatternTooLargeError):
        pattern_units(text, re.IGNORECASE)


def test_without_flags_it_is_what_the_pattern_alone_says() -> None:
    assert compiled("a.").flags == re.compile("a.").flags
    assert compiled("a.", re.DOTALL) == re.compile("a.", re.DOTALL)
