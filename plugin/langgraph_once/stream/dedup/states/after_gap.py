"""After a gap in a stream: which messages of a state were streamed before it, under another id."""

from __future__ import annotations

from typing import Any

from langgraph_once.stream.dedup.states.state_cut import listed_ids
from langgraph_once.stream.ledger.entry import State
from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.ledger.texts import saying
from langgraph_once.stream.part.content import content_of
from langgraph_once.stream.part.messages_within import found_in_input

__all__ = ["alias_messages_after_gap"]


def alias_messages_after_gap(ledger: Ledger, state: Any) -> None:
    """Note which messages of a state the consumer has from an attempt that left no trace.

    Where a server ends before it has kept a checkpoint, a node runs anew. What it says then may
    be lost with the events in the gap, and the state names it by an id that nobody has seen. Its
    twin is a message of a model that says the same, and is in no place of the state itself.

    Args:
        ledger: What the consumer has.
        state: The whole state of a graph, not an update.
    """
    listed = listed_ids(state)
    vain = [
        entry
        for entry in ledger.known()
        if entry.state is State.COMPLETE and not listed.keys() & entry.ids
    ]
    for _, message in found_in_input(state) if vain else ():
        if not message.id or ledger.entries(message.id):
            continue
        if (twin := saying(content_of(message), vain)) is not None:
            vain.remove(twin)
            ledger.alias(twin, message.id)
