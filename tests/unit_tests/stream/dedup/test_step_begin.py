"""When the graph at the root goes on to another step."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from langgraph_once.stream import Part
from langgraph_once.stream.dedup.step_begin import Steps


def begun(*told: tuple[str, int, dict[str, Any]]) -> list[int | None]:
    """What each message begins, by its task, the step of that and its annotation."""
    steps = Steps()
    metas = [{"langgraph_checkpoint_ns": ns, "langgraph_step": n, **more} for ns, n, more in told]
    return [steps.begun(Part((), "messages", AIMessage("Hi"), meta)) for meta in metas]


def test_the_first_step_begins_nothing_and_each_later_one_once() -> None:
    told: list[Any] = [("n:1", step, {}) for step in (1, 1, 2, 2, 1, 3)]
    assert begun(*told) == [None, None, 2, None, None, 3]


@pytest.mark.parametrize("inner", ["n:1|m:2", "n:1|m:2|o:3"])
def test_a_task_inside_tells_only_its_own_step(inner: str) -> None:
    assert begun(("n:1", 1, {}), (inner, 7, {})) == [None, None]


def test_but_its_annotation_tells_that_of_the_root() -> None:
    note = {"once": {"v": 1, "source": "node", "attempt": 1, "steps": [4, 7]}}
    assert begun(("n:1", 1, {}), ("n:1|m:2", 7, note)) == [None, 4]
