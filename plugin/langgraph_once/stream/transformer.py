"""v3: our parts on the channel `once`, and `run.messages` without what was taken back.

In v3 whole messages and events are given out by transformers. `run.messages` makes an empty
message of a `RemoveMessage`, so removals are kept from it; on the channel `once` each part goes
out as in v2, with message chunks in place of events, so that every piece bears its id (the
events' deltas have none, and clients mix up messages that stream at a time).
"""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, RemoveMessage
from langgraph.stream import StreamChannel, StreamTransformer

from langgraph_once.stream.annotation import annotation_of
from langgraph_once.stream.events import EventReader
from langgraph_once.stream.intake import event_part
from langgraph_once.stream.part import Part
from langgraph_once.stream.protocol import NODE_KEY, OURS_KEY
from langgraph_once.stream.render import writer

__all__ = ["CHANNEL", "HIDDEN_METHOD", "HideRemovals", "OnceChannel"]

CHANNEL = "once"
HIDDEN_METHOD = "messages/removal"
CHANNEL_METHODS = frozenset({"messages", "values", "updates", "custom"})


class HideRemovals(StreamTransformer):
    """Calls a removal something else while upstream's transformers look at it."""

    before_builtins = True

    def init(self) -> dict[str, Any]:
        """No projection."""
        return {}

    def process(self, event: Any) -> bool:
        """Rename the method of a removal; `OnceChannel`, the last, names it back."""
        if event["method"] == "messages" and isinstance(event["params"]["data"][0], RemoveMessage):
            event["method"] = HIDDEN_METHOD
        return True


class OnceChannel(StreamTransformer):
    """Gives out each part, as in v2, on the channel `once` of the outermost run."""

    def __init__(self, scope: tuple[str, ...] = ()) -> None:
        super().__init__(scope)
        # Transformers are made for each graph inside too; those have nothing to say.
        self._channel: StreamChannel[Any] | None = None if scope else StreamChannel(CHANNEL)
        self._reader = EventReader()
        self._write = writer([], version="v2")

    def init(self) -> dict[str, Any]:
        """The channel, under its name."""
        return {CHANNEL: self._channel} if self._channel is not None else {}

    def process(self, event: Any) -> bool:
        """Say on the channel what an event says."""
        if event["method"] == HIDDEN_METHOD:
            event["method"] = "messages"
        is_ours = event["method"] == "messages" and _names_its_node(event["params"])
        if self._channel is not None and event["method"] in CHANNEL_METHODS and not is_ours:
            part = self._reader.read(event_part(event))
            if part is not None:
                self._channel.push(self._write(_as_chunk(part)))
        return not _is_draft_mark(event)


def _names_its_node(params: Any) -> bool:
    """Let an event name its node; whether the channel says by other means what it says."""
    metadata = params["data"][1]
    if NODE_KEY in metadata:
        params["node"] = metadata[NODE_KEY]
    return OURS_KEY in metadata


def _is_draft_mark(event: Any) -> bool:
    """Whether an event is the chunk that marks a draft, for which the protocol has no word."""
    if event["method"] != "messages":
        return False
    message, metadata = event["params"]["data"]
    note = annotation_of(metadata) if isinstance(message, AIMessageChunk) else None
    return note is not None and "draft" in note


def _as_chunk(part: Part) -> Part:
    """A part; the missing rest of a message as a chunk, which upstream is told as a whole one."""
    message, note = part.data, annotation_of(part.meta)
    if type(message) is not AIMessage or note is None or not note.get("repairs"):
        return part
    return part._replace(data=AIMessageChunk(content=message.content, id=message.id))
