"""What was said to a consumer that had left.

A consumer that leaves a stream, or loses it to an error, leaves behind what the graph has sent
and it has not read, and nodes that were at work speak on until they are done. Their answers
enter the state, so no later run says them again. They go through the deduplicator all the
same, and what it would have passed on is kept: the next stream of the thread begins with it.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable

from langchain_core.messages import (
    AIMessageChunk,
    BaseMessage,
    message_to_dict,
    messages_from_dict,
)

from langgraph_once.stream.part.envelope import Part

__all__ = ["keep_undelivered", "read_undelivered", "write_undelivered"]


def keep_undelivered(undelivered: deque[Part], parts: Iterable[Part]) -> None:
    """Add what is to be said in messages, the tokens of one message as one chunk."""
    for part in parts:
        if not isinstance(part.data, BaseMessage):
            continue
        name = part.data.id, part.ns
        same = [at for at, each in enumerate(undelivered) if (each.data.id, each.ns) == name]
        if same and type(undelivered[same[-1]].data) is type(part.data) is AIMessageChunk:
            undelivered[same[-1]] = part._replace(data=undelivered[same[-1]].data + part.data)
        else:
            undelivered.append(part)


def write_undelivered(part: Part) -> str:
    """An undelivered message as JSON; what JSON has no word for becomes text."""
    said = [list(part.ns), message_to_dict(part.data), dict(part.meta)]
    return json.dumps(said, default=repr)


def read_undelivered(said: str) -> Part:
    """The undelivered message that `write_undelivered` wrote."""
    ns, message, meta = json.loads(said)
    return Part(tuple(ns), "messages", messages_from_dict([message])[0], meta)
