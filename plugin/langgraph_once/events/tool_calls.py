"""The life of tool calls, through fragments, whole messages and results: each stage once.

The first fragment of a call has its id and name; the others have only arguments and an index. So
fragments are linked by message and index. Arguments that can be parsed need not be complete. A
call ends with its message, or when the next call begins and the arguments are a JSON object, to
which nothing can be added.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    BaseMessageChunk,
    ToolCallChunk,
    ToolMessage,
)

from langgraph_once.events.content_blocks import (
    CallPiece,
    WholeCall,
    call_pieces,
    whole_calls,
)
from langgraph_once.events.thread_memory import ThreadMemory, ToolCallState
from langgraph_once.events.vocabulary import (
    Event,
    ToolCallStartedEvent,
    ToolResultEvent,
    related,
)
from langgraph_once.stream import Where

NO_OBJECT = "the arguments are no JSON object"


@dataclass(slots=True, eq=False)
class MessageCalls:
    """The calls of one message that streams."""

    message_id: str
    where: Where
    calls: ToolCalls
    """Knows the calls of all messages."""

    states: list[ToolCallState] = field(default_factory=list)
    """The calls, in order."""

    _by_index: dict[Any, ToolCallState] = field(default_factory=dict)
    _server_places: set[Any] = field(default_factory=set)

    def feed(self, chunk: BaseMessageChunk) -> Iterator[Event]:
        """What a chunk of the message says of its calls."""
        for piece in call_pieces(chunk):
            yield from self._piece(piece)

    def next_of_args(self, pieces: list[ToolCallChunk]) -> Event | None:
        """The event of arguments that simply go on, as nearly all fragments are; None for any
        other, which is for `feed`."""
        piece, *more = pieces
        state, args = self._by_index.get(piece.get("index")), piece.get("args")
        if more or state is None or not args or piece.get("id") or piece.get("name"):
            return None
        if state.status != "streaming":
            return None
        return state.progress(self.calls.seq(), args, state.args.add(args))

    def so_far(self) -> list[ToolCallChunk]:
        """The calls, each as one chunk."""
        return [
            ToolCallChunk(
                name=state.name,
                args=state.accumulated_args,
                id=state.tool_call_id,
                index=state.index,
                type="tool_call_chunk",
            )
            for state in self.states
        ]

    def _piece(self, piece: CallPiece) -> Iterator[Event]:
        """What a fragment says. Calls that the provider answers itself are none of the graph's."""
        if piece.is_server:
            self._server_places.add(piece.place)
            return
        # Arguments of a server tool come under its index, with no name (Anthropic).
        if piece.place is not None and piece.place in self._server_places and not piece.name:
            return
        state = self._linked(piece)
        if state is None:
            yield from self._settle_earlier()
            state = self._open(piece)
        if not state.is_open or _repeats(piece, state):
            return
        state.tool_call_id = state.tool_call_id or piece.id or None
        state.name = state.name or piece.name or ""
        so_far = state.args.add(piece.args) if piece.args else state.args.so_far()
        if state.status == "pending":
            if state.tool_call_id and state.name:
                yield from self._start(state)
        elif piece.args:
            yield state.progress(self.calls.seq(), piece.args, so_far)

    def _linked(self, piece: CallPiece) -> ToolCallState | None:
        """The call that a fragment goes on with; None for the first fragment of a call."""
        if piece.place is not None:
            state = self._by_index.get(piece.place)
            # Some number every call 0 and tell them apart by their ids.
            clash = state and piece.id and state.tool_call_id and piece.id != state.tool_call_id
            return None if clash else state
        if piece.id:
            return next((s for s in self.states if s.tool_call_id == piece.id), None)
        # Without an index and an id only a name tells that another call begins.
        if not self.states or (piece.name and self.states[-1].name):
            return None
        return self.states[-1]

    def _open(self, piece: CallPiece) -> ToolCallState:
        state = ToolCallState(None, "", len(self.states), self.message_id, self.where)
        self.states.append(state)
        if piece.place is not None:
            self._by_index[piece.place] = state
        return state

    def _start(self, state: ToolCallState) -> Iterator[Event]:
        state.status = "streaming"
        self.calls.add(state)
        yield ToolCallStartedEvent(**state.facts(self.calls.seq()))
        if delta := state.accumulated_args:
            yield state.progress(self.calls.seq(), delta, state.args.so_far())

    def _settle_earlier(self) -> Iterator[Event]:
        """End the calls to whose arguments nothing can be added, now that another begins."""
        for state in self.states:
            is_begun = state.status == "streaming" and state.args
            if is_begun and parsed(state.accumulated_args)[0] is not None:
                yield from self._end(state)

    def end(self, failed: str | None = None) -> Iterator[Event]:
        """The message is whole, and so are its calls; or it never will be, for this reason."""
        for state in self.states:
            if state.is_open:
                yield from self._end(state, failed)

    def _end(self, state: ToolCallState, failed: str | None = None) -> Iterator[Event]:
        if state.status == "pending":
            yield from self._start(state)
        args, error = parsed(state.accumulated_args) if failed is None else (None, failed)
        state.status = "failed" if args is None else "completed"
        yield state.end(self.calls.seq(), args, error)


