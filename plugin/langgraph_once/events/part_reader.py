"""Parts of one stream in, events for one consumer out."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.pregel.remote import RemoteException

from langgraph_once.events.channels import ChannelEvents, node_updates
from langgraph_once.events.config import ChannelConfig, TokenStreamingConfig
from langgraph_once.events.messages import MessageEvents
from langgraph_once.events.thread_memory import RecentKeys, ThreadMemory
from langgraph_once.events.tool_calls import ToolCalls
from langgraph_once.events.vocabulary import (
    CustomEvent,
    Event,
    GapPossibleEvent,
    InterruptEvent,
    StreamEndedEvent,
    StreamErrorEvent,
    TaskFinishedEvent,
    TaskStartedEvent,
    UIEvent,
)
from langgraph_once.stream import GAP_MODE, Part, Where, entries_of, found_in_update


def is_ui_message(data: Any) -> bool:
    """Whether what a node wrote to the stream is a UI message, and not merely like one."""
    return (
        isinstance(data, dict)
        and data.get("type") in ("ui", "remove-ui")
        and isinstance(data.get("id"), str)
        and all(isinstance(data.get(key) or {}, dict) for key in ("props", "metadata"))
    )


class UIMessages:
    """Tells UI messages. A merge into one that is not remembered has its own properties.

    Args:
        seq: Numbers the events.
        memory: Knows the properties of those that are shown.
    """

    def __init__(self, seq: Callable[[], int], memory: ThreadMemory) -> None:
        self._seq = seq
        self._props = memory.ui

    def seed(self, state: Any) -> None:
        """Note the UI messages in the state that a graph begins with."""
        for _, value in entries_of(state):
            for item in value if isinstance(value, list) else ():
                if is_ui_message(item) and item["type"] == "ui":
                    self._props.setdefault(item["id"], dict(item.get("props") or {}))

    def event(self, data: dict[str, Any], where: Where) -> UIEvent:
        """The event of one UI message."""
        ui_id = data["id"]
        if data["type"] == "remove-ui":
            self._props.pop(ui_id, None)
            return UIEvent(seq=self._seq(), where=where, action="remove", ui_id=ui_id)
        props, metadata = dict(data.get("props") or {}), dict(data.get("metadata") or {})
        # `ui_message_reducer` (langgraph 1.2.24) takes a merge into a missing message for a push.
        merges = bool(metadata.get("merge")) and ui_id in self._props
        if merges:
            props = {**self._props[ui_id], **props}
        self._props[ui_id] = props
        return UIEvent(
            seq=self._seq(),
            where=where,
            action="merge" if merges else "push",
            ui_id=ui_id,
            name=data.get("name"),
            props=props,
            metadata=metadata,
        )


READ_MODES = frozenset({"values", "updates", "custom", "tasks", GAP_MODE})
"""Besides `messages`. Parts of any other mode, which nobody asked for, are passed over; they do not
even end what was said before."""


class PartReader:
    """Makes events of the parts of one stream.

    Args:
        channels: The keys to tell.
        tokens: Whose tokens to tell.
        include: What to tell besides.
        memory: What is known of the thread. It learns what the stream says.
        states: Whether to tell states; if not, only the messages that they take over.
    """

    def __init__(
        self,
        channels: Sequence[ChannelConfig],
        tokens: TokenStreamingConfig | None,
        include: Collection[str],
        memory: ThreadMemory,
        *,
        states: bool,
    ) -> None:
        self._max_history = max_history = memory.max_history
        self._seq = itertools.count().__next__
        self._include = frozenset(include)
        self._tells_states = states
        self._tracker = ToolCalls(self._seq, memory)
        self._channels = ChannelEvents(channels, self._seq, max_history=max_history)
        self._messages: MessageEvents | None = None
        if tokens is not None:
            self._messages = MessageEvents(tokens, self._seq, self._tracker, memory)
        self._ui = UIMessages(self._seq, memory)
        self._heard: deque[tuple[tuple[str, ...], list[BaseMessage]]] = deque()
        self._interrupts: RecentKeys[str] = RecentKeys(max_history)
        self._seen_states: RecentKeys[tuple[str, ...]] = RecentKeys(max_history)
        self._is_interrupted = False
        self._is_closed = False

    def hear(
        self, namespace: tuple[str, ...], state: Any, written: Sequence[BaseMessage] = ()
    ) -> None:
        """Take the state that a graph begins with, from any thread.

        It is read now, since nodes may change it in place; its messages are noted with the next
        part.

        Args:
            namespace: The graph.
            state: Its state.
            written: The messages that tasks have written whose step is not done.
        """
        self._channels.seed(namespace, state)
        if "ui" in self._include:
            self._ui.seed(state)
        if self._messages is not None or "tool_calls" in self._include:
            last = [*found_in_update(state).messages, *written][-self._max_history :]
            self._heard.append((namespace, [copy(message) for message in last]))

    def token(self, chunk: Any) -> Event | None:
        """A short way, around parts, for nearly all chunks: the event of a v2 chunk that is the
        next token of a message. None for any other chunk."""
        if self._messages is None or chunk["type"] != "messages":
            return None
        message, meta = chunk["data"]
        return self._messages.token(message, meta)

    def feed(self, part: Part) -> Iterable[Event]:
        """The events of one part."""
        while self._heard:
            namespace, messages = self._heard.popleft()
            new = messages if self._messages is None else self._messages.seed(messages, namespace)
            self._tracker.note(new, Where(namespace))
        if part.mode == "messages":
            return self._messages.feed(part) if self._messages is not None else ()
        return self._other(part) if part.mode in READ_MODES else ()

    def _other(self, part: Part) -> Iterator[Event]:
        if self._messages is not None:
            yield from self._messages.flush()
        match part.mode:
            case "values":
                yield from self._values(part)
            case "updates":
                yield from self._updates(part)
            case "custom":
                yield from self._custom(part)
            case "tasks" if "tasks" in self._include:
                yield from self._task(part)
            case _ if part.mode == GAP_MODE:
                yield GapPossibleEvent(seq=self._seq(), where=Where(part.ns), reason=str(part.data))

    def _values(self, part: Part) -> Iterator[Event]:
        is_first = self._seen_states.add(part.ns)  # it holds what was there before the run
        if is_first and self._messages is not None:
            self._note_unanswered(part)
        yield from self._in_state(part.data, Where(part.ns), is_old=is_first)
        yield from self._channels.values(part)
        yield from self._waits(part.interrupts or (), part.ns)

    def _note_unanswered(self, part: Part) -> None:
        """Note the calls in the first state of a graph that the run may answer: of a stream under
        way nothing else tells them."""
        messages = found_in_update(part.data).messages
        answered = {each.tool_call_id for each in messages if isinstance(each, ToolMessage)}
        waiting = (
            each
            for each in messages
            if isinstance(each, AIMessage)
            and not {call["id"] for call in each.tool_calls} <= answered
        )
        self._tracker.note(waiting, Where(part.ns))

    def _updates(self, part: Part) -> Iterator[Event]:
        for node, update in node_updates(part.data):
            yield from self._in_state(update, Where(part.ns, node))
        if self._tells_states:
            yield from self._channels.updates(part)
            yield from self._waits(part.interrupts or (), part.ns)

    def _in_state(self, state: Any, where: Where, *, is_old: bool = False) -> Iterator[Event]:
        """What the messages in a state or update tell: those that were said only in unwatched
        graphs, and tool calls and results."""
        watched, tells_calls = self._messages, "tool_calls" in self._include
        if watched is not None and not watched.has_unwatched:
            watched = None
        if watched is None and not tells_calls:
            return  # a large state is not searched in vain
        messages = found_in_update(state).messages
        if watched is not None:
            yield from watched.in_state(messages, where.namespace)
        if tells_calls and is_old:
            self._tracker.note(messages, where)
        for message in messages if tells_calls and not is_old else ():
            if isinstance(message, AIMessage):
                yield from self._tracker.whole(message, where)
            elif isinstance(message, ToolMessage):
                yield from self._tracker.result(message, where)

    def _waits(self, interrupts: Iterable[Any], ns: tuple[str, ...]) -> Iterator[Event]:
        for waiting in interrupts:
            # From a server it is JSON, from a local graph an `Interrupt`.
            is_json = isinstance(waiting, Mapping)
            interrupt_id = str(waiting.get("id") if is_json else waiting.id)
            if self._interrupts.add(interrupt_id):
                self._is_interrupted = True
                value = waiting.get("value") if is_json else waiting.value
                yield InterruptEvent(
                    seq=self._seq(), where=Where(ns), interrupt_id=interrupt_id, value=value
                )

    def _custom(self, part: Part) -> Iterator[Event]:
        where = Where(part.ns)
        if "ui" in self._include and is_ui_message(part.data):
            yield self._ui.event(part.data, where)
        elif "custom" in self._include:
            yield CustomEvent(seq=self._seq(), where=where, data=part.data)

    def _task(self, part: Part) -> Iterator[Event]:
        data = part.data
        where = Where(part.ns, data.get("name"), data.get("id"))
        if "input" in data:
            triggers = tuple(data.get("triggers") or ())
            yield TaskStartedEvent(
                seq=self._seq(), where=where, input=data["input"], triggers=triggers
            )
        else:
            yield TaskFinishedEvent(
                seq=self._seq(),
                where=where,
                result=data.get("result"),
                error=_text(data.get("error")),
                interrupts=tuple(data.get("interrupts") or ()),
            )

    def close(self, error: BaseException | None = None) -> Iterator[Event]:
        """End the stream: close what is open, then tell the error, then the end."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._messages is not None:
            yield from self._messages.close()
        if error is not None:
            yield StreamErrorEvent(
                seq=self._seq(),
                error_type=type(error).__name__,
                message=_text(error) or "",
                error=error,
            )
        status: Any = "failed" if error else "interrupted" if self._is_interrupted else "finished"
        yield StreamEndedEvent(seq=self._seq(), status=status)


def _text(error: Any) -> str | None:
    """The text of an error. A server writes it as a mapping, which clients may wrap."""
    said = error.args[0] if isinstance(error, RemoteException) and error.args else error
    if isinstance(said, Mapping) and "message" in said:
        said = said["message"]
    return None if said is None else str(said)
