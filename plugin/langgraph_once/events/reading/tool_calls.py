"""The life of tool calls, through chunks, whole messages and results: each stage once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from langchain_core.messages import AIMessage, ToolMessage

from langgraph_once.events.reading.content_blocks import whole_calls
from langgraph_once.events.reading.recent_keys import Bounded
from langgraph_once.events.reading.tool_call_fragments import MessageCalls, Source, ToolCallState
from langgraph_once.events.vocabulary.base import related
from langgraph_once.events.vocabulary.event import (
    Event,
    ToolCallStartedEvent,
    ToolResultEvent,
)
from langgraph_once.stream.part.places import Where

__all__ = ["ToolCallTracker"]


class ToolCallTracker:
    """Knows the tool calls of a stream, and tells those of whole messages, and results.

    The calls of a message that streams are told by its `MessageCalls`.

    Args:
        seq: Numbers the events.
        max_calls: The most calls to remember, and messages that made them.
    """

    def __init__(self, seq: Callable[[], int], *, max_calls: int) -> None:
        self._seq = seq
        self._calls: Bounded[ToolCallState, None] = Bounded(max_calls)
        self._by_id: Bounded[str, list[ToolCallState]] = Bounded(max_calls)
        self._told_in: Bounded[str, list[Where]] = Bounded(max_calls)

    def streaming(self, message_id: str, where: Where) -> MessageCalls:
        """The calls of a message that begins to stream."""
        return MessageCalls(message_id, where, self._seq, self._opened, self._started)

    def _opened(self, state: ToolCallState) -> None:
        self._note_told(state.message_id, state.where)
        self._calls[state] = None

    def _started(self, state: ToolCallState) -> bool:
        if self._claimed(state.tool_call_id, state.message_id, state.where):
            self._calls.pop(state, None)  # it is there already, as what told of it has it
            return False
        self._index(state)
        return True

    def forget(self, message_id: str, where: Where) -> None:
        """A message is gone; should it be said again, its calls are told again."""
        places = self._told_in.get(message_id, [])
        places[:] = [at for at in places if not related(at.namespace, where.namespace)]
        for state in self._calls:
            if message_id in (state.message_id, state.claimed_by):
                state.is_told_whole &= not related(state.where.namespace, where.namespace)

    def whole(self, message: AIMessage, where: Where, *, is_old: bool = False) -> Iterator[Event]:
        """The calls of a whole message that no chunk told of.

        Args:
            message: The message.
            where: Where it was found.
            is_old: Whether it was there before the stream, so that only results can follow.
        """
        told_in = self._told_in.get(message.id or "", ())
        is_told = any(related(known.namespace, where.namespace) for known in told_in)
        if is_told or not (message.tool_calls or message.invalid_tool_calls):
            return
        self._note_told(message.id, where)
        for at, call in enumerate(whole_calls(message)):
            if self._claimed(call.id, message.id, where):
                continue
            state = ToolCallState(call.id, call.name, at, message.id, where)
            state.args.add(call.text)
            state.status = "completed" if call.args is not None else "failed"
            self._calls[state] = None
            self._index(state)
            if is_old:
                continue
            state.is_told_whole = True
            yield ToolCallStartedEvent(**state.facts(self._seq()))
            yield state.end(self._seq(), call.args, call.error)

    def result(
        self, message: ToolMessage, where: Where, *, source: Source = "message"
    ) -> Iterator[Event]:
        """The result in a tool message, unless it was told.

        Args:
            message: The tool message.
            where: Where it was found.
            source: Whether the message itself came, or news of the tool.
        """
        state = self.call_of(message.tool_call_id, where)
        # `repr`: an artifact may be any object, and arrays raise where `==` is asked for its truth.
        said = (message.content, message.status, repr(message.artifact))
        if state is not None:
            if state.result is not None and (state.result[0] != source or state.result[1] == said):
                return
            state.result = (source, said)
        yield ToolResultEvent(
            seq=self._seq(),
            where=where,
            tool_call_id=message.tool_call_id,
            name=message.name or (state.name if state else None),
            message_id=state.message_id if state else None,
            status=message.status,
            content=message.content,
            artifact=message.artifact,
        )

    def call_of(self, tool_call_id: str, where: Where) -> ToolCallState | None:
        """The call that a result at this place answers.

        Ids may come again in a later turn or in a parallel task: the same task goes first, then
        the same graph, then graphs around and inside it; of several the last without a result.
        """

        def fits(state: ToolCallState) -> tuple[bool, bool, bool]:
            at = state.where
            is_same_graph = at.namespace == where.namespace
            return at.task_id == where.task_id, is_same_graph, state.result is None

        # `max` gives the first of equals; reversed, that is the call which began last.
        return max(reversed(self._near(tool_call_id, where)), key=fits, default=None)

    def _claimed(self, tool_call_id: str | None, message_id: str | None, where: Where) -> bool:
        """Whether a call of a message was told of before the message was; it is this message's
        from now on, so that another message that makes a call of the same id makes another."""
        for state in self._near(tool_call_id, where):
            owner = state.message_id or state.claimed_by or message_id
            if message_id and owner == message_id and state.is_told_whole:
                state.claimed_by = message_id
                return True
        return False

    def _note_told(self, message_id: str | None, where: Where) -> None:
        if not message_id:  # of a provider that gives none; nothing finds it again
            return
        places = self._told_in.setdefault(message_id, [])
        if where not in places:
            places.append(where)
            del places[: -self._told_in.max_size]

    def _near(self, tool_call_id: str | None, where: Where) -> list[ToolCallState]:
        """The calls of this id in this graph and in those around and inside it."""
        known = self._with_id(tool_call_id)
        return [each for each in known if related(each.where.namespace, where.namespace)]

    def _with_id(self, tool_call_id: str | None) -> list[ToolCallState]:
        """The calls of this id that are remembered, in the order in which they began."""
        return [each for each in self._by_id.get(tool_call_id or "", ()) if each in self._calls]

    def _index(self, state: ToolCallState) -> None:
        if state.tool_call_id:
            known = self._with_id(state.tool_call_id)
            self._by_id.pop(state.tool_call_id, None)  # the ids that came last are kept
            self._by_id[state.tool_call_id] = [*known, state]
