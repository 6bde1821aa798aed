"""Numbers for a stream that goes over a wire: 1, 2, 3 … on each message part as it leaves.

A server repeats events to a client that comes back after a cut. By the number the client knows
which of them it has, and that none is missing. The numbers are given behind the filter, to what the
reader is sent and nothing else: so they have no gaps, whatever was withheld before.

A number belongs to one stream of the outermost graph. A resume begins at 1 again, as it is another
run on the server, and so does a run that a server begins anew; there the metadata tell the attempt.
v3 has numbers of its own (`seq`).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from langgraph_once.stream.part.annotation import ANNOTATION_KEY, NUMBER_KEY
from langgraph_once.stream.part.shapes import StreamModes, Version

__all__ = ["numbering"]


def numbering(
    stream_mode: StreamModes, *, subgraphs: bool, version: Version
) -> Callable[[Any], Any]:
    """What numbers the messages among chunks of one shape, and leaves other chunks alone.

    A part without annotation, as of a malformed message, has no number: its reader could not tell
    it from one that a user has put there.
    """
    numbers = count(1)

    def pair(data: tuple[Any, dict[str, Any]]) -> tuple[Any, Any]:
        message, metadata = data
        if ANNOTATION_KEY not in metadata:
            return data
        numbered = metadata.copy()  # quicker than `{**metadata}`
        if NUMBER_KEY in numbered:  # a user's: ours is to stand last
            del numbered[NUMBER_KEY]
        numbered[NUMBER_KEY] = next(numbers)
        return message, numbered

    if version == "v2":
        return lambda chunk: (
            {**chunk, "data": pair(chunk["data"])} if chunk["type"] == "messages" else chunk
        )
    if isinstance(stream_mode, str):
        return (lambda chunk: (chunk[0], pair(chunk[1]))) if subgraphs else pair
    if subgraphs:
        return lambda chunk: (
            (chunk[0], "messages", pair(chunk[2])) if chunk[1] == "messages" else chunk
        )
    return lambda chunk: ("messages", pair(chunk[1])) if chunk[0] == "messages" else chunk
