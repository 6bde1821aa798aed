"""Which checkpoints of a thread tell what became of a run."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from langgraph_once.remote.reconcile import (
    CHECKPOINTS_PER_PAGE as PAGE,
    RunHistory,
    goes_on,
)


def run_made(second: int) -> str:
    """A run id as LangGraph's servers make it."""
    return str(UUID(int=((second * 1000) << 80) | (7 << 76) | (2 << 62)))


def checkpoint(second: int, run_id: str, *, source: str = "loop", tasks: Any = ()) -> Any:
    return {
        "checkpoint": {"checkpoint_id": str(second)},
        "parent_checkpoint": {"checkpoint_id": str(second - 1)},
        "created_at": datetime.fromtimestamp(second, UTC).isoformat(),
        "metadata": {"run_id": run_id, "source": source},
        "next": [task["name"] for task in tasks],
        "tasks": list(tasks),
    }


def ids(states: list[Any]) -> list[str]:
    return [state["checkpoint"]["checkpoint_id"] for state in states]


FIRST, RESUME, LATER = run_made(10), run_made(20), run_made(40)
WAITS = {"name": "ask", "interrupts": [{"value": "Well?"}]}
INTERRUPTED = [checkpoint(12, FIRST, tasks=[WAITS]), checkpoint(11, FIRST, source="input")]
RESUMED = RunHistory(RESUME, goes_on=True)


class TestOfRun:
    def test_a_history_has_what_an_earlier_run_wrote_since_and_where_it_went_on_from(self) -> None:
        states = [checkpoint(14, FIRST), checkpoint(13, RESUME), *INTERRUPTED]
        states[0]["created_at"] = datetime.fromtimestamp(22, UTC).isoformat()
        states[1]["created_at"] = datetime.fromtimestamp(21, UTC).isoformat()
        assert ids(RESUMED.of_run(states)) == ["14", "13", "12"]
        assert RESUMED.is_complete(RESUMED.of_run(states))

    def test_not_those_of_a_run_that_was_made_later(self) -> None:
        """That is another one, as after a rollback: it is no answer to what this was to do."""
        states = [checkpoint(42, LATER), checkpoint(41, LATER, source="input"), *INTERRUPTED]
        assert RESUMED.of_run(states) == []
        assert not RESUMED.is_complete([])

    def test_a_resume_that_was_lost_is_not_complete(self) -> None:
        found = RESUMED.of_run(INTERRUPTED)
        assert ids(found) == ["12"]
        assert not RESUMED.is_complete(found)

    def test_a_run_with_an_input_has_its_own_alone(self) -> None:
        """Another run that ends well proves nothing of an input that was lost."""
        own = RunHistory(RESUME, goes_on=False)
        assert own.asked("t")["metadata"] == {"run_id": RESUME}
        assert own.of_run([]) == []
        assert not own.is_complete([])

    def test_a_run_whose_id_tells_no_time_is_asked_for_by_metadata(self) -> None:
        unknown = RunHistory("3f0b4f52-6cf1-4b0e-8a52-0d6f3ef5c1aa", goes_on=True)
        assert "metadata" in unknown.asked("t")
        assert not unknown.is_of_run_or_older(FIRST)


class TestComplete:
    def test_a_history_that_ends_at_an_interrupt_is_complete(self) -> None:
        history = RunHistory(FIRST, goes_on=False)
        assert history.is_complete([checkpoint(12, FIRST, tasks=[WAITS])])
        assert history.is_complete([checkpoint(12, FIRST)])

    def test_a_history_that_ends_with_tasks_to_do_is_not_complete(self) -> None:
        history = RunHistory(FIRST, goes_on=False)
        assert not history.is_complete([checkpoint(12, FIRST, tasks=[WAITS, {"name": "other"}])])
        assert not history.is_complete([checkpoint(12, FIRST, tasks=[{"name": "other"}])])


class TestPages:
    def test_another_page_of_history_is_asked_for_after_a_full_one(self) -> None:
        assert RESUMED.asked("t") == {"thread_id": "t", "limit": PAGE}
        assert not RESUMED.is_last([checkpoint(100 - n, RESUME) for n in range(PAGE)])

    def test_a_short_one_or_the_beginning_of_the_run_is_the_last(self) -> None:
        assert RESUMED.is_last([checkpoint(30, RESUME)])
        assert RESUMED.is_last([INTERRUPTED[0]] * PAGE)
        own = RunHistory(RESUME, goes_on=False)
        assert own.is_last([checkpoint(30, RESUME, source="input")] * PAGE)
        assert not own.is_last([checkpoint(30, RESUME)] * PAGE)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"input": None}, True),
        ({"input": {"messages": []}}, False),
        ({"command": {"resume": "yes"}}, True),
        ({"command": {"resume": "yes", "update": {"a": 1}}}, True),
        ({"command": {"update": {"a": 1}}}, False),
        ({"command": {"goto": [], "update": None, "resume": None}}, True),
    ],
)
def test_a_run_goes_on_where_it_is_given_an_answer_or_nothing(given: Any, expected: bool) -> None:
    assert goes_on(given) is expected
