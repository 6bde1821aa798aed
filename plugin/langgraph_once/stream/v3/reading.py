"""v3: what an event says, and what the filter of a run tells the transformers of that run about it.

In v3 a model speaks in events (`message-start`, `content-block-delta`, …, `message-finish`)
where v1 and v2 have chunks. To the ledger each event is the chunk that says the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from langchain_core.messages import AIMessage, AIMessageChunk

from langgraph_once.stream.part.annotation import ANNOTATION_KEY, annotation_of
from langgraph_once.stream.part.content import Content
from langgraph_once.stream.part.places import task_in
from langgraph_once.stream.part.shapes import Part

VOID: Final = {ANNOTATION_KEY: {"void": True}}
"""What the metadata of the end of a message say that was taken back while it was open."""

WORDS: Final = {"text-delta": "text", "reasoning-delta": "reasoning", "tool-call-delta": "args"}
"""Where a delta has its words, by its type."""

Fields: TypeAlias = dict[str, Any]
"""Those of a chunk."""


class Mark(NamedTuple):
    """Which readers get an event, and what the transformers need to know to write it.

    Attributes:
        to: Who reads it. In the log are the events of a run, also as they go over a network;
            `run.messages` and the transformers of users read it only where all do.
        node: The node that it is to name.
        had: What a removal takes back, where its task said it in an earlier run.
    """

    to: Literal["all", "log", "channel", "log and channel"] = "all"
    node: str | None = None
    had: Content | None = None


class _Marked(dict[str, Any]):
    """Metadata with a mark: an attribute, so nobody else is sent it."""

    mark = Mark()


def marked(part: Part, **how: Any) -> Part:
    """A part with a mark; what is marked already keeps the rest of that."""
    meta = _Marked(part.meta)
    meta.mark = mark_of(part.meta)._replace(**how)
    return part._replace(meta=meta)


def mark_of(metadata: Any) -> Mark:
    """The mark of metadata; they may be of others, who made something else of them."""
    return metadata.mark if type(metadata) is _Marked else _Marked.mark


def run_of(part: Part) -> str:
    """The model run that says a part."""
    return str(part.meta.get("run_id"))


def event_of(part: Part) -> str | None:
    """The kind of event that a part is, if it is one of a model."""
    is_event = part.mode == "messages" and isinstance(part.data, Mapping)
    return part.data.get("event") if is_event else None


class EventReader:
    """Reads the events of models as chunks."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[Part, str]] = {}
        self._blocks: dict[tuple[str, int], tuple[Mapping[str, Any], list[str]]] = {}

    def read(self, part: Part) -> Part | None:
        """A part whose event is a chunk instead; None for an event that says nothing."""
        if part.mode != "messages" or not isinstance(part.data, Mapping):
            return _as_chunk(part)
        event, run, kind = part.data, run_of(part), event_of(part)
        if kind == "message-start":
            note: Mapping[str, Any] = annotation_of(part.meta) or {}
            found = note.get("id") or event.get("id") or event.get("message_id") or run
            self._open[run] = part, str(found)
        _, message_id = self._open.get(run, (None, None))
        if kind in {"message-finish", "error"}:
            self._open.pop(run, None)
        said = None if message_id is None else self._said(event, run)
        return None if said is None else part._replace(data=AIMessageChunk(**said, id=message_id))

    def void(self, removal: Part, *, by: str) -> list[Part]:
        """The event that ends what a removal takes back, if that is open; `by` is the model run
        that has it taken back.

        When a model raises, upstream leaves its message open (langgraph 1.2.24). The protocol's
        `error` event would make every reader of its text raise, in a run that goes on.
        """
        message_id, task = str(removal.data.id), task_in(removal.meta)
        for run, (start, open_id) in self._open.items():
            if run != by and open_id == message_id and task_in(start.meta) == task:
                del self._open[run]
                # The wire has no metadata of events: by its id the SDK finds whose end it is.
                end = {"event": "message-finish", "id": message_id, "metadata": VOID}
                return [start._replace(data=end)]
        return []

    def _said(self, event: Mapping[str, Any], run: str) -> Fields | None:
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
                    "usage_metadata": _usage(event.get("usage")),
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


def _words(event: Mapping[str, Any], key: str, words: str) -> Fields:
    if key == "args":
        return _call(event, words)
    return {"content": words if key == "text" else [_block(event, {"type": key, key: words})]}


def _block(event: Mapping[str, Any], block: Mapping[str, Any]) -> Fields:
    return {**block, "index": event["index"]}


def _block_end(event: Mapping[str, Any], begun: Mapping[str, Any], told: str) -> Fields | None:
    """What only the end of a block tells: all, or what a transformer held back of its deltas."""
    block = event["content"]
    kind, args = block.get("type"), block.get("args") or {}
    if kind in {"text", "reasoning"}:
        rest = _suffix(str(block.get(kind) or ""), told)
        return _words(event, kind, rest) if rest else None
    if kind == "tool_call" and begun.get("type") == "tool_call":  # which did not stream
        return _call(event, json.dumps(args), block)
    if kind == "tool_call" and told:
        forms = (json.dumps(args), json.dumps(args, separators=(",", ":")))
        rest = next(filter(None, (_suffix(form, told) for form in forms)), "")
        late_id = None if begun.get("id") else block.get("id")
        return _call(event, rest, {"id": late_id}) if rest or late_id else None
    return (
        None if kind in {"tool_call", "invalid_tool_call"} else {"content": [_block(event, block)]}
    )


def _suffix(whole: str, told: str) -> str:
    """What of `whole` comes after `told`; nothing where that is no part of it."""
    return whole[len(told) :] if whole.startswith(told) else ""


def _call(event: Mapping[str, Any], args: str, named: Mapping[str, Any] | None = None) -> Fields:
    names = {key: (named or {}).get(key) for key in ("id", "name")}
    piece = _block(event, {**names, "args": args, "type": "tool_call_chunk"})
    return {"content": "", "tool_call_chunks": [piece]}


def _usage(usage: Any) -> Any:
    if not usage:
        return None
    counts = {key: usage.get(key) or 0 for key in ("input_tokens", "output_tokens")}
    return {**counts, "total_tokens": usage.get("total_tokens") or sum(counts.values())}
