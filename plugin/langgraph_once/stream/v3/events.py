"""v3: protocol events in, the events that the consumer lacks out.

In v3 a model speaks in events (`message-start`, `content-block-delta`, …, `message-finish`)
where v1 and v2 have chunks. To the ledger each event is the chunk that says the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, TypeAlias

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    RemoveMessage,
)

from langgraph_once.config import DedupConfig
from langgraph_once.stream.chunk_filter import ChunkFilter, Expand, expanding
from langgraph_once.stream.dedup.deduplicator import Deduplicator
from langgraph_once.stream.dedup.forms.exact import exact
from langgraph_once.stream.dedup.operations import Because, Kind, Operation
from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.part.annotation import annotation_of
from langgraph_once.stream.part.content import as_whole
from langgraph_once.stream.part.envelope import Part
from langgraph_once.stream.part.intake import v2_part
from langgraph_once.stream.part.render import writer
from langgraph_once.stream.v3.exact import ENDS, RUN_KEY, VOID, ExactEvents, id_begun
from langgraph_once.stream.v3.marks import marked
from langgraph_once.stream.v3.protocol import ProtocolForm

__all__ = ["event_chunk", "event_filter"]

Form: TypeAlias = Callable[[Part, Iterable[Operation]], Iterable[Part]]
"""What one kind of reader is sent of a part, on which these operations were decided."""


def event_filter(
    config: DedupConfig,
    ledger: Ledger,
    *,
    expand: Mapping[str, Expand],
    for_stock: bool,
    tells_edits: bool,
) -> ChunkFilter:
    """The function that turns one v2 chunk of a v3 run into those that the consumer lacks.

    States stay whole, since the projections of a run are made of them. What runs again is
    retracted where `config` says "hold": of a model whose first event was withheld, upstream's
    projections understand no later one.

    Args:
        config: What counts as a repetition.
        ledger: What the consumer has.
        expand: What is made of a part, by its mode.
        for_stock: Whether a stock client reads the events over a network, `ProtocolForm`.
        tells_edits: Whether a message that a task returns with another text follows what was
            streamed. Not where transformers rewrite messages: they may have made that text of
            the streamed one already, and then nothing was edited.
    """
    if config.reexecution == "hold":
        config = replace(config, reexecution="retract")
    dedup = Deduplicator(config, ledger=ledger, takes_back=not for_stock)
    form = ProtocolForm(ledger) if for_stock else ExactEvents(ledger)
    events = _Events(dedup, expanding(expand), form.sent, tells_edits=tells_edits)
    return ChunkFilter(
        new=events.new,
        undelivered=events.undelivered,
        keep_undelivered=events.keep_undelivered,
        close=events.close,
    )


class _Events:
    """The chunks of one v3 run, each after the other."""

    def __init__(
        self, dedup: Deduplicator, expand: Expand, form: Form, *, tells_edits: bool
    ) -> None:
        self._dedup = dedup
        self._tells_edits = tells_edits
        self._form = form
        self._expand = expand
        self._reader = EventReader()
        self._told: set[str] = set()
        self._write = writer([], version="v2")
        self._rest: Iterator[Part] = iter(())

    def new(self, chunk: Any) -> Iterator[Any]:
        """What the consumer lacks of a chunk."""
        whole = v2_part(chunk)
        parts = chain.from_iterable(map(self._named, self._expand(whole)))
        self._rest = chain.from_iterable(self._form(each, self._operations(each)) for each in parts)
        for out in self._rest:
            yield chunk if out is whole else self._write(out)

    def undelivered(self) -> Iterator[Any]:
        """What the stream before owes; tokens as whole messages, since here a model says none."""
        for part in self._dedup.undelivered():
            yield self._write(part._replace(data=as_whole(part.data)))

    def keep_undelivered(self, left: Iterable[Part]) -> None:
        """Note what the consumer has left too early to get."""
        said = (self._reader.read(each) for part in left for each in self._expand(part))
        self._dedup.keep_undelivered(self._rest, (part for part in said if part is not None))

    def close(self) -> Iterator[Any]:
        """What remains to be said: what waited for an id in vain."""
        return map(self._write, self._dedup.close())

    def _named(self, part: Part) -> Iterator[Part]:
        """A part, after the messages that it shows the ids of."""
        return chain(self._dedup.named(part), (part,))

    def _operations(self, part: Part) -> Iterable[Operation]:
        """What becomes of a part, with events for parts."""
        said = self._reader.read(part) if part.mode == "messages" else None
        if said is None:
            return (Operation(Kind.PASS, Because.OTHER, part),)
        if self._dedup.passes(said.data, said.meta):
            return (Operation(Kind.APPEND, Because.NEXT, part),)
        operations = self._dedup.decide(said)
        told = operations if self._tells_edits else _without_edits(operations)
        return (each._replace(part=self._event(each, said, part)) for each in told)

    def _event(self, operation: Operation, said: Part, part: Part) -> Part | None:
        """What an operation sends: here only events say a piece of a message."""
        out = next(exact((operation,)), None)
        if out is said:
            out = part
        elif out is not None and type(out.data) is AIMessageChunk:
            if operation.because is not Because.REST:  # the usage, which an event tells
                return None
            out = out._replace(data=as_whole(out.data))
        if out is None or operation.kind is Kind.PASS:
            return out
        if isinstance(out.data, Mapping):
            self._told.add(str(said.data.id))
            return out
        return self._message(operation, out)

    def _message(self, operation: Operation, out: Part) -> Part:
        """A message or a removal, marked where `run.messages` is not to have it.

        It takes nothing back. It would make an empty message of a removal, and another message of
        an edit; plain LangGraph sends it neither.
        """
        message, because = out.data, operation.because
        is_known = message.id in self._told
        self._told.add(message.id)
        if operation.kind is Kind.DISCARD and not isinstance(message, RemoveMessage):
            return marked(out, to="channel")
        if because is Because.REST:
            is_edit = message.content.isspace()
        else:
            is_edit = is_known or because is Because.WHITE_SPACE
        hides = is_edit or isinstance(message, RemoveMessage)
        return marked(out, to="log and channel") if hides else out


def _without_edits(operations: Iterable[Operation]) -> Iterator[Operation]:
    """The same, but for a removal and the message that takes its place."""
    listed = list(operations)
    said = [each.part.data for each in listed if each.part is not None]
    gone = {message.id for message in said if isinstance(message, RemoveMessage)}
    back = {message.id for message in said if type(message) is AIMessage}
    for each in listed:
        if each.part is None or each.part.data.id not in gone & back:
            yield each


class EventReader:
    """Reads the events of models as chunks."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}
        self._whole: set[tuple[str, int]] = set()
        self._told: dict[tuple[str, int], list[str]] = {}
        self._unnamed: set[tuple[str, int]] = set()

    def read(self, part: Part) -> Part | None:
        """A part whose event is a chunk instead; None for an event that says nothing."""
        if part.mode != "messages" or not isinstance(part.data, Mapping):
            return _as_chunk(part)
        event, run = part.data, str(part.meta.get(RUN_KEY))
        if event.get("event") == "message-start":
            self._ids[run] = id_begun(part)
        message_id = self._ids.get(run)
        chunk = event_chunk(event, message_id) if message_id else None
        if event.get("event") == "content-block-start" and not event["content"].get("id"):
            self._unnamed.add((run, event["index"]))  # a call, perhaps, whose id comes late
        if "delta" in event:
            self._told.setdefault((run, event["index"]), []).append(_delta_text(event))
        elif message_id and event.get("event") == "content-block-finish":
            rest = self._rest(event, run, message_id)
            chunk = chunk or self._whole_call(event, run, message_id) or rest
        elif message_id and chunk is None:
            chunk = self._whole_call(event, run, message_id)
        if event.get("event") in ENDS:
            self._ids.pop(run, None)
        return None if chunk is None else part._replace(data=chunk)

    def _rest(self, event: Mapping[str, Any], run: str, message_id: str) -> AIMessageChunk | None:
        """The chunk of what only the end of a block tells, where a transformer held deltas back."""
        block, index = event["content"], event["index"]
        told = "".join(self._told.pop((run, index), ()))
        match block.get("type"):
            case "text" | "reasoning" as kind:
                rest = _suffix(str(block.get(kind) or ""), told)
                delta = {"type": f"{kind}-delta", kind: rest}
                return _block_delta({**event, "delta": delta}, message_id) if rest else None
            case "tool_call" if told:
                args = block.get("args") or {}
                forms = (json.dumps(args), json.dumps(args, separators=(",", ":")))
                rest = next(filter(None, (_suffix(form, told) for form in forms)), "")
                call_id = block.get("id") if (run, index) in self._unnamed else None
                self._unnamed.discard((run, index))
                piece = {"id": call_id, "name": None, "args": rest}
                return _call_chunk(event, message_id, piece) if rest or call_id else None
            case _:
                return None

    def _whole_call(
        self, event: Mapping[str, Any], run: str, message_id: str
    ) -> AIMessageChunk | None:
        """The chunk of a tool call that did not stream; its block is finished with all of it."""
        block = event.get("content") or {}
        if block.get("type") != "tool_call":
            return None
        place = run, event["index"]
        if event["event"] == "content-block-start":
            self._whole.add(place)
        elif place in self._whole:
            self._whole.discard(place)
            call = {"id": block.get("id"), "name": block.get("name")}
            args = json.dumps(block.get("args") or {})
            return _call_chunk(event, message_id, {**call, "args": args})
        return None


