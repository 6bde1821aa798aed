"""What is done between two connections: asking the server, and waiting. No I/O.

Each is a generator of steps. Who has a client takes the steps, sync or async, and sends back
the answers: see `answered` in `wire/reconnect.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, Final, TypeAlias, TypeVar

from langgraph_once.remote.following.reconcile import State, next_page
from langgraph_once.remote.following.run_reader import GONE, RunReader
from langgraph_once.remote.shapes.snapshots import before_of

__all__ = ["Headers", "Outcome", "Step", "Steps", "Unanswered", "between", "run_asked"]

T = TypeVar("T")

Headers: TypeAlias = Mapping[str, str] | None

Step: TypeAlias = Callable[[Any], Any] | float
"""A question, which a client asks; or how long to wait, in seconds."""

Steps: TypeAlias = Generator[Step, Any, T]
"""Is sent the answer to each question; None where the server does not know what it is asked for.

`Unanswered` is thrown in where a question failed.
"""

Outcome: TypeAlias = tuple[str, list[State]]
"""The status of a run, and its checkpoints, newest first, where they are needed."""

UNDER_WAY: Final = frozenset({"pending", "running"})


class Unanswered(Exception):  # noqa: N818  # it is told to a generator, and to nobody else
    """A question has no answer.

    Attributes:
        error: Why.
    """

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def run_asked(
    thread_id: str | None, run_id: str | None, headers: Headers
) -> Steps[Mapping[str, Any] | None]:
    """Ask for a run; None where the server does not know it.

    Raises:
        Unanswered: The question failed, or the answer is no run.
    """
    run = yield lambda client: client.runs.get(str(thread_id), str(run_id), headers=headers)
    if run is not None and not (isinstance(run, Mapping) and isinstance(run.get("status"), str)):
        raise Unanswered(ValueError("expected a run with its status"))
    return run


def between(reader: RunReader, headers: Headers) -> Steps[Outcome | None]:
    """Ask and wait as long as it takes until the next connection may be made.

    Returns:
        What the run came to; None if it needs another connection.

    Raises:
        APIStatusError: The server has refused too often to begin the run.
        StreamInterrupted: The run cannot be read to its end.
    """
    if reader.must_begin_again:
        yield reader.begin_again()
        return None
    if reader.must_ask:
        try:
            status, states = yield from _outcome(reader, headers)
        except Unanswered as failed:
            reader.unanswered(failed.error)
        else:
            if status not in UNDER_WAY:
                return status, states
    yield reader.rejoin()
    return None


def _outcome(reader: RunReader, headers: Headers) -> Steps[Outcome]:
    """Ask what a run came to, as far as that is not known."""
    status = reader.known_status
    if status is None:
        run = yield from run_asked(reader.thread_id, reader.run_id, headers)
        status = GONE if run is None else run["status"]
    states: list[State] = []
    asked = reader.history_asked(status)
    while asked is not None:
        page = yield _history({**asked, "before": before_of(asked.get("before"))}, headers)
        if page is None:
            return status, []
        if not isinstance(page, list) or not all(isinstance(state, Mapping) for state in page):
            raise Unanswered(ValueError("expected a list of checkpoints"))
        states += page
        asked = next_page(asked, page)
    return status, states


def _history(asked: Mapping[str, Any], headers: Headers) -> Step:
    return lambda client: client.threads.get_history(**asked, headers=headers)
