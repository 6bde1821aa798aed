"""Rows of every form, changed a little: a value or our error, soon, and nothing runs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.forked import run_python
from tests.unit_tests.serde.cpu import within

MAX_SECONDS = 2.0
MAX_MEGABYTES = 1024
ERRORS = {"PayloadError", "SizeLimitError", "TypeNotAllowedError"}
BATCH = 25_000


def read(codec: str, start: int, count: int) -> dict[str, Any]:
    command = "-m", "tests.unit_tests.serde.hostile.mutants", codec, str(start), str(count)
    done = run_python(*command)
    assert done.returncode == 0, done.stderr[-2000:]
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


def check(codec: str, start: int, count: int) -> None:
    facts = read(codec, start, count)
    outcomes = facts["outcomes"]
    assert {*outcomes} - {"value", "value that is not written"} <= ERRORS, facts
    assert sum(outcomes.values()) == count
    assert within(facts["slowest"], MAX_SECONDS), facts
    assert facts["mb"] < MAX_MEGABYTES, facts
    assert facts["ran"] == []
    assert min(outcomes["value"], outcomes["PayloadError"]) > count // 50, "else nothing was tried"


@pytest.mark.parametrize(("codec", "count"), [("once2", 3000), ("msgpack", 1500)])
def test_mutants_are_a_value_or_our_error(codec: str, count: int) -> None:
    check(codec, 0, count)


@pytest.mark.slow
@pytest.mark.parametrize("codec", ["once2", "msgpack"])
@pytest.mark.parametrize("batch", range(14))
def test_many_mutants_are_a_value_or_our_error(codec: str, batch: int) -> None:
    check(codec, 1_000_000 + batch * BATCH, BATCH)