def _as_chunk(part: Part) -> Part:
    """A part; the missing rest of a message as a chunk, which upstream is told as a whole one."""
    message, note = part.data, annotation_of(part.meta)
    if type(message) is not AIMessage or note is None or not note.get("repairs"):
        return part
    return part._replace(data=AIMessageChunk(content=message.content, id=message.id))


def _delta_text(event: Mapping[str, Any]) -> str:
    delta = event["delta"]
    return str(delta.get("text") or delta.get("reasoning") or delta.get("args") or "")


def _suffix(whole: str, told: str) -> str:
    """What of `whole` comes after `told`; nothing where that is no part of it."""
    return whole[len(told) :] if whole.startswith(told) else ""


def event_chunk(event: Mapping[str, Any], message_id: str | None) -> AIMessageChunk | None:
    """The chunk that says what an event of a model's stream says."""
    match event.get("event"):
        case "message-start":
            return AIMessageChunk(content="", id=message_id)
        case "content-block-start":
            return _block_start(event, message_id)
        case "content-block-delta":
            return _block_delta(event, message_id)
        case "content-block-finish":
            return _block_finish(event, message_id)
        case "message-finish" if event.get("metadata") == VOID:
            return None  # what it ends is taken back
        case "message-finish":
            return AIMessageChunk(
                content="",
                id=message_id,
                usage_metadata=_usage(event),
                response_metadata=dict(event.get("metadata") or {}),
                chunk_position="last",
            )
        case _:
            return None


