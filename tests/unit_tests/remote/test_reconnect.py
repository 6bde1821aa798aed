"""What is done between two connections, without a server: each step is a question or a wait."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from langgraph_once.config import RemoteConfig
from langgraph_once.errors import StreamInterrupted
from langgraph_once.remote import retries
from langgraph_once.remote.alignment import Frame
from langgraph_once.remote.reconnect import QuestionFailed, between
from langgraph_once.remote.run_reader import Headers, RunReader

UNFIT = QuestionFailed(ValueError("no JSON"))


def joined(headers: Headers = None, **config: Any) -> RunReader:
    """One that has joined a run twice: it said one thing, and then the same thing again."""
    reader = RunReader(
        RemoteConfig(**config), thread_id="t", run_id="r", modes=["custom"], headers=headers
    )
    for is_new in (True, False):
        reader.rejoin()
        assert len(list(reader.feed(Frame("custom", 1, "1-0", 7)))) == is_new
        assert not list(reader.ended())
    return reader


def taken(reader: RunReader, *answers: Any) -> list[Any]:
    """The waits, and the outcome, where questions are answered like this."""
    steps, found, left = between(reader), [], list(answers)
    answer: Any = None
    try:
        while True:
            unfit = isinstance(answer, QuestionFailed)
            step = steps.throw(answer) if unfit else steps.send(answer)
            answer = left.pop(0) if callable(step) else None
            if not callable(step):
                found.append(step)
    except StopIteration as stop:
        return [*found, stop.value]
    finally:
        assert not left


def test_a_run_that_is_over_ends_the_stream_without_a_wait() -> None:
    assert taken(joined(), {"status": "success"}) == [("success", [])]


def test_a_run_under_way_is_joined_again_after_a_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "FIRST_WAIT_S", 1)
    monkeypatch.setattr(retries, "MAX_WAIT_S", 1)
    wait_s, outcome = taken(joined(), {"status": "running"})
    assert wait_s >= 1
    assert outcome is None


@pytest.mark.parametrize("answer", [UNFIT, [], {"status": 5}], ids=["failed", "list", "number"])
def test_a_question_without_an_answer_is_asked_again_after_a_wait(
    answer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retries, "FIRST_WAIT_S", 1)
    monkeypatch.setattr(retries, "MAX_WAIT_S", 1)
    wait_s, outcome = taken(joined(), answer)
    assert wait_s >= 1
    assert outcome is None


def test_the_last_try_ends_in_an_error_that_says_where_to_go_on() -> None:
    reader = joined(max_retries=1)
    assert taken(reader, {"status": "running"})[-1] is None
    with pytest.raises(StreamInterrupted, match="gave up") as caught:
        taken(reader, {"status": "running"})
    assert (caught.value.run_id, caught.value.position) == ("r", reader.position)


def test_a_run_that_the_server_does_not_know_is_asked_for_its_checkpoints() -> None:
    page = [{"checkpoint": {}, "next": [], "metadata": {"source": "input"}}]
    assert taken(joined(), None, page) == [("", page)]


def test_a_question_names_the_run_and_bears_the_headers() -> None:
    asked: list[Any] = []
    runs = SimpleNamespace(get=lambda *run, headers: asked.append((*run, headers)))
    step = next(between(joined({"x": "1"})))
    assert callable(step)
    step(SimpleNamespace(runs=runs))
    assert asked == [("t", "r", {"x": "1"})]
