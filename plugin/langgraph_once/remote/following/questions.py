"""What a server is asked beside a stream. No I/O: who has a client asks, and sends the answers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, TypeAlias, TypeVar

from langgraph_once.remote.following.reconcile import State, next_page
from langgraph_once.remote.following.run_reader import GONE, RunReader
from langgraph_once.remote.shapes.snapshots import before_of

__all__ = ["Headers", "Outcome", "Question", "Questions", "outcome", "run_asked"]

T = TypeVar("T")

Headers: TypeAlias = Mapping[str, str] | None

Question: TypeAlias = Callable[[Any], Any]
"""Asks, given a client, sync or async."""

Questions: TypeAlias = Generator[Question, Any, T]
"""Is sent the answer to each; None where the server does not know what it is asked for."""

Outcome: TypeAlias = tuple[str, list[State]]
"""The status of a run, and its checkpoints, newest first, where they are needed."""


def run_asked(
    thread_id: str | None, run_id: str | None, headers: Headers
) -> Questions[Mapping[str, Any] | None]:
    """Ask for a run; None where the server does not know it.

    Raises:
        ValueError: The answer is no run.
    """
    run = yield lambda client: client.runs.get(str(thread_id), str(run_id), headers=headers)
    if run is not None and not (isinstance(run, Mapping) and isinstance(run.get("status"), str)):
        raise ValueError("expected a run with its status")
    return run


def outcome(reader: RunReader, headers: Headers) -> Questions[Outcome]:
    """Ask what a run came to, as far as that is not known.

    Raises:
        ValueError: An answer is not of the form that it must have.
    """
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
            raise ValueError("expected a list of checkpoints")
        states += page
        asked = next_page(asked, page)
    return status, states


def _history(asked: Mapping[str, Any], headers: Headers) -> Question:
    return lambda client: client.threads.get_history(**asked, headers=headers)
