"""The tool calls of one message while it streams: fragments in, each stage of a call once out.

The first fragment of a call has its id and name; the others have only arguments and an index. So
fragments are linked by message and index. Arguments that can be parsed need not be complete. A
call ends with its message, or when the next call begins and the arguments are a JSON object, to
which nothing can be added.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from langchain_core.messages import BaseMessageChunk, ToolCallChunk

from langgraph_once.events.reading.content_blocks import CallPiece, call_pieces
from langgraph_once.events.vocabulary.event import (
    Event,
    ToolCallCompletedEvent,
    ToolCallFailedEvent,
    ToolCallProgressEvent,
    ToolCallStartedEvent,
)
from langgraph_once.events.vocabulary.growing_text import Growing, SoFar
from langgraph_once.stream.part.places import Where

__all__ = ["MessageCalls", "Source", "ToolCallState"]

Status: TypeAlias = Literal["pending", "streaming", "completed", "failed"]
Source: TypeAlias = Literal["message", "tools"]
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

    claimed_by: str | None = field(default=None, repr=False)
    """The message that turned out to make a call which something else told of before it."""

    is_told_whole: bool = field(default=False, repr=False)
    """Whether no fragments told of it, but a state, an update or news of its tool."""

    is_silent: bool = field(default=False, repr=False)
    """Whether its fragments tell nothing, since it was told of whole before."""

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

    def progress(self, seq: int, delta: str, so_far: SoFar) -> ToolCallProgressEvent:
        """The event of arguments that went on."""
        return ToolCallProgressEvent(**self.facts(seq), args_delta=delta, so_far=so_far)

    def end(self, seq: int, args: dict[str, Any] | None, error: str) -> Event:
        """The event of its end: its arguments are these, or cannot be read for this reason."""
        facts, text = self.facts(seq), self.accumulated_args
        if args is None:
            return ToolCallFailedEvent(**facts, error=error, accumulated_args=text)
        return ToolCallCompletedEvent(**facts, final_args=text, parsed_args=args)


@dataclass(slots=True, eq=False)
class MessageCalls:
    """The calls of one message that streams."""

    message_id: str
    where: Where
    seq: Callable[[], int]
    opened: Callable[[ToolCallState], None]
    """Takes each call as its first fragment comes."""

    started: Callable[[ToolCallState], bool]
    """Takes each call as its id and name are known. Whether it is to be told: something else may
    have told of it before."""

    states: list[ToolCallState] = field(default_factory=list)
    """The calls, in order."""

    _by_index: dict[Any, ToolCallState] = field(default_factory=dict)
    _server_places: set[Any] = field(default_factory=set)

    def feed(self, chunk: BaseMessageChunk) -> Iterator[Event]:
        """What a chunk of the message says of its calls."""
        for piece in call_pieces(chunk):
            yield from self._piece(piece)

    def next_of_args(self, piece: ToolCallChunk) -> Event | None:
        """The event of arguments that simply go on, as nearly all fragments are; None for any
        other, which is for `feed`."""
        state, args = self._by_index.get(piece.get("index")), piece.get("args")
        if state is None or not args or piece.get("id") or piece.get("name"):
            return None
        if state.status != "streaming" or state.is_silent:
            return None
        return state.progress(self.seq(), args, state.args.add(args))

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
        elif piece.args and not state.is_silent:
            yield state.progress(self.seq(), piece.args, so_far)

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
        self.opened(state)
        if piece.place is not None:
            self._by_index[piece.place] = state
        return state

    def _start(self, state: ToolCallState) -> Iterator[Event]:
        state.status = "streaming"
        state.is_silent = not self.started(state)
        if state.is_silent:
            return
        yield ToolCallStartedEvent(**state.facts(self.seq()))
        if delta := state.accumulated_args:
            yield state.progress(self.seq(), delta, state.args.so_far())

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
        if not state.is_silent:
            yield state.end(self.seq(), args, error)


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
