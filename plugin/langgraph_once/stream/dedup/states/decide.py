"""State payloads without the messages that the consumer already has.

`updates` and `values` repeat every message that `messages` delivered, once per level of
nesting and once per step. Here a list of messages is cut down to what is new, in the
language of `add_messages`: a message that is new or says something else stays, one that the
consumer has is left out, and one that left a state is said as `RemoveMessage`. Folding what
remains by id gives the state.

Only lists of messages are cut; a message that stands alone under a key is that key's value
and stays. Keys that begin with two underscores (`__interrupt__`, `__metadata__`) are the
platform's and stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from langgraph_once.stream.dedup.states.hints import Hints
from langgraph_once.stream.dedup.states.state_cut import StateCut, listed_ids
from langgraph_once.stream.dedup.stats import DedupStats
from langgraph_once.stream.ledger.entry import Entry
from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.part.envelope import Part
from langgraph_once.stream.part.messages_within import DEFAULT_KEY

__all__ = ["IsMessageKeyIn", "StateParts", "is_default_key"]

IsMessageKeyIn: TypeAlias = Callable[[tuple[str, ...], str], bool]


def is_default_key(_ns: tuple[str, ...], key: str) -> bool:
    """Whether a key is the one that holds messages in most graphs."""
    return key == DEFAULT_KEY


class StateParts:
    """Cuts the parts of the modes `updates` and `values`.

    Args:
        ledger: What the consumer has; notes what stays as delivered.
        hints: What is known of the run beside its states; None where nothing tells.
        is_message_key: Which keys of a graph hold messages, for values that are none yet.
        stats: Counts the decisions.
    """

    def __init__(
        self,
        ledger: Ledger,
        hints: Hints | None,
        is_message_key: IsMessageKeyIn,
        stats: DedupStats,
    ) -> None:
        self._ledger = ledger
        self._hints = hints
        self._stats = stats
        self._is_message_key = is_message_key
        self._stale: list[Entry] = []

    def cut(self, part: Part) -> Any:
        """The data of a part without the messages that the consumer has.

        A part of mode `values` is complete: of a message that the one before held and this one
        does not, a `RemoveMessage` says that it has been removed.
        """
        is_complete = part.mode == "values"
        gone = self._ledger.snapshot(part.ns, listed_ids(part.data)) if is_complete else None
        while self._hints is not None and self._hints.rerun:
            task = self._hints.rerun.popleft()
            self._stale += [e for e in self._ledger.said_in(task) if e not in self._stale]
        cut = StateCut(
            ledger=self._ledger,
            ns=part.ns,
            data=part.data,
            gone=gone,
            stale=self._stale,
            hints=self._hints,
            is_message_key=lambda key: self._is_message_key(part.ns, key),
        )
        data = cut.cut()
        self._stats.inferred += cut.inferred
        return data
