"""Parts of mode `messages` to events: tokens, and the life of their messages.

`OpenMessage` is a message while it streams: its chunks, and the message they add up to.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from dataclasses import InitVar, dataclass, field
from typing import Any, Final, cast

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    BaseMessageChunk,
    ToolMessage,
    merge_content,
)
from langchain_core.messages.ai import UsageMetadata, add_ai_message_chunks, add_usage
from langchain_core.messages.utils import message_chunk_to_message

from langgraph_once.events.config import TokenStreamingConfig
from langgraph_once.events.content_blocks import (
    TextKind,
    only_piece,
    text_pieces,
)
from langgraph_once.events.thread_memory import KnownMessage, MessageOrigin, ThreadMemory
from langgraph_once.events.tool_calls import MessageCalls, ToolCalls
from langgraph_once.events.vocabulary import (
    Event,
    Growing,
    MessageCompletedEvent,
    MessageDiscardedEvent,
    MessageRemovedEvent,
    MessageReplacedEvent,
    MessageSupersededEvent,
    TokenStreamEvent,
    UsageEvent,
    checked,
    related,
)
from langgraph_once.stream import Because, Kind, Part, Pattern, Where, operation_of, where_of

MAX_KEPT: Final = 512
"""How many chunks are kept before they are added up: a long message takes the room of its text, and
is not copied for each token."""

PROVIDER_KEYS: Final = frozenset({"model_provider"})
"""What the metadata of each chunk of some providers hold."""


@dataclass(slots=True, eq=False)
class OpenMessage:
    """One message that streams."""

    message_id: str
    where: Where
    kinds: InitVar[Collection[TextKind]]
    calls: MessageCalls
    """Its tool calls."""

    is_shown: bool = True
    """Whether its events are told."""

    said: dict[TextKind, Growing] = field(init=False)
    """What it has said, of each kind that is told."""

    usage: UsageMetadata | None = None

    _name: str | None = None
    _form: type | None = None
    _meta: Mapping[str, Any] | None = None
    """Those of the last chunk, if they say no more than who the provider is."""

    _chunks: list[BaseMessageChunk] = field(default_factory=list)
    _contents: list[Any] = field(default_factory=list)
    """Of the chunks behind these, which are like the last one."""

    def __post_init__(self, kinds: Collection[TextKind]) -> None:
        self.said = {kind: Growing() for kind in kinds}

    def is_like_last(self, content: Any, meta: Mapping[str, Any]) -> bool:
        """Whether a chunk that has only content, metadata and calls is kept by its content. Text
        and blocks are not joined: together they add up to something else than one by one."""
        return type(content) is self._form and meta == self._meta

    def go_on(self, content: Any) -> None:
        """Keep such a chunk."""
        if content:
            self._contents.append(content)
            if len(self._contents) > MAX_KEPT:
                self._join()

    def add(self, chunk: BaseMessageChunk) -> None:
        """Keep a chunk, without its calls."""
        self._join()
        self._name = chunk.name or self._name
        if getattr(chunk, "tool_call_chunks", None):
            chunk = chunk.model_copy(update={"tool_call_chunks": []})
        self._chunks.append(chunk)
        meta = chunk.response_metadata
        self._form = type(chunk.content)
        self._meta = meta if meta.keys() <= PROVIDER_KEYS else None
        if len(self._chunks) > MAX_KEPT:
            self._chunks = [_sum(self._chunks)]

    def _join(self) -> None:
        """Put what was kept of contents into the chunk before them."""
        if self._contents:
            last = self._chunks[-1]
            # By themselves first: each step of a merge of blocks copies the text that is there.
            content = merge_content(last.content, merge_content(*self._contents))
            self._chunks[-1], self._contents = last.model_copy(update={"content": content}), []

    def message(self) -> BaseMessage:
        """What the chunks add up to.

        The calls are linked by `calls`, since upstream leaves fragments without an index apart.
        """
        self._join()
        whole = _sum(self._chunks)
        # Only messages of models have calls and usage.
        if not isinstance(whole, AIMessageChunk):
            return message_chunk_to_message(whole.model_copy(update={"id": self.message_id}))
        made = AIMessageChunk(
            content=whole.content,
            additional_kwargs=whole.additional_kwargs,
            response_metadata=whole.response_metadata,
            usage_metadata=whole.usage_metadata,
            chunk_position=whole.chunk_position,
            tool_call_chunks=self.calls.so_far(),
            name=self._name,
            id=self.message_id,
        )
        return message_chunk_to_message(made)


def _sum(chunks: list[BaseMessageChunk]) -> BaseMessageChunk:
    # `+` copies what is there for each chunk, so it takes the square of their number.
    ai = [chunk for chunk in chunks if isinstance(chunk, AIMessageChunk)]
    if len(ai) == len(chunks):
        return add_ai_message_chunks(*ai)
    whole: Any = chunks[0]
    for chunk in chunks[1:]:
        whole = whole + chunk
    return cast("BaseMessageChunk", whole)


UNFINISHED = "the stream ended before the arguments did"
REMOVED = "the message was removed before the arguments were whole"
SUPERSEDED = "the task ran again before the arguments were whole"

RERUNS = frozenset({Because.EARLIER_STREAM, Because.WHITE_SPACE})
"""Why a message is gone whose task says it anew."""

Meta = Mapping[str, Any]


class MessageEvents:
    """Makes events of the parts of mode `messages`.

    Args:
        config: What to tell.
        seq: Numbers the events.
        tracker: Tells tool calls.
        memory: What is known of the thread.
    """

    def __init__(
        self,
        config: TokenStreamingConfig,
        seq: Callable[[], int],
        tracker: ToolCalls,
        memory: ThreadMemory,
    ) -> None:
        self._config = config
        self._seq = seq
        self._tracker = tracker
        self._enabled = Pattern(config.enabled_namespaces)
        self._excluded = Pattern(config.exclude_namespaces)
        self._tags = frozenset(config.message_tags or ())
        thoughts: tuple[TextKind, ...] = ("reasoning",) if config.include_reasoning else ()
        self._kinds: tuple[TextKind, ...] = ("text", "refusal", *thoughts)
        self._open: dict[tuple[Where, str], OpenMessage] = {}
        self._known = memory.messages
        self._unwatched = memory.unwatched
        self._early_results: list[tuple[ToolMessage, Where]] = []
        self._removals: list[tuple[Part, Because]] = []
        self._total = UsageMetadata(input_tokens=0, output_tokens=0, total_tokens=0)
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
            # The end, the cost and provider fields change more than the text: `_other` takes them.
            or fields["chunk_position"]
            or fields["usage_metadata"]
            or fields["additional_kwargs"]
        ):
            return None
        content, pieces = fields["content"], fields["tool_call_chunks"]
        if not draft.is_like_last(content, fields["response_metadata"]):
            return None
        said = ("text", 0, content) if type(content) is str else only_piece(content)
        if said is None:
            return None
        kind, index, text = said
        event: Event | None = None
        if text and not pieces:
            event = self._event(draft, kind, index, text) if kind in draft.said else None
        elif pieces and not text and self._config.include_tool_calls:
            event = draft.calls.next_of_args(pieces)
        if event is not None:
            draft.go_on(content)
        return event

    def _event(
        self, draft: OpenMessage, kind: TextKind, index: int | str, text: str
    ) -> TokenStreamEvent:
        return TokenStreamEvent(
            seq=self._seq(),
            where=draft.where,
            message_id=draft.message_id,
            content_delta=text,
            so_far=draft.said[kind].add(text),
            block_index=index,
            kind=kind,
        )

    def _other(self, part: Part) -> Iterator[Event]:
        """The events of a part that is not simply the next token of the last message."""
        message, where = part.data, where_of(part.ns, part.meta)
        self._last = self._last_meta = None
        if isinstance(message, ToolMessage) and self._is_early(message, where):
            self._early_results.append((message, where))
            return
        yield from self._held_results()
        decided = operation_of(part)
        if decided.because is Because.EARLIER_ATTEMPT:
            yield from self._superseded(part, where, None, "retry")
            return
        if decided.kind is Kind.REMOVE:
            self._removals.append((part, decided.because))
            return
        replaces = yield from self._resolve(part)
        if isinstance(message, BaseMessageChunk):
            is_rest = decided.because is Because.REST
            yield from self._chunk(message, where, part.meta, is_rest=is_rest)
            if decided.kind is Kind.DISCARD:
                yield from self._discarded(message, where)
        elif isinstance(message, BaseMessage):
            yield from self._said_whole(message, where, part.meta, replaces=replaces)

    def _said_whole(
        self, message: BaseMessage, where: Where, meta: Meta, *, replaces: bool
    ) -> Iterator[Event]:
        """A whole message, and what it cost, unless it only takes the place of one that did."""
        find = self._known.around if replaces else self._known.at
        known = find(where, message.id or "")
        if self._shows_here(message, where, meta):
            yield from self._whole(message, where, known, replaces=replaces)
        if isinstance(message, AIMessage) and not (known and known.is_counted):
            known = known or self._known.around(where, message.id or "")
            yield from self._usage(message.usage_metadata, message.id, where, known)

    @property
    def has_unwatched(self) -> bool:
        """Whether a message was said in a graph that nobody watches."""
        return bool(self._unwatched)

    def in_state(
        self, messages: Iterable[BaseMessage], namespace: tuple[str, ...]
    ) -> Iterator[Event]:
        """The messages in the state of a graph that came from unwatched graphs inside it."""
        for message in messages:
            origin = self._unwatched.get(message.id or "")
            where = origin.seen_from(namespace) if origin is not None else None
            if origin and where and self._is_shown(message, where, origin.meta):
                yield from self._whole(message, where, self._known.at(where, str(message.id)))
        yield from self._held_results()

    def seed(
        self, messages: Iterable[BaseMessage], namespace: tuple[str, ...]
    ) -> list[BaseMessage]:
        """Note the messages in the state that a graph begins with; those that were not known.

        Where they were said in that graph, and by whom, nobody knows.
        """
        where, new = Where(namespace), []
        for message in messages:
            message_id = message.id or ""
            if not message_id or message_id in self._unwatched:
                continue
            if self._known.around(where, message_id) is None:
                self._known.add(where, message_id, message).is_counted = True
                if not self._accepts(where):
                    self._unwatched[message_id] = MessageOrigin(where, {})
                new.append(message)
        return new

    def _is_early(self, result: ToolMessage, where: Where) -> bool:
        """Whether a tool result comes before the message with its call was told."""
        is_known = self._tracker.call_of(result.tool_call_id, where) is not None
        return bool(self._unwatched) and not is_known and self._accepts(where)

    def _held_results(self) -> Iterator[Event]:
        results, self._early_results = self._early_results, []
        for result, where in results:
            if self._is_shown(result, where, {}):
                yield from self._whole(result, where, self._known.at(where, result.id or ""))

    def _is_shown(self, message: BaseMessage, where: Where, meta: Meta) -> bool:
        if not self._accepts(where):
            return False
        if not self._tags or self._tags.intersection(meta.get("tags") or ()):
            return True
        # Tools bear no tags; who sees a call sees its result.
        return (
            isinstance(message, ToolMessage)
            and self._tracker.call_of(message.tool_call_id, where) is not None
        )

    def _shows_here(self, message: BaseMessage, where: Where, meta: Meta) -> bool:
        """Whether a message is told where it is said; if not, the state of a graph around may
        bring it. The empty id of a provider that gives none names nothing."""
        is_shown = self._is_shown(message, where, meta)
        if not is_shown and message.id:
            self._unwatched[message.id] = MessageOrigin(where, meta)
        return is_shown

    def _accepts(self, where: Where) -> bool:
        return self._enabled.matches(where) and not self._excluded.matches(where)

    def _chunk(
        self, chunk: BaseMessageChunk, where: Where, meta: Meta, *, is_rest: bool
    ) -> Iterator[Event]:
        """A chunk. The rest of a message may come from another task than the message did."""
        key = where, chunk.id or ""
        draft = self._open.get(key)
        known = self._known.at(*key)
        if draft is None and known is None and is_rest:
            draft = self._open_around(*key)
            known = None if draft else self._known.around(*key)
        if draft is None:
            if known is not None:
                yield from self._after_end(chunk, where, known)
                return
            is_shown = self._shows_here(chunk, where, meta)
            draft = self._open[key] = self._opened(key[1], where, is_shown=is_shown)
        if isinstance(chunk, AIMessageChunk) and chunk.usage_metadata:
            draft.usage = add_usage(draft.usage, chunk.usage_metadata)
        if draft.is_shown:
            draft.add(chunk)
            yield from self._said(chunk, draft)
            yield from self._calls(draft.calls.feed(chunk))
        if getattr(chunk, "chunk_position", None) == "last":
            yield from self._complete(draft)
        elif draft.is_shown and self._config.filter_fn is None:  # `token` calls no filter
            self._last, self._last_meta = draft, meta

    def _open_around(self, where: Where, message_id: str) -> OpenMessage | None:
        """The open message of an id that a task there may speak of."""
        found = (draft for (_, known_id), draft in self._open.items() if known_id == message_id)
        near = (draft for draft in found if related(draft.where.namespace, where.namespace))
        return next(near, None) if message_id else None

    def _opened(self, message_id: str, where: Where, *, is_shown: bool = True) -> OpenMessage:
        calls = MessageCalls(message_id, where, self._tracker)
        return OpenMessage(message_id, where, self._kinds, calls, is_shown)

    def _discarded(self, mark: BaseMessageChunk, where: Where) -> Iterator[Event]:
        """That no task kept a message, if its consumer has seen it."""
        message_id = str(mark.id)
        known = self._known.around(where, message_id)
        if known is not None and known.message is not None:
            yield MessageDiscardedEvent(seq=self._seq(), where=where, message_id=message_id)

    def _said(self, message: BaseMessage, draft: OpenMessage) -> Iterator[Event]:
        for said in text_pieces(message):
            if said.kind in draft.said:
                event = self._event(draft, *said)
                if checked(self._config.filter_fn, event):
                    yield event

    def _calls(self, events: Iterable[Event]) -> Iterator[Event]:
        """Events of tool calls, if they are wanted. The calls are followed in any case."""
        return (event for event in events if self._config.include_tool_calls)

    def _complete(self, draft: OpenMessage, *, is_partial: bool = False) -> Iterator[Event]:
        where, message_id = draft.where, draft.message_id
        del self._open[where, message_id]
        message = None
        if draft.is_shown:
            message = draft.message()
            yield from self._calls(draft.calls.end(UNFINISHED if is_partial else None))
        known = self._known.add(where, message_id, message)
        if message is not None:
            yield self._completed(message, where, is_partial=is_partial)
        yield from self._usage(draft.usage, message_id, where, known)

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

    def _replaced(self, message: BaseMessage, where: Where, message_id: str) -> Event:
        return MessageReplacedEvent(
            seq=self._seq(), where=where, message_id=message_id, message=message
        )

    def _usage(
        self,
        usage: UsageMetadata | None,
        message_id: str | None,
        where: Where,
        known: KnownMessage | None = None,
    ) -> Iterator[Event]:
        """What a message cost. What a model said in vain, in an attempt that failed, was paid for
        and counts too."""
        if usage:
            if known is not None:
                known.is_counted = True
            self._total = add_usage(self._total, usage)
            yield UsageEvent(
                seq=self._seq(), where=where, message_id=message_id, usage=usage, total=self._total
            )

    def _after_end(
        self, chunk: BaseMessageChunk, where: Where, known: KnownMessage
    ) -> Iterator[Event]:
        """A chunk after its message was whole: it brings more text, or the cost.

        Its events are of the place where the message was said, if that is known.
        """
        message_id, message, place = str(chunk.id), known.message, known.where
        missing = "".join(said.text for said in text_pieces(chunk) if said.kind == "text")
        is_shown = self._accepts(place) and self._accepts(where)
        if is_shown and missing and isinstance(message, AIMessage):
            draft = self._opened(message_id, place)
            for kind, _, said in text_pieces(message):
                if kind in draft.said:
                    draft.said[kind].add(said)
            yield from self._said(chunk, draft)
        if isinstance(message, AIMessage):
            known.message = changed = _extended(message, missing, chunk)
            if is_shown and changed is not message:
                yield self._replaced(changed, place, message_id)
        if isinstance(chunk, AIMessageChunk):
            yield from self._usage(chunk.usage_metadata, message_id, place, known)

    def _whole(
        self,
        message: BaseMessage,
        where: Where,
        known: KnownMessage | None,
        *,
        replaces: bool = False,
    ) -> Iterator[Event]:
        message_id = message.id or ""
        self._unwatched.pop(message_id, None)
        draft = self._open.pop((where, message_id), None)
        if replaces or known is not None:
            yield from self._replaced_by(message, where, known)
            return
        if isinstance(message, ToolMessage):
            yield from self._calls(self._tracker.result(message, where))
        elif isinstance(message, AIMessage):
            if draft is None:
                yield from self._said(message, self._opened(message_id, where))
            else:
                yield from self._calls(draft.calls.end())
            yield from self._calls(self._tracker.whole(message, where))
        self._known.add(where, message_id, message)
        yield self._completed(message, where)

    def _replaced_by(
        self, message: BaseMessage, where: Where, known: KnownMessage | None
    ) -> Iterator[Event]:
        message_id = message.id or ""
        known = known or self._known.add(where, message_id, None)
        known.message = message
        while (draft := self._open_around(where, message_id)) is not None:
            del self._open[draft.where, message_id]
            yield from self._calls(draft.calls.end(REMOVED))
            yield from self._usage(draft.usage, message_id, draft.where, known)
        if isinstance(message, AIMessage):
            self._tracker.note([message], known.where)
        yield self._replaced(message, where, message_id)

    def _resolve(self, part: Part) -> Generator[Event, None, bool]:
        """Tell the removals that came before a message. Only the message shows what they are:
        it is a new version of a removed one, or said in a new run of its task, or neither.

        Returns:
            Whether it replaces one.
        """
        replaces, removals = False, self._removals
        self._removals = []
        for removal, because in removals:
            where = where_of(removal.ns, removal.meta)
            is_same = removal.data.id == part.data.id
            # Here the deduplicator writes the metadata of a message beside its removals, too.
            is_rerun = because in RERUNS or removal.meta is part.meta
            if is_same and not isinstance(part.data, BaseMessageChunk):
                replaces = True
            elif is_same or is_rerun:
                yield from self._superseded(removal, where, part.data.id, "rerun")
            else:
                yield from self._removed(removal, where)
        return replaces

    def flush(self) -> Iterator[Event]:
        """Tell the removals that no message followed."""
        removals, self._removals = self._removals, []
        for part, _ in removals:
            yield from self._removed(part, where_of(part.ns, part.meta))

    def _removed(self, part: Part, where: Where) -> Iterator[Event]:
        message_id = part.data.id
        for draft in self._open.values():
            if draft.message_id == message_id:
                yield from self._calls(draft.calls.end(REMOVED))
        if self._forget(message_id, where):
            yield MessageRemovedEvent(seq=self._seq(), where=where, message_id=message_id)

    def _superseded(
        self, part: Part, where: Where, new_id: str | None, reason: Any
    ) -> Iterator[Event]:
        old_id = part.data.id
        draft = self._open.pop((where, old_id), None)
        if draft is not None:
            yield from self._calls(draft.calls.end(SUPERSEDED))
            self._unwatched.pop(old_id, None)
            yield from self._usage(draft.usage, old_id, where)
        if draft.is_shown if draft is not None else self._forget(old_id, where):
            yield MessageSupersededEvent(
                seq=self._seq(), where=where, old_id=old_id, new_id=new_id, reason=reason
            )

    def _forget(self, message_id: str, where: Where) -> bool:
        """Forget a message, and say whether its consumer may have seen it."""
        self._unwatched.pop(message_id, None)
        self._tracker.forget(message_id, where)
        shown = self._known.forget(message_id)
        for key in [key for key in self._open if key[1] == message_id]:
            shown = [*shown, self._open.pop(key).is_shown]
        return any(shown) if shown else self._accepts(where)

    def close(self) -> Iterator[Event]:
        """Close the messages that are open."""
        yield from self.flush()
        yield from self._held_results()
        for draft in list(self._open.values()):
            yield from self._complete(draft, is_partial=True)


def _extended(message: AIMessage, text: str, chunk: BaseMessageChunk) -> AIMessage:
    """A message with more text in its last block, and with what a chunk gives it besides; the
    same where that is nothing new."""
    told: dict[str, Any] = {
        "name": chunk.name or message.name,
        "additional_kwargs": {**message.additional_kwargs, **chunk.additional_kwargs},
        "response_metadata": {**message.response_metadata, **chunk.response_metadata},
    }
    if not text and all(getattr(message, name) == value for name, value in told.items()):
        return message
    content: Any = message.content
    if isinstance(content, str):
        return message.model_copy(update={**told, "content": content + text})
    *before, last = content or [""]
    if isinstance(last, dict) and isinstance(last.get("text"), str):
        content = [*before, {**last, "text": last["text"] + text}]
    elif text:
        content = [*content, text]
    return message.model_copy(update={**told, "content": content})
