"""What `invoke` returns: the last state with what waits, or all chunks."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.types import GraphOutput, Interrupt

from langgraph_once.remote.shapes import Result
from langgraph_once.stream import Part

WAITS = Interrupt("?", id="i")
UPDATE = Part((), "updates", {"n": {"a": 1}})
WAITING = Part((), "updates", {"__interrupt__": (WAITS,)})
STATES = [Part((), "values", {"a": 0}), Part((), "values", {"a": 1})]
STOPPED = Part((), "values", {"a": 1}, {"interrupts": (WAITS,)})


def result(*parts: Part, mode: Any = "values", version: Any = "v1") -> Any:
    result = Result(mode, subgraphs=False, version=version)
    for part in parts:
        result.feed(part)
    return result.close()


def test_the_result_of_invoke_is_the_last_state() -> None:
    assert result(STATES[0], UPDATE, STATES[1]) == {"a": 1}
    assert result(STATES[0], UPDATE, version="v2") == GraphOutput(value={"a": 0}, interrupts=())
    assert result() is None


def test_the_result_of_invoke_has_the_interrupts_that_wait() -> None:
    assert result(STATES[1], WAITING) == {"a": 1, "__interrupt__": [WAITS]}
    assert result(WAITING) == {"__interrupt__": [WAITS]}
    waiting = result(STATES[0], WAITING, STOPPED, version="v2")
    assert waiting == GraphOutput(value={"a": 1}, interrupts=(WAITS,))


@pytest.mark.parametrize(
    ("mode", "chunks"),
    [("updates", [UPDATE.data]), (["values", "updates"], [("updates", UPDATE.data)])],
    ids=str,
)
def test_the_result_of_invoke_in_other_modes_is_all_chunks(mode: Any, chunks: list[Any]) -> None:
    assert result(UPDATE, mode=mode) == chunks
