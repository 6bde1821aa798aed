"""The state machine: what of a part the consumer does not have yet."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    BaseMessageChunk,
    RemoveMessage,
)

from langgraph_once.config import DedupConfig
from langgraph_once.stream.content import content_of
from langgraph_once.stream.ledger import NS_SEP, Ledger
from langgraph_once.stream.part import Part
from langgraph_once.stream.state import new_in_update, new_in_values

__all__ = ["Deduplicator"]

MESSAGE_MODES = frozenset({"messages", "updates", "values"})


class Deduplicator:
    """Passes each piece of a stream on once.

    `feed` compares a part with the ledger and returns what is new in it: the part itself, a
    chunk with a missing rest of a text, a removal and the message that takes its place, a
    state without the messages already delivered, or nothing. Modes that carry no messages
    pass through, and so does whatever is not understood: to show something twice is better
    than to lose it.

    Args:
        config: What counts as a repetition.
        ledger: What the consumer has from earlier streams; by default nothing.
        modes: The modes that the stream was asked for, which `DedupConfig(state="auto")` needs.
    """

    def __init__(
        self,
        config: DedupConfig | None = None,
        *,
        ledger: Ledger | None = None,
        modes: Collection[str] = (),
    ) -> None:
        self.config = config or DedupConfig()
        self.ledger = Ledger() if ledger is None else ledger
        self._cuts_states = self.config.state == "new_messages" or (
            self.config.state == "auto" and len(MESSAGE_MODES & set(modes)) > 1
        )

    def feed(self, part: Part) -> Iterable[Part]:
        """What the consumer lacks of `part`, in order; `part` itself is not changed."""
        if part.mode == "messages":
            return self._message(part)
        if self._cuts_states and part.mode in MESSAGE_MODES:
            return (self._state(part),)
        return (part,)

    def _message(self, part: Part) -> Iterable[Part]:
        message = part.data
        if not isinstance(message, BaseMessage) or not message.id:
            return (part,)
        task = part.meta.get("langgraph_checkpoint_ns") or NS_SEP.join(part.ns)
        if isinstance(message, BaseMessageChunk):
            self.ledger.stream(task, message)
            return (part,)
        if isinstance(message, RemoveMessage):
            return [
                part if known_id == message.id else part._replace(data=RemoveMessage(id=known_id))
                for known_id in self.ledger.forget(message.id)
            ]
        return self._whole_message(part, message, task)

    def _whole_message(self, part: Part, message: BaseMessage, task: str) -> Iterable[Part]:
        message_id, content = str(message.id), content_of(message)
        known = next((e for e in reversed(self.ledger.entries(message_id)) if e.akin(task)), None)
        if known is None:
            if self.ledger.match_copy(task, message_id, content):
                return ()
            self.ledger.deliver(message_id, content, task=task)
            return (part,)
        known.copied = True
        if known.content == content:
            return ()
        missing, had_id = known.content.suffix_of(content), known.id
        if missing is not None and isinstance(message, AIMessage):
            known.replace(had_id, content)
            return (part._replace(data=AIMessageChunk(content=missing, id=had_id)),)
        known.replace(message_id, content)
        return (part._replace(data=RemoveMessage(id=had_id)), part)

    def _state(self, part: Part) -> Part:
        if part.mode == "values":
            data = new_in_values(part.data, self.ledger, ns=part.ns)
        else:
            data = new_in_update(part.data, self.ledger, ns=part.ns)
        return part if data is part.data else part._replace(data=data)
