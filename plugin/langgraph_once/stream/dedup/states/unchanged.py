"""States and updates that come again as they were."""

from __future__ import annotations

from typing import Any

from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.part.fingerprint import fingerprint
from langgraph_once.stream.part.shapes import INTERRUPT_KEY, Part

__all__ = [
    "METADATA_KEY",
    "changed_keys",
    "has_interrupt",
    "is_cached",
    "is_repeated_update",
    "is_unchanged",
]

METADATA_KEY = "__metadata__"
ROOT_KEY = "__root__"


def is_unchanged(part: Part, ledger: Ledger) -> bool:
    """Whether the state in a `values` part is the one that its namespace had last.

    With an interrupt it is always news. Notes the state; `changed_keys` compares with the one
    before.
    """
    now = _fingerprints(part.data)
    ledger.state_before = before = ledger.states.get(part.ns)
    ledger.states.note(part.ns, now)
    if has_interrupt(part):
        return False
    return before == now and None not in now.values()


def has_interrupt(part: Part) -> bool:
    """Whether a `values` part tells that a task waits for an answer, so its step is unfinished."""
    is_in_data = isinstance(part.data, dict) and INTERRUPT_KEY in part.data
    return is_in_data or bool(part.meta.get("interrupts"))


def changed_keys(part: Part, ledger: Ledger) -> Any:
    """The state in a `values` part without the keys that are as they were."""
    before = ledger.state_before
    if not isinstance(part.data, dict) or before is None:
        return part.data
    now = ledger.states[part.ns]
    return {
        key: value
        for key, value in part.data.items()
        if now[key] is None or now[key] != before.get(key)
    }


def is_cached(part: Part) -> bool:
    """Whether an `updates` part tells of a node that did not run for it."""
    return isinstance(part.data, dict) and bool((part.data.get(METADATA_KEY) or {}).get("cached"))


def is_repeated_update(part: Part, ledger: Ledger, *, note: bool = True) -> bool:
    """Whether an `updates` part is one that a resumed run repeats for completeness (D11).

    Upstream marks it as cached, and so it marks a result that a cache policy provides, which
    this consumer may never have seen: only what the stream before delivered is a repetition.
    With `note` the ledger notes it as delivered.
    """
    if not isinstance(part.data, dict):
        return False
    update = {key: value for key, value in part.data.items() if key != METADATA_KEY}
    mark, cached = fingerprint([part.ns, update], of_tuples=b"list"), is_cached(part)
    is_repeated = cached and mark is not None and ledger.had_update(part.ns, mark)
    if note:
        ledger.note_update(part.ns, mark, ran=not cached, waits=bool(update.get(INTERRUPT_KEY)))
    return is_repeated


def _fingerprints(state: Any) -> dict[str, bytes | None]:
    if isinstance(state, dict):
        return {str(key): fingerprint(value) for key, value in state.items()}
    return {ROOT_KEY: fingerprint(state)}
