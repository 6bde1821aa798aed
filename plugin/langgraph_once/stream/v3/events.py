"""v3: protocol events in, the events that the consumer lacks out.

In v3 a model speaks in events (`message-start`, `content-block-delta`, …, `message-finish`)
where v1 and v2 have chunks. To the ledger each event is the chunk that says the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    RemoveMessage,
)

from langgraph_once.config import DedupConfig
from langgraph_once.stream.chunk_filter import ChunkFilter, Expand
from langgraph_once.stream.dedup.deduplicator import Deduplicator
from langgraph_once.stream.dedup.operations import Because, Kind, Operation
from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.part.annotation import annotation_of
from langgraph_once.stream.part.content import Content, as_whole
from langgraph_once.stream.part.envelope import Part
from langgraph_once.stream.part.intake import v2_part
from langgraph_once.stream.part.namespace import task_in
from langgraph_once.stream.part.render import writer
from langgraph_once.stream.v3.exact import ENDS, RUN_KEY, VOID, EventForm, id_begun
from langgraph_once.stream.v3.marks import marked

__all__ = ["EventReader", "event_filter"]

WORDS: Final = {"text-delta": "text", "reasoning-delta": "reasoning", "tool-call-delta": "args"}
"""Where a delta has its words, by its type."""


def event_filter(
    config: DedupConfig,
    ledger: Ledger,
    *,
    expand: Mapping[str, Expand],
    form: EventForm,
    tells_edits: bool,
) -> ChunkFilter:
    """The function that turns one v2 chunk of a v3 run into those that the consumer lacks.

    States stay whole, since the projections of a run are made of them.

    Args:
        config: What counts as a repetition.
        ledger: What the consumer has.
        expand: What is made of a part, by its mode.
        form: What its reader needs, and is sent.
        tells_edits: Whether a message that a task returns with another text follows what was
            streamed. Not where transformers rewrite messages: they may have made that text of
            the streamed one already, and then nothing was edited.
    """
    dedup = Deduplicator(config, ledger=ledger, form=form)
    return _EventFilter(dedup, expand, form, tells_edits=tells_edits)


class _EventFilter(ChunkFilter):
    """The chunks of one v3 run, each after the other."""

    def __init__(
        self,
        dedup: Deduplicator,
        expand: Mapping[str, Expand],
        form: EventForm,
        *,
        tells_edits: bool,
    ) -> None:
        super().__init__(dedup, writer([], version="v2"), expand)
        self._tells_edits = tells_edits
        self._form = form
        self._reader = EventReader()
        self._told: set[str] = set()
        self._earlier: Mapping[str, Content] = {}

    def new(self, chunk: Any) -> Iterator[Any]:
        """What the consumer lacks of a chunk."""
        whole = v2_part(chunk)
        parts = chain.from_iterable(map(self._named, self._expand(whole)))
        told = self._form.told
        self._rest = chain.from_iterable(told(each, self._operations(each)) for each in parts)
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
        if isinstance(part.data, Mapping) and part.data.get("event") == "message-start":
            known = self._dedup.ledger.said_in(task_in(part.meta))
            self._earlier = {entry.id: entry.content for entry in known if entry.is_model}
        operations = self._dedup.decide(said)
        told = operations if self._tells_edits else _without_edits(operations)
        return (each._replace(part=self._event(each, said, part)) for each in told)

    def _event(self, operation: Operation, said: Part, part: Part) -> Part | None:
        """What an operation sends: here only events say a piece of a message."""
        out = next(self._form.sent((operation,)), None)
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
        (kind, because, _), message = operation, out.data
        is_known = message.id in self._told
        self._told.add(message.id)
        if isinstance(message, RemoveMessage):
            had = self._earlier.get(str(message.id)) if because is Because.EARLIER_STREAM else None
            return marked(out, to="log and channel", had=had)
        if kind is Kind.DISCARD:
            return marked(out, to="channel")
        if because is Because.REST:
            is_edit = message.content.isspace()
        else:
            is_edit = is_known or because is Because.WHITE_SPACE
        return marked(out, to="log and channel") if is_edit else out


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
        self._blocks: dict[tuple[str, int], tuple[Mapping[str, Any], list[str]]] = {}

    def read(self, part: Part) -> Part | None:
        """A part whose event is a chunk instead; None for an event that says nothing."""
        if part.mode != "messages" or not isinstance(part.data, Mapping):
            return _as_chunk(part)
        event, run = part.data, str(part.meta.get(RUN_KEY))
        if event.get("event") == "message-start":
            self._ids[run] = id_begun(part)
        message_id = self._ids.get(run)
        if event.get("event") in ENDS:
            self._ids.pop(run, None)
        said = None if message_id is None else self._said(event, run)
        return None if said is None else part._replace(data=AIMessageChunk(**said, id=message_id))

    def _said(self, event: Mapping[str, Any], run: str) -> dict[str, Any] | None:
        """The fields of the chunk that says what an event does."""
        match event.get("event"):
            case "message-start":
                return {"content": ""}
            case "content-block-start":
                block = event["content"]
                self._blocks[run, event["index"]] = block, []
                if block.get("type") == "tool_call_chunk":
                    return _call(event, "", block)
            case "content-block-delta" if key := WORDS.get(event["delta"].get("type")):
                words = event["delta"][key]
                _, told = self._blocks.setdefault((run, event["index"]), ({}, []))
                told.append(words)
                return _words(event, key, words)
            case "content-block-finish":
                begun, told = self._blocks.pop((run, event["index"]), ({}, []))
                return _block_end(event, begun, "".join(told))
            case "message-finish" if event.get("metadata") != VOID:  # else it is taken back
                return {
                    "content": "",
                    "usage_metadata": _usage(event),
                    "response_metadata": dict(event.get("metadata") or {}),
                    "chunk_position": "last",
                }
        return None


def _as_chunk(part: Part) -> Part:
    """A part; the missing rest of a message as a chunk, which upstream is told as a whole one."""
    message, note = part.data, annotation_of(part.meta)
    if type(message) is not AIMessage or note is None or not note.get("repairs"):
        return part
    return part._replace(data=AIMessageChunk(content=message.content, id=message.id))


def _words(event: Mapping[str, Any], key: str, words: str) -> dict[str, Any]:
    if key == "args":
        return _call(event, words)
    block = {"type": key, key: words, "index": event["index"]}
    return {"content": words if key == "text" else [block]}


def _block_end(
    event: Mapping[str, Any], begun: Mapping[str, Any], told: str
) -> dict[str, Any] | None:
    """What only the end of a block tells: all, or what a transformer held back of its deltas."""
    block = event["content"]
    match block.get("type"):
        case "text" | "reasoning" as key:
            rest = _suffix(str(block.get(key) or ""), told)
            return _words(event, key, rest) if rest else None
        case "tool_call" if begun.get("type") == "tool_call":  # which did not stream
            return _call(event, json.dumps(block.get("args") or {}), block)
        case "tool_call" if told:
            args = block.get("args") or {}
            forms = (json.dumps(args), json.dumps(args, separators=(",", ":")))
            rest = next(filter(None, (_suffix(form, told) for form in forms)), "")
            late_id = None if begun.get("id") else block.get("id")
            return _call(event, rest, {"id": late_id}) if rest or late_id else None
        case "tool_call" | "invalid_tool_call":
            return None
    return {"content": [{**block, "index": event["index"]}]}


def _suffix(whole: str, told: str) -> str:
    """What of `whole` comes after `told`; nothing where that is no part of it."""
    return whole[len(told) :] if whole.startswith(told) else ""


def _call(
    event: Mapping[str, Any], args: str, named: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    names = {key: named and named.get(key) for key in ("id", "name")}
    piece = {**names, "args": args, "index": event["index"], "type": "tool_call_chunk"}
    return {"content": "", "tool_call_chunks": [piece]}


def _usage(event: Mapping[str, Any]) -> Any:
    usage = event.get("usage")
    if not usage:
        return None
    counts = {key: usage.get(key) or 0 for key in ("input_tokens", "output_tokens")}
    return {**counts, "total_tokens": usage.get("total_tokens") or sum(counts.values())}
