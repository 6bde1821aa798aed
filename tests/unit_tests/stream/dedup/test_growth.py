"""What a message costs a reader, however many came before it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import pytest

from bench.growth import READERS, SHAPES, Reader, Runs

FEW, MANY = 48, 144


def lines_run(work: Callable[[], object]) -> int:
    """How many lines of this package are run, each turn of a loop counted."""
    count = 0

    def traced(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if "langgraph_once" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def read(make: Callable[[], Reader], runs: Runs) -> None:
    reader = make()
    for parts in runs:
        for _ in reader.read(iter(parts)):
            pass


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("reader", ["`dedup`", "`Transcript`"])
def test_a_message_costs_no_more_after_many_than_after_few(reader: str, shape: str) -> None:
    few, many = (
        lines_run(partial(read, READERS[reader], [*SHAPES[shape](count)])) for count in (FEW, MANY)
    )
    assert many / MANY < 1.25 * few / FEW
