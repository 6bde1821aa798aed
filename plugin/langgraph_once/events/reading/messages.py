"""Parts of mode `messages` to events: tokens, and the life of their messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    BaseMessageChunk,
    RemoveMessage,
    ToolMessage,
)
from langchain_core.messages.ai import add_usage

from langgraph_once.events.reading.content_blocks import Saying, sayings
from langgraph_once.events.reading.open_message import OpenMessage
from langgraph_once.events.reading.recent import History
from langgraph_once.events.reading.tool_calls import ToolCallTracker
from langgraph_once.events.reading.unwatched_messages import MessageOrigin, UnwatchedMessages
from langgraph_once.events.reading.usage import UsageTotals
from langgraph_once.events.vocabulary.callbacks import checked
from langgraph_once.events.vocabulary.config import TokenStreamingConfig
from langgraph_once.events.vocabulary.event import (
    Event,
    MessageCompletedEvent,
    MessageRemovedEvent,
    MessageReplacedEvent,
    MessageSupersededEvent,
    TokenStreamEvent,
)
from langgraph_once.stream import Part, annotation_of
from langgraph_once.stream.part.annotation import is_respaced
from langgraph_once.stream.part.where import Pattern, Where, where_of

__all__ = ["MessageEvents"]

MODEL_KEY = "ls_model_type"
REMOVED = "the message was removed before the arguments were whole"
SUPERSEDED = "the task ran again before the arguments were whole"

Key = tuple[Where, str]


class MessageEvents:
    """Makes events of the parts of mode `messages`.

    Args:
        config: Which of them.
        seq: Numbers the events.
        tracker: Follows the tool calls.
        max_history: The most finished messages to remember.
    """

    def __init__(
        self,
        config: TokenStreamingConfig,
        seq: Callable[[], int],
        tracker: ToolCallTracker,
        *,
        max_history: int,
    ) -> None:
        self._config = config
        self._seq = seq
        self._tracker = tracker
        self._usage = UsageTotals(seq)
        self._enabled = Pattern(config.enabled_namespaces)
        self._excluded = Pattern(config.exclude_namespaces)
        self._tags = frozenset(config.message_tags or ())
        self._open: dict[Key, OpenMessage] = {}
        self._history = History(max_history)
        self._elsewhere = UnwatchedMessages(max_history)
        self._early: list[tuple[ToolMessage, Where]] = []
        self._removals: list[Part] = []
        self._last: OpenMessage | None = None
        self._last_meta: Any = None

    def feed(self, part: Part) -> Iterable[Event]:
        """The events of one part."""
        event = self.token(part.data, part.meta)
        return self._other(part) if event is None else (event,)

    def token(self, message: Any, meta: Any) -> Event | None:
        """A short way for nearly all parts: the event of the next token of the last message, or
        of the arguments that it writes. None for anything else; `feed` takes that.
        """
        draft = self._last
        if draft is None or meta is not self._last_meta:
            return None
        fields = message.__dict__  # past pydantic, which would cost half of the time
        if (
            type(message) is not AIMessageChunk
            or fields["id"] != draft.message_id
            or fields["chunk_position"]
            or fields["usage_metadata"]
            or fields["additional_kwargs"]
        ):
            return None
        if fields["tool_call_chunks"]:
            return self._args_token(draft, fields)
        text, how = fields["content"], fields["response_metadata"]
        if type(text) is not str:
            return self._block_token(draft, text, how)
        if not text or not draft.goes_on(how):
            return None
        return self._event(draft, Saying("text", 0, text))

    def _block_token(self, draft: OpenMessage, content: Any, how: Any) -> TokenStreamEvent | None:
        """`token`, of a message in content blocks."""
        said = draft.next_of_block(content, how)
        if said is None or (said.kind == "reasoning" and not self._config.include_reasoning):
            return None
        draft.keep(said.text)
        return self._event(draft, said)

    def _event(self, draft: OpenMessage, said: Saying) -> TokenStreamEvent:
        growing = draft.text if said.kind == "text" else draft.of_kind(said.kind)
        return TokenStreamEvent(
            seq=self._seq(),
            where=draft.where,
            message_id=draft.message_id,
            content_delta=said.text,
            so_far=growing.add(said.text),
            block_index=said.block_index,
            kind=said.kind,
        )

    def _args_token(self, draft: OpenMessage, fields: Mapping[str, Any]) -> Event | None:
        """`token`, of a message that writes the arguments of a call."""
        pieces, content = fields["tool_call_chunks"], fields["content"]
        if len(pieces) != 1 or not self._config.include_tool_calls:
            return None
        text = draft.next_of_args(content, fields["response_metadata"])
        if text is None:
            return None
        event = self._tracker.next_of_args(draft.message_id, pieces[0], draft.where)
        if event is not None:
            draft.keep(text)
        return event

    def _other(self, part: Part) -> Iterator[Event]:
        """The events of a part that is not simply the next token of the last message."""
        message = part.data
        where = where_of(part.ns, part.meta)
        self._last = self._last_meta = None
        if isinstance(message, ToolMessage) and self._is_early(message, where):
            self._early.append((message, where))
            return
        yield from self._late_results()
        if isinstance(message, RemoveMessage):
            yield from self._removal(part, where)
            return
        replaces = False
        if self._removals:
            replaces = yield from self._resolve(part)
        if isinstance(message, BaseMessageChunk):
            yield from self._chunk(message, where, part.meta)
        elif isinstance(message, BaseMessage):
            if self._is_shown(message, where, part.meta):
                yield from self._whole(message, where, replaces=replaces)
            else:
                self._elsewhere.add(message.id, MessageOrigin(where, part.meta))
            if isinstance(message, AIMessage) and message.usage_metadata:
                yield self._usage.count(message.usage_metadata, message.id, where)

    @property
    def has_elsewhere(self) -> bool:
        """Whether a message was said in a graph that nobody watches."""
        return bool(self._elsewhere)

    def in_state(
        self, messages: Iterable[BaseMessage], namespace: tuple[str, ...]
    ) -> Iterator[Event]:
        """The messages in the state of a graph that came from unwatched graphs inside it."""
        for message in messages:
            said = self._elsewhere.get(message.id)
            where = said.seen_from(namespace) if said is not None else None
            if said and where and self._is_shown(message, where, said.meta):
                yield from self._whole(message, where, replaces=False)
        yield from self._late_results()

    def _is_early(self, result: ToolMessage, where: Where) -> bool:
        """Whether a tool result comes before the message with its call was told."""
        is_known = self._tracker.call_of(result.tool_call_id, where) is not None
        return bool(self._elsewhere) and not is_known and self._accepts(where)

    def _late_results(self) -> Iterator[Event]:
        results, self._early = self._early, []
        for result, where in results:
            if self._is_shown(result, where, {}):
                yield from self._whole(result, where, replaces=False)

    def wants_call(self, where: Where, *, is_known: bool) -> bool:
        """Whether to tell news of a tool. Tools bear no tags; who sees a call sees its result."""
        if not self._config.include_tool_calls:
            return False
        return is_known or (not self._tags and self._accepts(where))

    def _is_shown(self, message: BaseMessage, where: Where, meta: Mapping[str, Any]) -> bool:
        if not self._accepts(where):
            return False
        if not self._tags or self._tags.intersection(meta.get("tags") or ()):
            return True
        # Tools bear no tags; who sees a call sees its result.
        return (
            isinstance(message, ToolMessage)
            and self._tracker.call_of(message.tool_call_id, where) is not None
        )

    def _accepts(self, where: Where) -> bool:
        return self._enabled.matches(where) and not self._excluded.matches(where)

    def _chunk(
        self, chunk: BaseMessageChunk, where: Where, meta: Mapping[str, Any]
    ) -> Iterator[Event]:
        key = where, chunk.id or ""
        draft = self._open.get(key)
        if draft is None:
            if self._history.has(*key):
                yield from self._late(chunk, where)
                return
            shown = self._is_shown(chunk, where, meta)
            if not shown:
                self._elsewhere.add(chunk.id, MessageOrigin(where, meta))
            draft = self._open[key] = OpenMessage(key[1], where, is_shown=shown)
        if isinstance(chunk, AIMessageChunk) and chunk.usage_metadata:
            draft.usage = add_usage(draft.usage, chunk.usage_metadata)
        if draft.is_shown:
            draft.add(chunk)
            yield from self._said(chunk, draft)
            yield from self._calls(self._tracker.chunk(draft.message_id, chunk, where))
        if getattr(chunk, "chunk_position", None) == "last":
            yield from self._complete(draft)
        elif draft.is_shown and self._config.filter_fn is None:
            self._last, self._last_meta = draft, meta

    def _said(self, message: BaseMessage, draft: OpenMessage) -> Iterator[Event]:
        for said in sayings(message):
            if said.kind == "reasoning" and not self._config.include_reasoning:
                continue
            if checked(self._config.filter_fn, event := self._event(draft, said)):
                yield event

    def _calls(self, events: Iterable[Event]) -> Iterator[Event]:
        """Events of tool calls, if they are wanted. The calls are followed in any case."""
        return (event for event in events if self._config.include_tool_calls)

    def _complete(self, draft: OpenMessage, *, is_partial: bool = False) -> Iterator[Event]:
        key = draft.where, draft.message_id
        del self._open[key]
        if not draft.is_shown:
            self._history.add(*key, None)
        else:
            message = draft.message(self._tracker.so_far(draft.message_id, draft.where))
            end = self._tracker.abort if is_partial else self._tracker.finish
            yield from self._calls(end(draft.message_id, draft.where))
            self._history.add(*key, message)
            yield self._completed(message, draft.where, is_partial=is_partial)
        if draft.usage is not None:
            yield self._usage.count(draft.usage, draft.message_id, draft.where)

    def _completed(
        self, message: BaseMessage, where: Where, *, is_partial: bool = False
    ) -> MessageCompletedEvent:
        return MessageCompletedEvent(
            seq=self._seq(),
            where=where,
            message_id=message.id,
            message=message,
            usage=message.usage_metadata if isinstance(message, AIMessage) else None,
            is_partial=is_partial,
        )

    def _late(self, chunk: BaseMessageChunk, where: Where) -> Iterator[Event]:
        """A chunk after its message was whole: it brings text that was lost, or the cost."""
        message_id = str(chunk.id)
        known = self._history.get(where, message_id)
        if isinstance(known, AIMessage) and (missing := list(sayings(chunk))):
            draft = OpenMessage(message_id, where)
            for kind, _, said in sayings(known):
                draft.of_kind(kind).add(said)
            yield from self._said(chunk, draft)
            message = _extended(known, "".join(s.text for s in missing if s.kind == "text"))
            self._history.add(where, message_id, message)
            yield MessageReplacedEvent(
                seq=self._seq(), where=where, message_id=message_id, message=message
            )
        if isinstance(chunk, AIMessageChunk) and chunk.usage_metadata:
            yield self._usage.count(chunk.usage_metadata, message_id, where)

    def _whole(self, message: BaseMessage, where: Where, *, replaces: bool) -> Iterator[Event]:
        message_id = message.id or ""
        self._elsewhere.forget(message_id)
        draft = self._open.pop((where, message_id), None)
        if replaces or self._history.has(where, message_id):
            self._history.add(where, message_id, message)
            yield MessageReplacedEvent(
                seq=self._seq(), where=where, message_id=message_id, message=message
            )
            return
        if isinstance(message, ToolMessage):
            yield from self._calls(self._tracker.result(message, where))
        elif isinstance(message, AIMessage):
            if draft is None:
                yield from self._said(message, OpenMessage(message_id, where))
            yield from self._calls(self._tracker.finish(message_id, where))
            yield from self._calls(self._tracker.whole(message, where))
        if message_id:
            self._history.add(where, message_id, message)
        yield self._completed(message, where)

    def _removal(self, part: Part, where: Where) -> Iterator[Event]:
        note = annotation_of(part.meta)
        if note is not None and note["source"] == "retry":
            yield from self._taken_back(part, where, None, "retry")
        else:
            self._removals.append(part)

    def _resolve(self, part: Part) -> Any:
        """Tell the removals that came before a message. Only the message shows what they are:
        it is a new version of a removed one, or said in a new run of its task, or neither.

        Returns:
            Whether it replaces one.
        """
        replaces, removals = False, self._removals
        self._removals = []
        for removal in removals:
            where = where_of(removal.ns, removal.meta)
            is_same = removal.data.id == part.data.id
            if is_same and not isinstance(part.data, BaseMessageChunk):
                replaces = True
            elif is_same or _is_of_model(removal.meta) or _is_followed(removal, part):
                yield from self._taken_back(removal, where, part.data.id, "rerun")
            else:
                yield from self._removed(removal, where)
        return replaces

    def flush(self) -> Iterator[Event]:
        """Tell the removals that no message followed."""
        removals, self._removals = self._removals, []
        for part in removals:
            yield from self._removed(part, where_of(part.ns, part.meta))

    def _removed(self, part: Part, where: Where) -> Iterator[Event]:
        message_id = part.data.id
        self._elsewhere.forget(message_id)
        for place in [place for place, open_id in self._open if open_id == message_id]:
            yield from self._calls(self._tracker.abort(message_id, place, REMOVED))
        if self._forget(message_id, where):
            yield MessageRemovedEvent(seq=self._seq(), where=where, message_id=message_id)

    def _taken_back(
        self, part: Part, where: Where, new_id: str | None, reason: Any
    ) -> Iterator[Event]:
        old_id = part.data.id
        self._elsewhere.forget(old_id)
        draft = self._open.pop((where, old_id), None)
        yield from self._calls(self._tracker.abort(old_id, where, SUPERSEDED))
        if draft is not None and draft.usage is not None:
            yield self._usage.count(draft.usage, old_id, where)
        if draft.is_shown if draft is not None else self._forget(old_id, where):
            yield MessageSupersededEvent(
                seq=self._seq(), where=where, old_id=old_id, new_id=new_id, reason=reason
            )

    def _forget(self, message_id: str, where: Where) -> bool:
        """Forget a message, and say whether its consumer may have seen it."""
        self._tracker.forget(message_id, where)
        shown = self._history.forget(message_id)
        for key in [key for key in self._open if key[1] == message_id]:
            shown = [*shown, self._open.pop(key).is_shown]
        return any(shown) if shown else self._accepts(where)

    def close(self) -> Iterator[Event]:
        """Close the messages that are open."""
        yield from self.flush()
        yield from self._late_results()
        for draft in list(self._open.values()):
            yield from self._complete(draft, is_partial=True)


def _is_followed(removal: Part, part: Part) -> bool:
    """Whether the deduplicator made the removal for the part, which a network does not change."""
    return removal.meta is part.meta or is_respaced(removal.meta)


def _is_of_model(meta: Mapping[str, Any]) -> bool:
    note = annotation_of(meta)
    return MODEL_KEY in meta if note is None else note["source"] == "model"


def _extended(message: AIMessage, text: str) -> AIMessage:
    """A copy that says more."""
    content: Any = message.content
    longer = content + text if isinstance(content, str) else [*content, text]
    return message.model_copy(update={"content": longer})
