"""Which checkpoints of a thread tell what became of a run? No I/O.

Those that the run wrote, and for a run that goes on from a checkpoint two more kinds: the one
that it went on from, whose tasks are its first; and those that an earlier run wrote since. After
SIGKILL, `langgraph dev` 0.16 forgets runs of the last ten seconds. If an earlier run of the thread
was noted as running, the server runs that one again, and with the stored resume it finishes the
thread under its own id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile
from typing import Any, Final
from uuid import UUID

from langgraph_once.remote.following.reconcile import State

__all__ = ["PAGE", "RunHistory", "goes_on"]

PAGE: Final = 20
"""How many checkpoints to ask for at once."""


def goes_on(given: Mapping[str, Any]) -> bool:
    """Whether a run that is given this input or command goes on from a checkpoint, and no more."""
    command = given.get("command") or {}
    if command.get("resume") is not None:
        return True
    return given.get("input") is None and not (command.get("update") or command.get("goto"))


@dataclass(frozen=True, slots=True)
class RunHistory:
    """The part of a thread's history that is about one run."""

    run_id: str | None

    goes_on: bool
    """It was given no input. An input that no checkpoint holds is lost, whoever ran since."""

    @property
    def _begun_s(self) -> float | None:
        """When the run was made; None if that is not asked for, or its id does not tell."""
        return _made_s(self.run_id) if self.goes_on else None

    def asked(self, thread_id: str) -> dict[str, Any]:
        """What `client.threads.get_history` is to be asked for."""
        of_run = {} if self._begun_s is not None else {"metadata": {"run_id": self.run_id}}
        return {"thread_id": thread_id, "limit": PAGE, **of_run}

    def next_page(self, asked: Mapping[str, Any], page: Sequence[State]) -> dict[str, Any] | None:
        """What to ask for after a page; None if that was the last."""
        is_last = len(page) < PAGE or self.is_whole(page)
        return None if is_last else {**asked, "before": page[-1]["checkpoint"]}

    def of_run(self, states: Sequence[State]) -> list[State]:
        """Of the checkpoints of the thread those that are about the run, newest first."""
        if self._begun_s is None:
            return [*states]
        since = takewhile(lambda state: not self._is_before(state), states)
        found = [state for state in since if self.is_of_run_or_older(_run_id(state))]
        if not found:
            return [*states[:1]] if states and self._is_before(states[0]) else []
        base = (found[-1].get("parent_checkpoint") or {}).get("checkpoint_id")
        return found + [s for s in states if s["checkpoint"]["checkpoint_id"] == base][:1]

    def is_whole(self, states: Sequence[State]) -> bool:
        """Whether these reach back to where the run began: to its input, or before it was made."""
        if self._begun_s is not None:
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
        made_s, begun_s = _made_s(run_id), self._begun_s
        is_older = made_s is not None and begun_s is not None and made_s < begun_s
        return run_id == self.run_id or is_older

    def _is_before(self, state: State) -> bool:
        """Whether a checkpoint was there before a run that goes on was made."""
        begun_s, made = self._begun_s, state.get("created_at")
        if begun_s is None or not isinstance(made, str) or _run_id(state) == self.run_id:
            return False
        return datetime.fromisoformat(made).timestamp() < begun_s


def _run_id(state: State) -> str | None:
    found: str | None = (state.get("metadata") or {}).get("run_id")
    return found


def _made_s(run_id: str | None) -> float | None:
    """When a run was made: LangGraph's servers name runs by UUIDs of version 7."""
    try:
        made = UUID(run_id or "")
    except ValueError:
        return None
    return (made.int >> 80) / 1000 if made.version == 7 else None
