"""Blobs that are well-formed and say what no writer says: a value or our error, soon.

`forge` makes them. A failure names the seed; `blob_of` makes the blob again.
"""

from __future__ import annotations

import functools
import logging
import random
import warnings
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import ormsgpack
import pytest

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import EncodeError, SerdeError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.codecs.once1.format.layout import VALUES_IN, Ext, array, pack
from tests.unit_tests.serde.bounds.attacks_small import (
    aliases,
    copies,
    doubled,
    ext,
    integers,
    pattern,
    ref,
    tied,
    two,
    upstream_pattern,
)
from tests.unit_tests.serde.fidelity.table import REFUSED, ROWS, once1

from .cpu import least_seconds, within
from .forge import Node, forged, parsed
from .samples import OWN_TYPES, OWN_VALUES, SAFE_VALUES

if TYPE_CHECKING:
    from collections.abc import Iterator


def listed(part: bytes) -> bytes:
    return b"\x92" + part + part


MAX_SECONDS = 2.0
MAX_OBJECTS = 2_000_000
"""So that the most that is allowed takes no longer than that."""

ONCE1 = {*map(int, VALUES_IN), int(Ext.HEAD), int(Ext.TABLE)}
UPSTREAM = {*range(8)}


@functools.cache
def corpus(codec: str) -> list[Node]:
    if codec == "msgpack":
        serde = OnceSerializer(SerdeConfig(codec="msgpack", compression="none"))
        values, nested = [[value] for value in SAFE_VALUES + OWN_VALUES], UPSTREAM
    else:
        serde = once1()
        rows = [row.value for row in ROWS if row.id not in REFUSED]
        values, nested = [*rows, *([a, {"k": [a, b]}, b] for a, b in pairwise(rows))], ONCE1
    found = []
    for value in values:
        try:
            tag, blob = serde.dumps_typed(value)
        except EncodeError:
            continue
        if tag == codec and len(blob) < 20_000:
            found += parsed(blob, nested=nested)
    for blob in COSTLY[codec]:
        found += parsed(blob, nested=nested) * _MANY
    return found


_MANY = 20
"""So often they stand among the others, so that as many blobs are made of them as of each kind."""

_NAMES = ("wipe:DB", "setup:Setup", "scripts.nuke:Run", "own./x:A", "own..x:A", f"{'a' * 300}:A")
COSTLY: dict[str, list[bytes]] = {
    "once1": [
        *(doubled(levels, two_of, two_of) for two_of in (two, listed) for levels in (8, 20, 60)),
        *(ext(Ext.FAMILY, pack("dataclass"), pack(name), pack({"a": 1})) for name in _NAMES),
        *(pattern("[\u0100-\u2000]|a" * 1000), integers(20, 1000), copies(50), aliases(40)),
        tied(pack(1), array([ref(0)] * 3000)),
    ],
    "msgpack": [
        ormsgpack.packb(ormsgpack.Ext(code, ormsgpack.packb([*name.split(":"), {"a": 1}])))
        for name in _NAMES
        for code in (0, 2, 3, 5)
    ]
    + [upstream_pattern("[\u0100-\u2000]|a" * 1000)],
}
"""Rows that ran a module of the project, or cost more than they said."""

CODECS = ("once1", "msgpack")


def readers(codec: str) -> list[OnceSerializer]:
    settings: dict[str, Any] = {"max_decoded_objects": MAX_OBJECTS}
    if codec == "msgpack":
        return [OnceSerializer(SerdeConfig(allowed_types=OWN_TYPES, **settings))]
    return [once1(on_unavailable=policy, **settings) for policy in ("raise", "opaque")]


def blob_of(codec: str, seed: int) -> bytes:
    """Return the blob of a seed."""
    rng = random.Random(seed)
    donors = corpus(codec)
    codes = ONCE1 - {Ext.TABLE} if codec == "once1" else UPSTREAM
    return forged(rng, rng.choice(donors), donors, codes)


def outcome(serde: OnceSerializer, codec: str, blob: bytes) -> str:
    """Return what reading ends in."""
    try:
        serde.loads_typed((codec, blob))
    except SerdeError as error:
        return type(error).__name__
    return "value"


def fuzz(codec: str, seeds: range) -> dict[str, int]:
    """Read the blobs of the seeds; return how often what was the outcome."""
    counts: dict[str, int] = {}
    kinds = readers(codec)
    for seed in seeds:
        serde, blob = kinds[seed % len(kinds)], blob_of(codec, seed)
        found: list[str] = []
        try:
            seconds = least_seconds(
                lambda: found.append(outcome(serde, codec, blob)),  # noqa: B023  (called at once)
                MAX_SECONDS,
            )
            assert within(seconds, MAX_SECONDS)
        except BaseException as error:
            error.add_note(f"{codec}, seed {seed}, {len(blob)} bytes, {blob!r:.200}")
            raise
        counts[found[0]] = counts.get(found[0], 0) + 1
    return counts


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("codec", CODECS)
def test_forged_blobs_yield_a_value_or_our_error(codec: str) -> None:
    counts = fuzz(codec, range(250))
    # Else they die at the door, and nothing behind it is tried.
    assert counts["value"] > 12
    assert counts["PayloadError"] > 12


@pytest.mark.slow
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("start", range(1_000_000, 1_100_000, 10_000))
def test_many_forged_blobs_yield_a_value_or_our_error(codec: str, start: int) -> None:
    fuzz(codec, range(start, start + 10_000))