def _block_start(event: Mapping[str, Any], message_id: str | None) -> AIMessageChunk | None:
    block = event["content"]
    if block.get("type") != "tool_call_chunk":
        return None
    call = {key: block.get(key) for key in ("id", "name")}
    return _call_chunk(event, message_id, {**call, "args": ""})


def _block_delta(event: Mapping[str, Any], message_id: str | None) -> AIMessageChunk | None:
    delta = event["delta"]
    match delta.get("type"):
        case "text-delta":
            return AIMessageChunk(content=delta["text"], id=message_id)
        case "reasoning-delta":
            block = {"type": "reasoning", "reasoning": delta["reasoning"], "index": event["index"]}
            return AIMessageChunk(content=[block], id=message_id)
        case "tool-call-delta":
            return _call_chunk(event, message_id, {"id": None, "name": None, "args": delta["args"]})
        case _:
            return None


def _block_finish(event: Mapping[str, Any], message_id: str | None) -> AIMessageChunk | None:
    """Blocks that do not stream come whole, when they are finished."""
    block = event["content"]
    if block.get("type") in {"text", "reasoning", "tool_call", "invalid_tool_call"}:
        return None
    return AIMessageChunk(content=[{**block, "index": event["index"]}], id=message_id)


def _call_chunk(
    event: Mapping[str, Any], message_id: str | None, call: Mapping[str, Any]
) -> AIMessageChunk:
    piece: Any = {**call, "index": event["index"], "type": "tool_call_chunk"}
    return AIMessageChunk(content="", id=message_id, tool_call_chunks=[piece])


def _usage(event: Mapping[str, Any]) -> Any:
    usage = event.get("usage")
    if not usage:
        return None
    counts = {key: usage.get(key) or 0 for key in ("input_tokens", "output_tokens")}
    return {**counts, "total_tokens": usage.get("total_tokens") or sum(counts.values())}
