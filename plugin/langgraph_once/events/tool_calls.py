"""The life of tool calls: fragments in, each stage of each call once.

The first fragment of a call bears its id and name, the others only arguments and an index, so
fragments are linked by message and index. That arguments can be read does not mean that they
are whole: a call ends with its message, or where the next one begins and its arguments are a
JSON object, to which nothing can be added.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessageChunk, ToolCallChunk, ToolMessage

from langgraph_once.events.blocks import CallPiece, call_pieces, whole_calls
from langgraph_once.events.event import (
    Event,
    ToolCallCompletedEvent,
    ToolCallFailedEvent,
    ToolCallProgressEvent,
    ToolCallStartedEvent,
    ToolResultEvent,
)
from langgraph_once.events.growing import Growing
from langgraph_once.events.namespace import Where, akin

__all__ = ["ToolCallState", "ToolCallTracker"]

Status = Literal["pending", "streaming", "completed", "failed"]
Source = Literal["message", "tools"]
UNFINISHED = "the stream ended before the arguments did"
NO_OBJECT = "the arguments are no JSON object"


@dataclass(slots=True, eq=False)
class ToolCallState:
    """One tool call, as far as it has come."""

    tool_call_id: str | None
    name: str
    index: int
    """Its place among the calls of its message."""

    message_id: str | None
    where: Where
    status: Status = "pending"
    """"pending" until id and name are known, "streaming" while its arguments come."""

    result: tuple[Source, Any] | None = field(default=None, repr=False)
    """What answered it, and who said so first."""

    args: Growing = field(default_factory=Growing, repr=False)

    @property
    def accumulated_args(self) -> str:
        """The arguments so far."""
        return str(self.args)

    @property
    def is_open(self) -> bool:
        """Whether more of its arguments may come."""
        return self.status in ("pending", "streaming")

    def facts(self, seq: int) -> dict[str, Any]:
        """The fields that all its events have."""
        return {
            "seq": seq,
            "where": self.where,
            "tool_call_id": self.tool_call_id,
            "name": self.name,
            "index": self.index,
            "message_id": self.message_id,
        }


class _Calls:
    """The calls of one message that streams."""

    def __init__(self, message_id: str, where: Where, seq: Callable[[], int]) -> None:
        self._message_id = message_id
        self._where = where
        self._seq = seq
        self._by_index: dict[Any, ToolCallState] = {}
        self.states: list[ToolCallState] = []

    def feed(self, piece: CallPiece) -> Iterator[Event]:
        state = self._linked(piece)
        if state is None:
            yield from self._settle_earlier()
            state = self._opened(piece)
        if not state.is_open or _repeats(piece, state):
            return
        state.tool_call_id = state.tool_call_id or piece.id or None
        state.name = state.name or piece.name or ""
        so_far = state.args.add(piece.args) if piece.args else state.args.so_far()
        if state.status == "pending":
            if state.tool_call_id and state.name:
                yield from self._start(state)
        elif piece.args:
            yield ToolCallProgressEvent(
                **state.facts(self._seq()), args_delta=piece.args, so_far=so_far
            )

    def _linked(self, piece: CallPiece) -> ToolCallState | None:
        """The call that a fragment goes on with; None for the first fragment of a call."""
        if piece.place is not None:
            state = self._by_index.get(piece.place)
            # Some number every call 0 and tell them apart by their ids.
            clash = state and piece.id and state.tool_call_id and piece.id != state.tool_call_id
            return None if clash else state
        if piece.id:
            return next((s for s in self.states if s.tool_call_id == piece.id), None)
        if not self.states or (piece.name and self.states[-1].name):
            return None
        return self.states[-1]

    def _opened(self, piece: CallPiece) -> ToolCallState:
        state = ToolCallState(None, "", len(self.states), self._message_id, self._where)
        self.states.append(state)
        if piece.place is not None:
            self._by_index[piece.place] = state
        return state

    def _start(self, state: ToolCallState) -> Iterator[Event]:
        state.status = "streaming"
        yield ToolCallStartedEvent(**state.facts(self._seq()))
        if delta := state.accumulated_args:
            so_far = state.args.so_far()
            yield ToolCallProgressEvent(**state.facts(self._seq()), args_delta=delta, so_far=so_far)

    def _settle_earlier(self) -> Iterator[Event]:
        """End the calls to whose arguments nothing can be added, now that another begins."""
        for state in self.states:
            if state.status == "streaming" and state.accumulated_args:
                args, _ = _parsed(state.accumulated_args)
                if args is not None:
                    yield from self._complete(state)

    def finish(self) -> Iterator[Event]:
        """The message is whole, and so are its calls."""
        for state in self.states:
            if state.is_open:
                yield from self._complete(state)

    def _complete(self, state: ToolCallState) -> Iterator[Event]:
        if state.status == "pending":
            yield from self._start(state)
        text = state.accumulated_args
        args, error = _parsed(text)
        if args is None:
            yield from self._fail(state, error)
            return
        state.status = "completed"
        facts = state.facts(self._seq())
        yield ToolCallCompletedEvent(**facts, final_args=text, parsed_args=args)

    def abort(self, error: str) -> Iterator[Event]:
        """The message will never be whole."""
        for state in self.states:
            if state.is_open:
                if state.status == "pending":
                    yield from self._start(state)
                yield from self._fail(state, error)

    def _fail(self, state: ToolCallState, error: str) -> Iterator[Event]:
        state.status = "failed"
        text = state.accumulated_args
        yield ToolCallFailedEvent(**state.facts(self._seq()), error=error, accumulated_args=text)


def _repeats(piece: CallPiece, state: ToolCallState) -> bool:
    """Whether a fragment is the whole call so far once more."""
    if not (piece.id and piece.name and piece.args):
        return False
    said = (piece.id, piece.name, piece.args)
    return said == (state.tool_call_id, state.name, state.accumulated_args)


def _parsed(text: str) -> tuple[dict[str, Any] | None, str]:
    """The arguments, or what is wrong with them. None at all are an empty object."""
    try:
        args = json.loads(text or "{}", strict=False)  # as upstream: line breaks in strings
    except json.JSONDecodeError as error:
        return None, f"the arguments are no valid JSON: {error.msg} at character {error.pos}"
    except RecursionError:
        return None, "the arguments are nested too deeply"
    return (args, "") if isinstance(args, dict) else (None, NO_OBJECT)


class ToolCallTracker:
    """Follows tool calls through chunks, messages and results.

    Args:
        seq: Numbers the events.
        max_calls: The most calls and messages to remember after they end.
    """

    def __init__(self, seq: Callable[[], int], *, max_calls: int = 1_000) -> None:
        self._seq = seq
        self._max_calls = max_calls
        self._open: dict[tuple[Where, str], _Calls] = {}
        self._ended: OrderedDict[int, ToolCallState] = OrderedDict()
        self._by_id: dict[str, list[ToolCallState]] = {}
        self._messages: OrderedDict[str, list[Where]] = OrderedDict()

    @property
    def states(self) -> tuple[ToolCallState, ...]:
        """The calls that are remembered, oldest first."""
        return tuple(self._ended.values())

    def chunk(self, message_id: str, chunk: BaseMessageChunk, where: Where) -> Iterator[Event]:
        """What a chunk says of the calls of its message."""
        for piece in call_pieces(chunk):
            calls = self._open.get((where, message_id))
            if calls is None:
                calls = self._open[where, message_id] = _Calls(message_id, where, self._seq)
                self._remember_message(message_id, where)
            before = len(calls.states)
            yield from calls.feed(piece)
            for state in calls.states[before:]:
                self._remember(state)

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
            yield from calls.finish()
            self._index(calls.states)

    def abort(self, message_id: str, where: Where, error: str = UNFINISHED) -> Iterator[Event]:
        """A message will never be whole."""
        calls = self._open.pop((where, message_id), None)
        if calls is not None:
            yield from calls.abort(error)

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
            state = ToolCallState(call.id, call.name, at, message.id, where)
            state.args.add(call.text)
            state.status = "completed" if call.args is not None else "failed"
            self._remember(state)
            self._index([state])
            if is_old:
                continue
            yield ToolCallStartedEvent(**state.facts(self._seq()))
            facts = state.facts(self._seq())
            if call.args is not None:
                yield ToolCallCompletedEvent(**facts, final_args=call.text, parsed_args=call.args)
            else:
                error = call.error or NO_OBJECT
                yield ToolCallFailedEvent(**facts, error=error, accumulated_args=call.text)

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
        found = [
            state
            for state in self._by_id.get(tool_call_id, ())
            if akin(state.where.namespace, where.namespace)
        ]
        ranked = [
            (
                state.where.task_id == where.task_id,
                state.where.namespace == where.namespace,
                state.result is None,
                at,
            )
            for at, state in enumerate(found)
        ]
        return found[max(ranked)[-1]] if ranked else None

    def _knows(self, message_id: str | None, where: Where) -> bool:
        return message_id is not None and any(
            akin(known.namespace, where.namespace) for known in self._messages.get(message_id, ())
        )

    def _remember_message(self, message_id: str, where: Where) -> None:
        self._messages.setdefault(message_id, []).append(where)
        while len(self._messages) > self._max_calls:
            self._messages.popitem(last=False)

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
