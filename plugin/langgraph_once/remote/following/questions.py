"""What is done between two connections: asking the server, and waiting. No I/O.

Each is a generator of steps. `run_steps` in `reconnect.py` takes them with a client, sync or
async, and sends back the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, Final, TypeAlias, TypeVar

from langgraph_once.remote.following.reconcile import State
from langgraph_once.remote.following.retries import Backoff
from langgraph_once.remote.following.run_reader import FAILED, GONE, Headers, RunReader
from langgraph_once.remote.shapes import before_of

T = TypeVar("T")

Step: TypeAlias = Callable[[Any], Any] | float
"""A question, which a client asks; or how long to wait, in seconds."""

Steps: TypeAlias = Generator[Step, Any, T]
"""Is sent the answer to each question; None where the server does not know what it is asked for.

`QuestionFailed` is thrown in where a question failed.
"""

Outcome: TypeAlias = tuple[str, list[State]]
"""The status of a run, and its checkpoints, newest first, where they are needed."""

UNDER_WAY: Final = frozenset({"pending", "running"})


class QuestionFailed(Exception):  # noqa: N818  # thrown into generators; no user sees it
    """A question has no answer.

    Attributes:
        error: Why.
    """

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def fetch_run(
    thread_id: str | None, run_id: str | None, headers: Headers
) -> Steps[Mapping[str, Any] | None]:
    """Ask for a run; None where the server does not know it.

    Raises:
        QuestionFailed: The question failed, or the answer is no run.
    """
    run = yield lambda client: client.runs.get(str(thread_id), str(run_id), headers=headers)
    match run:
        case None | {"status": str()}:
            return run
    raise QuestionFailed(ValueError("expected a run with its status"))


def at_once(value: T) -> Steps[T]:
    """No steps: the value is known."""
    yield from ()
    return value


def between(reader: RunReader) -> Steps[Outcome | None]:
    """Ask and wait as long as it takes until the next connection may be made.

    Returns:
        What the run came to; None if it needs another connection.

    Raises:
        APIStatusError: The server has refused too often to begin the run.
        StreamInterrupted: The run cannot be read to its end.
    """
    if reader.must_ask:
        try:
            status, states = yield from _outcome(reader)
        except QuestionFailed as failed:
            reader.failed(failed.error)
        else:
            if status not in UNDER_WAY:
                return status, states
    yield reader.rejoin()
    return None


def _outcome(reader: RunReader) -> Steps[Outcome]:
    """Ask what a run came to, as far as that is not known."""
    status, thread_id = reader.known_status, reader.thread_id
    if status is None:
        run = yield from fetch_run(thread_id, reader.run_id, reader.headers)
        status = GONE if run is None else run["status"]
    if thread_id is None or not reader.is_open or (status == GONE and reader.ended_whole):
        return status, []
    if status == GONE and reader.goes_on:
        # `langgraph dev` forgets runs of its last ten seconds if it is killed. An earlier run,
        # which it remembers, may finish then what this one was to do.
        yield from _earlier_runs_ended(thread_id, reader)
    if not (reader.suspected_loss or status == GONE or status in FAILED):
        return status, []
    return status, (yield from _history(thread_id, reader))


def _earlier_runs_ended(thread_id: str, reader: RunReader) -> Steps[None]:
    """Wait until no earlier run of the thread is under way."""
    tries = Backoff()
    while True:
        runs = yield lambda client: client.runs.list(
            thread_id, select=["run_id", "status"], headers=reader.headers
        )
        under_way = [run for run in _listed(runs or [], "runs") if run.get("status") in UNDER_WAY]
        if not any(reader.history.is_of_run_or_older(run.get("run_id")) for run in under_way):
            return
        yield tries.next_s() or 0


def _history(thread_id: str, reader: RunReader) -> Steps[list[State]]:
    """The checkpoints that are about the run, newest first, page by page."""
    history, states = reader.history, list[State]()
    asked = {**history.asked(thread_id), "headers": reader.headers, "before": None}
    while True:
        page = yield lambda client: client.threads.get_history(**asked)
        if page is None:
            return []
        states += _listed(page, "checkpoints")
        if history.is_last(page):
            return states
        asked["before"] = before_of(page[-1]["checkpoint"])


def _listed(answer: Any, kind: str) -> list[Mapping[str, Any]]:
    if not isinstance(answer, list) or not all(isinstance(each, Mapping) for each in answer):
        raise QuestionFailed(ValueError(f"expected a list of {kind}"))
    return answer
