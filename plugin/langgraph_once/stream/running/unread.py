"""What a graph sent after its consumer had left, for the next stream."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from langgraph_once.stream.part.envelope import Part
from langgraph_once.stream.running.run import Run

__all__ = ["unread"]


TELLS_OF_MESSAGES = frozenset({"updates", "values", "checkpoints"})
"""A cached update has messages that mode `messages` lacks, a state shows their ids, and a
checkpoint which ledger belongs to it."""


def unread(run: Run) -> Iterator[Part]:
    """The parts of an ended run that tell of messages and that nobody has read."""
    put: Any = run.put
    if isinstance(put, functools.partial):  # in async runs it is called in the loop's own time
        put = put.args[0]
    # Private upstream (langgraph 1.2.22, langgraph/_internal/_queue.py); the law with cuts
    # notices when it changes.
    sent = getattr(getattr(put, "__self__", None), "_queue", ())
    while sent:
        ns, mode, data = sent.popleft()
        if mode == "messages":
            yield Part(ns, mode, *data)
        elif mode in TELLS_OF_MESSAGES:
            yield Part(ns, mode, data)
