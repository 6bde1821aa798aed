"""Which checkpoints of a thread tell what became of a run? No I/O.

Those that the run wrote, and for a run that goes on from a checkpoint two more kinds: the one
that it went on from, whose tasks are its first; and those that an earlier run wrote since. After
SIGKILL, `langgraph dev` 0.16 forgets runs of the last ten seconds. If an earlier run of the thread
was noted as running, the server runs that one again, and with the stored resume it finishes the
thread under its own id.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import takewhile
from typing import Any, Final
from uuid import UUID

from langgraph_once.remote.following.reconcile import State, parent_of, run_of

__all__ = ["CHECKPOINTS_PER_PAGE", "RunHistory", "goes_on"]

CHECKPOINTS_PER_PAGE: Final = 20
"""How many checkpoints to ask for at once. Most runs have fewer, and each holds a whole state."""


def goes_on(given: Mapping[str, Any]) -> bool:
    """Whether a run that is given this input or command goes on from a checkpoint, and no more."""
    command = given.get("command") or {}
    if command.get("resume") is not None:
        return True
    return given.get("input") is None and not (command.get("update") or command.get("goto"))


class RunHistory:
    """The part of a thread's history that is about one run.

    Args:
        run_id: The run.
        goes_on: It was given no input. An input that no checkpoint holds is lost, whoever ran
            since.
    """

    def __init__(self, run_id: str | None, *, goes_on: bool) -> None:
        self._run_id = run_id
        made_s = _made_s(run_id)
        self._is_wider = goes_on and made_s < math.inf
        self._begun_s = made_s if self._is_wider else -math.inf  # nothing is older

    def asked(self, thread_id: str) -> dict[str, Any]:
        """What `client.threads.get_history` is to be asked for."""
        of_run = {} if self._is_wider else {"metadata": {"run_id": self._run_id}}
        return {"thread_id": thread_id, "limit": CHECKPOINTS_PER_PAGE, **of_run}

    def is_last(self, page: Sequence[State]) -> bool:
        """Whether no other page need be asked for after this one."""
        return len(page) < CHECKPOINTS_PER_PAGE or self.is_whole(page)

    def of_run(self, states: Sequence[State]) -> list[State]:
        """Of the checkpoints of the thread those that are about the run, newest first."""
        if not self._is_wider:
            return [*states]
        since = takewhile(lambda state: not self._is_before(state), states)
        found = [state for state in since if self.is_of_run_or_older(run_of(state))]
        if not found:
            return [*states[:1]] if states and self._is_before(states[0]) else []
        base = parent_of(found[-1])
        return found + [s for s in states if s["checkpoint"]["checkpoint_id"] == base][:1]

    def is_whole(self, states: Sequence[State]) -> bool:
        """Whether these reach back to where the run began: to its input, or before it was made."""
        if self._is_wider:
            return any(map(self._is_before, states))
        return any((state.get("metadata") or {}).get("source") == "input" for state in states)

    def is_complete(self, states: Sequence[State]) -> bool:
        """Whether the newest of these leaves nothing to do but to wait for an answer."""
        if not states or self._is_before(states[0]):
            return False
        if not states[0].get("next"):
            return True
        left = [task for task in states[0].get("tasks") or () if not task.get("result")]
        return bool(left) and all(task.get("interrupts") for task in left)

    def is_of_run_or_older(self, run_id: str | None) -> bool:
        """Whether an id is that of the run, or of one made before it."""
        return run_id == self._run_id or _made_s(run_id) < self._begun_s

    def _is_before(self, state: State) -> bool:
        """Whether a checkpoint was there before a run that goes on was made."""
        made = state.get("created_at")
        if not isinstance(made, str) or run_of(state) == self._run_id:
            return False
        return datetime.fromisoformat(made).timestamp() < self._begun_s


def _made_s(run_id: str | None) -> float:
    """When a run was made: LangGraph's servers name runs by UUIDs of version 7.

    Infinity, as if it were yet to come, where the id does not tell.
    """
    try:
        made = UUID(run_id or "")
    except ValueError:
        return math.inf
    return (made.int >> 80) / 1000 if made.version == 7 else math.inf