def _repeats(piece: CallPiece, state: ToolCallState) -> bool:
    """Whether a fragment is the whole call so far once more."""
    if not (piece.id and piece.name and piece.args):
        return False
    said = (piece.id, piece.name, piece.args)
    return said == (state.tool_call_id, state.name, state.accumulated_args)


def parsed(text: str) -> tuple[dict[str, Any] | None, str]:
    """The arguments, or what is wrong with them. None at all are an empty object."""
    try:
        args = json.loads(text or "{}", strict=False)  # as upstream: line breaks in strings
    except json.JSONDecodeError as error:
        return None, f"the arguments are no valid JSON: {error.msg} at character {error.pos}"
    except RecursionError:
        return None, "the arguments are nested too deeply"
    return (args, "") if isinstance(args, dict) else (None, NO_OBJECT)


class ToolCalls:
    """Tells the tool calls of whole messages, and results, over all streams of a thread.

    The calls of a message that streams are told by its `MessageCalls`.

    Args:
        seq: Numbers the events.
        memory: Knows the calls, and the messages that made them.
    """

    def __init__(self, seq: Callable[[], int], memory: ThreadMemory) -> None:
        self.seq = seq
        self._calls = memory.calls

    def add(self, state: ToolCallState) -> None:
        """Remember a call, for its results; one without an id by its message."""
        if key := state.tool_call_id or state.message_id:
            known = self._calls.pop(key, [])  # the ids that came last are kept
            self._calls[key] = [*known, state][-self._calls.max_size :]

    def forget(self, message_id: str, where: Where) -> None:
        """A message is gone; should it be said again, its calls are told again."""
        for known in self._calls.values():
            known[:] = [
                state
                for state in known
                if state.message_id != message_id
                or not related(state.where.namespace, where.namespace)
            ]

    def whole(self, message: AIMessage, where: Where) -> Iterator[Event]:
        """The calls of a whole message that no chunk told of."""
        for state, call in self._new(message, where):
            yield ToolCallStartedEvent(**state.facts(self.seq()))
            yield state.end(self.seq(), call.args, call.error)

    def note(self, messages: Iterable[BaseMessage], where: Where) -> None:
        """Note calls and results that are told elsewhere, or were there before the stream."""
        for message in messages:
            if isinstance(message, AIMessage):
                list(self._new(message, where))
            elif isinstance(message, ToolMessage):
                list(self.result(message, where))

    def _new(self, message: AIMessage, where: Where) -> Iterator[tuple[ToolCallState, WholeCall]]:
        """The calls of a whole message that were not known, which they are now."""
        made = enumerate(whole_calls(message))
        # All are looked up before one is noted: calls of one message may have one id, or none.
        for at, call in [each for each in made if not self._is_known(each[1], message.id, where)]:
            state = ToolCallState(call.id, call.name, at, message.id, where)
            state.args.add(call.text)
            state.status = "completed" if call.args is not None else "failed"
            self.add(state)
            yield state, call

    def _is_known(self, call: WholeCall, message_id: str | None, where: Where) -> bool:
        """Whether a call of a message is known. One that was told of when its message had no id
        is this message's from now on."""
        for state in self._near(call.id or message_id, where):
            if message_id and state.message_id in (message_id, None):
                state.message_id = message_id
                return True
        return False

    def result(self, message: ToolMessage, where: Where) -> Iterator[Event]:
        """The result in a tool message, unless it was told.

        Args:
            message: The tool message.
            where: Where it was found.
        """
        state = self.call_of(message.tool_call_id, where)
        # `repr`: an artifact may be any object, and arrays raise where `==` is asked for its truth.
        said = (message.content, message.status, repr(message.artifact))
        if state is not None:
            if state.result == said:
                return
            state.result = said
        yield ToolResultEvent(
            seq=self.seq(),
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

    def _near(self, tool_call_id: str | None, where: Where) -> list[ToolCallState]:
        """The calls of this id in this graph and in those around and inside it, in the order in
        which they began."""
        known = self._calls.get(tool_call_id or "", ())
        return [each for each in known if related(each.where.namespace, where.namespace)]
