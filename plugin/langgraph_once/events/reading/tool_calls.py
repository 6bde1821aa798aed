"""The life of tool calls, through chunks, whole messages and results: each stage once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator

from langchain_core.messages import AIMessage, BaseMessageChunk, ToolCallChunk, ToolMessage

from langgraph_once.events.reading.content_blocks import call_pieces, whole_calls
from langgraph_once.events.reading.recent import Bounded
from langgraph_once.events.reading.tool_call_fragments import MessageCalls, Source, ToolCallState
from langgraph_once.events.vocabulary.base import akin
from langgraph_once.events.vocabulary.event import (
    Event,
    ToolCallStartedEvent,
    ToolResultEvent,
)
from langgraph_once.stream.part.where import Where

__all__ = ["ToolCallState", "ToolCallTracker"]

UNFINISHED = "the stream ended before the arguments did"


class ToolCallTracker:
    """Follows tool calls through chunks, messages and results.

    Args:
        seq: Numbers the events.
        max_calls: The most calls and messages to remember after they end.
    """

    def __init__(self, seq: Callable[[], int], *, max_calls: int = 1_000) -> None:
        self._seq = seq
        self._max_calls = max_calls
        self._open: dict[tuple[Where, str], MessageCalls] = {}
        self._ended: OrderedDict[int, ToolCallState] = OrderedDict()
        self._by_id: dict[str, list[ToolCallState]] = {}
        self._messages: Bounded[str, list[Where]] = Bounded(max_calls)

    @property
    def states(self) -> tuple[ToolCallState, ...]:
        """The calls that are remembered, oldest first."""
        return tuple(self._ended.values())

    def chunk(self, message_id: str, chunk: BaseMessageChunk, where: Where) -> Iterator[Event]:
        """What a chunk says of the calls of its message."""
        for piece in call_pieces(chunk):
            calls = self._open.get((where, message_id))
            if calls is None:
                calls = MessageCalls(message_id, where, self._seq, self._is_told)
                self._open[where, message_id] = calls
                self._remember_message(message_id, where)
            before = len(calls.states)
            yield from calls.feed(piece)
            for state in calls.states[before:]:
                if not state.is_silent:
                    self._remember(state)

    def next_of_args(self, message_id: str, piece: ToolCallChunk, where: Where) -> Event | None:
        """The event of arguments that simply go on, as nearly all fragments are; None for any
        other, which is for `chunk`."""
        calls = self._open.get((where, message_id))
        args, place = piece.get("args"), piece.get("index")
        if calls is None or not args or place is None or piece.get("id") or piece.get("name"):
            return None
        return calls.next_of_args(place, args)

    def so_far(self, message_id: str, where: Where) -> list[ToolCallChunk]:
        """The calls of an open message, each as one chunk."""
        calls = self._open.get((where, message_id))
        return [
            ToolCallChunk(
                name=state.name,
                args=state.accumulated_args,
                id=state.tool_call_id,
                index=state.index,
                type="tool_call_chunk",
            )
            for state in (calls.states if calls else ())
        ]

    def finish(self, message_id: str, where: Where) -> Iterator[Event]:
        """A message is whole."""
        calls = self._open.pop((where, message_id), None)
        if calls is not None:
            yield from calls.end()
            self._index(calls.states)

    def abort(self, message_id: str, where: Where, error: str = UNFINISHED) -> Iterator[Event]:
        """A message will never be whole."""
        calls = self._open.pop((where, message_id), None)
        if calls is not None:
            yield from calls.end(error)

    def forget(self, message_id: str, where: Where) -> None:
        """A message is gone; should it be said again, its calls are told again."""
        places = self._messages.get(message_id, [])
        places[:] = [at for at in places if not akin(at.namespace, where.namespace)]
        for state in self._ended.values():
            if message_id in (state.message_id, state.claimed_by):
                state.is_told_whole &= not akin(state.where.namespace, where.namespace)

    def whole(self, message: AIMessage, where: Where, *, is_old: bool = False) -> Iterator[Event]:
        """The calls of a whole message that no chunk told of.

        Args:
            message: The message.
            where: Where it was found.
            is_old: Whether it was there before the stream, so that only results can follow.
        """
        if self._knows(message.id, where) or not (message.tool_calls or message.invalid_tool_calls):
            return
        if message.id:
            self._remember_message(message.id, where)
        for at, call in enumerate(whole_calls(message)):
            if self._claimed(call.id, message.id, where):
                continue
            state = ToolCallState(call.id, call.name, at, message.id, where)
            state.args.add(call.text)
            state.status = "completed" if call.args is not None else "failed"
            self._remember(state)
            self._index([state])
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
        still_open = [state for calls in self._open.values() for state in calls.states]
        found = [
            state
            for state in (*self._by_id.get(tool_call_id, ()), *still_open)
            if state.tool_call_id == tool_call_id
            and not state.is_silent
            and akin(state.where.namespace, where.namespace)
        ]

        def fits(state: ToolCallState) -> tuple[bool, bool, bool]:
            at = state.where
            is_same_graph = at.namespace == where.namespace
            return at.task_id == where.task_id, is_same_graph, state.result is None

        return max(reversed(found), key=fits, default=None)

    def _is_told(self, state: ToolCallState) -> bool:
        """Whether something else told of a call before its message streamed."""
        is_told = self._claimed(state.tool_call_id, state.message_id, state.where)
        if is_told:
            self._ended.pop(id(state), None)
        return is_told

    def _claimed(self, tool_call_id: str | None, message_id: str | None, where: Where) -> bool:
        """Whether a call of a message was told of before the message was; it is this message's
        from now on, so that another message that makes a call of the same id makes another."""
        for state in self._by_id.get(tool_call_id or "", ()):
            owner = state.message_id or state.claimed_by or message_id
            is_akin = akin(state.where.namespace, where.namespace)
            if message_id and owner == message_id and is_akin and state.is_told_whole:
                state.claimed_by = message_id
                return True
        return False

    def _knows(self, message_id: str | None, where: Where) -> bool:
        return message_id is not None and any(
            akin(known.namespace, where.namespace) for known in self._messages.get(message_id, ())
        )

    def _remember_message(self, message_id: str, where: Where) -> None:
        if not message_id:  # of a provider that gives none; nothing finds it again
            return
        places = self._messages.setdefault(message_id, [])
        if where not in places:
            places.append(where)
            del places[: -self._max_calls]

    def _remember(self, state: ToolCallState) -> None:
        self._ended[id(state)] = state
        while len(self._ended) > self._max_calls:
            _, oldest = self._ended.popitem(last=False)
            same = self._by_id.get(oldest.tool_call_id or "", [])
            if oldest in same:
                same.remove(oldest)
            if not same:
                self._by_id.pop(oldest.tool_call_id or "", None)

    def _index(self, states: list[ToolCallState]) -> None:
        for state in states:
            if state.tool_call_id and id(state) in self._ended:
                self._by_id.setdefault(state.tool_call_id, []).append(state)
