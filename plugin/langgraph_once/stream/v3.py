"""v3: protocol events in, the events that the consumer lacks out; and the two forms of them.

In v3 a model speaks in events (`message-start`, `content-block-delta`, …, `message-finish`) where
v1 and v2 have chunks. To the ledger each event is the chunk that says the same: `EventReader`.

One form is for readers in this process, and those that announced themselves. The other is for a
stock client of the protocol over a network.

Of the `messages` of v3 a LangGraph server sends only the events of models: no whole message, no
removal, no metadata (langgraph-api 0.16.7). Clients keep a list of messages by id. A message that
was streamed and is in no `values` stays in it, and its streamed text wins over that of `values`
(`@langchain/react` 1.1). Only one event takes something back: a `message-start` under a known id
begins that message anew. So a message that no state will hold is begun anew and left empty, and a
message that the state has otherwise is begun anew with that text.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from langchain_core.language_models._compat_bridge import message_to_events
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, RemoveMessage

from langgraph_once.config import DedupConfig
from langgraph_once.stream.annotation import ANNOTATION_KEY, annotation_of
from langgraph_once.stream.chunk_filter import ChunkFilter, Expand
from langgraph_once.stream.content import Content, as_whole
from langgraph_once.stream.deduplicator import Deduplicator
from langgraph_once.stream.forms import ATTEMPTS, Because, ExactForm, Kind, Operation
from langgraph_once.stream.ledger import Ledger
from langgraph_once.stream.places import lineage, task_in
from langgraph_once.stream.shapes import Part, v2_part, writer

VOID: Final = {ANNOTATION_KEY: {"void": True}}
"""What the metadata of the end of a message say that was taken back while it was open."""

WORDS: Final = {"text-delta": "text", "reasoning-delta": "reasoning", "tool-call-delta": "args"}
"""Where a delta has its words, by its type."""

Fields: TypeAlias = dict[str, Any]
"""Those of a chunk."""


class Mark(NamedTuple):
    """Which readers get an event, and what the transformers need to know to write it.

    Attributes:
        to: Who reads it. The log has the events of a run, also as they go over a network. The
            transformers of users read what is for "all". `run.messages` reads that, too, and what
            is for "run.messages".
        node: The node that it is to name.
        had: What a removal takes back, where its task said it in an earlier run.
    """

    to: Literal["all", "log", "channel", "log and channel", "run.messages"] = "all"
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


class EventForm(ExactForm):
    """A form of v3. Its reader is sent events, and whole messages for what is left at the end."""

    tells_details = False  # no event says them
    reader: EventReader

    def policy(self, config: DedupConfig) -> DedupConfig:
        """What runs again is retracted, also where it is to be held.

        Of a model whose first event was withheld, upstream's projections understand no later one.
        """
        return replace(config, reexecution="retract")

    @abstractmethod
    def told(self, part: Part, operations: Iterable[Operation]) -> Iterator[Part]:
        """What to send of a part: the operations on it, whose parts are events."""


class ExactEvents(EventForm):
    """The form of a reader in this process, or one over a network that announced itself."""

    def told(self, part: Part, operations: Iterable[Operation]) -> Iterator[Part]:
        """The events, each after the end of what it takes back."""
        for out in (operation.part for operation in operations):
            if out is not None:
                if isinstance(out.data, RemoveMessage):
                    yield from self.reader.void(out, by=run_of(part))
                yield out


class EventFilter(ChunkFilter):
    """Turns one v2 chunk of a v3 run into those that the consumer lacks.

    States stay whole, since the projections of a run are made of them.

    Args:
        expand: What is made of a part, by its mode.
        form: What its reader needs, and is sent.
        tells_edits: Whether a message that a task returns with another text follows what was
            streamed. Not where transformers rewrite messages: they may have made that text of
            the streamed one already, and then nothing was edited.
    """

    def __init__(
        self,
        config: DedupConfig,
        ledger: Ledger,
        *,
        expand: Mapping[str, Expand],
        form: EventForm,
        tells_edits: bool,
    ) -> None:
        dedup = Deduplicator(config, ledger=ledger, form=form)
        super().__init__(dedup, writer([], version="v2"), expand)
        self._tells_edits = tells_edits
        self._reader = form.reader = EventReader()
        self._form = form
        # By the id of a message: the graph whose `run.messages` have the text that the message has
        # now. None if no graph's have it, as after an edit.
        self._told: dict[str, tuple[str, ...] | None] = {}
        # What reducers made of pairs: LangGraph shows it where a graph around returns it.
        self._made: set[str] = set()
        self._removed = ""
        self._earlier: Mapping[str, Content] = {}

    def new(self, chunk: Any) -> Iterator[Any]:
        """What the consumer lacks of a chunk."""
        whole = v2_part(chunk)
        self._rest = (
            out
            for part in self._expand(whole)
            for each in chain(self._dedup.named(part), (part,))  # messages that it shows the ids of
            for out in self._form.told(each, self._operations(each))
        )
        for out in self._rest:
            yield chunk if out is whole else self._write(out)

    def undelivered(self) -> Iterator[Any]:
        """What the stream before owes; tokens as whole messages, since here a model says none."""
        for part in self._dedup.undelivered():
            yield self._write(part._replace(data=as_whole(part.data)))

    def keep_undelivered(self, left: Iterable[Part]) -> None:
        """Note what the consumer has left too early to get."""
        said = (self._reader.read(each) for part in left for each in self._expand(part))
        # A part for `run.messages` alone is a copy. The log has its text, so nothing is left out.
        rest = (part for part in self._rest if mark_of(part.meta).to != "run.messages")
        self._dedup.keep_undelivered(rest, (part for part in said if part is not None))

    def _operations(self, part: Part) -> Iterator[Operation]:
        """What becomes of a part, with events for parts."""
        said = self._reader.read(part) if part.mode == "messages" else None
        if said is None:
            return iter((Operation(Kind.PASS, Because.OTHER, part),))
        if self._dedup.passes(said.data, said.meta):
            return iter((Operation(Kind.APPEND, Because.NEXT, part),))
        if event_of(part) == "message-start":
            known = self._dedup.ledger.said_in(task_in(part.meta))
            self._earlier = {entry.id: entry.content for entry in known if entry.is_model}
        operations = self._dedup.decide(said)
        if not self._tells_edits:
            operations = _without_edit(said, list(operations))
        return (each._replace(part=self._event(each, said, part)) for each in operations)

    def _event(self, operation: Operation, said: Part, part: Part) -> Part | None:
        """What an operation sends: here only events say a piece of a message."""
        if operation.kind is Kind.COMMIT and event_of(part) is None:
            known = self._dedup.ledger.entries(str(said.data.id))
            if self._copies_inner(said, [entry.id for entry in known]):
                self._told.setdefault(str(said.data.id), said.ns)
                return marked(part, to="run.messages")
        out = next(self._form.sent((operation,)), None)
        if out is said:
            out = part
        elif out is not None and type(out.data) is AIMessageChunk:
            if operation.because is not Because.REST:  # the usage, which an event tells
                return None
            out = out._replace(data=as_whole(out.data))
        if out is None or operation.kind is Kind.PASS:
            return out
        message_id = str(said.data.id if event_of(out) else out.data.id)
        if not event_of(out):
            out = self._marked(operation, out)
        note: Mapping[str, Any] = annotation_of(said.meta) or {}
        if note.get("made"):
            self._made.add(message_id)
        if operation.kind is Kind.REPLACE:
            self._told[message_id] = said.ns if mark_of(out.meta).to == "all" else None
        else:
            self._told.setdefault(message_id, said.ns)
        return out

    def _copies_inner(self, said: Part, originals: Iterable[str]) -> bool:
        """Whether a message copies what only the `run.messages` of another graph have.

        Each graph has a `run.messages` of its own. Plain LangGraph sends a copy to that of the
        graph whose node returned the copy, unless some graph has told a message of the same id.

        Args:
            said: The message.
            originals: The ids of what it copies.
        """
        note: Mapping[str, Any] = annotation_of(said.meta) or {}
        message_id = str(said.data.id)
        is_named = not note.get("nameless") and message_id not in self._made
        if is_named and message_id in self._told:
            return False
        return any(self._told.get(known, said.ns) != said.ns for known in originals)

    def _marked(self, operation: Operation, out: Part) -> Part:
        """A message or a removal, marked where `run.messages` is not to have it.

        It takes nothing back. It would make an empty message of a removal, and another message of
        an edit; plain LangGraph sends it neither.
        """
        (kind, because, _), message = operation, out.data
        if isinstance(message, RemoveMessage):
            self._removed = str(message.id)
            had = self._earlier.get(self._removed) if because is Because.EARLIER_STREAM else None
            return marked(out, to="log and channel", had=had)
        if kind is Kind.DISCARD:
            return marked(out, to="channel")
        note: Mapping[str, Any] = annotation_of(out.meta) or {}
        is_edit = (
            bool(note.get("given"))
            or str(message.id) in self._told
            or because is Because.WHITE_SPACE
        )
        if because is Because.REST:
            is_edit = message.content.isspace()
        elif kind is Kind.REPLACE and self._copies_inner(out, [self._removed]):
            is_edit = False
        return marked(out, to="log and channel") if is_edit else out


def _without_edit(said: Part, operations: list[Operation]) -> Iterator[Operation]:
    """The same, but for a removal and the message that takes its place under the same id."""
    edits = bool(operations) and operations[-1].kind is Kind.REPLACE
    removal = operations[0].part if edits else None
    is_edit = removal is not None and removal.data.id == said.data.id
    return iter(() if is_edit else operations)


@dataclass(slots=True, eq=False)
class _ShownMessage:
    """A message that the client shows, or one that is held since it repeats what that shows.

    Attributes:
        is_text: It says nothing but text.
        node: The node that its events name, where a client needs that to tell them from others.
        run: The model run that says it, while that goes on.
        repeats: The message that it has repeated so far, while it is held.
        held: Its events, while it is held.
    """

    id: str
    ns: tuple[str, ...]
    text: str = ""
    is_text: bool = True
    node: str | None = None
    run: str | None = None
    repeats: _ShownMessage | None = None
    held: list[Part] = field(default_factory=list)

    def hold(self, part: Part, old: _ShownMessage) -> bool:
        """Hold an event; whether `old` says all that it has said."""
        said = _text_of(part.data)
        if said is None:
            self.held.append(part)
            begins = event_of(part), part.data.get("content", {}).get("type")
            return begins == ("content-block-start", "text") and not self.text
        if self.text:  # one event in place of many
            self.held.pop()
        self.text += said
        delta = {**part.data["delta"], "text": self.text}
        self.held.append(part._replace(data={**part.data, "delta": delta}))
        return old.text.startswith(self.text)


class ProtocolForm(EventForm):
    """Says with events of the protocol what the deduplicator takes back."""

    takes_back = False

    def __init__(self) -> None:
        self._shown: dict[str, _ShownMessage] = {}
        self._runs: dict[str, _ShownMessage] = {}
        self._gone: dict[str, list[_ShownMessage]] = {}
        self._in_state: set[str] | None = None  # the first of a stream was there before it
        self._answered: set[str] = set()  # by tasks that say nothing else a draft is all there is

    def told(self, part: Part, operations: Iterable[Operation]) -> Iterator[Part]:
        """What to send of a part: the operations on it, whose parts are events."""
        if part.mode == "values":
            yield from self._state(part)
            return
        for operation in operations:
            if event_of(part) is None or operation.part is not part:
                yield from self._message(part, operation)
            elif event_of(part) == "message-start":
                yield from self._start(part)
            else:
                yield from self._next(part)

    def _state(self, part: Part) -> Iterator[Part]:
        """A state: what runs again has ended, and what a client shows is to be what it says."""
        for task, gone in list(self._gone.items()):
            over = [old for old in gone if old.ns[: len(part.ns)] == part.ns]
            self._gone[task] = [old for old in gone if old not in over]
            yield from self._emptied(*over)
        said, before = _messages(part.data), self._in_state
        ids = Counter(str(message.id) for message in said)
        if not part.ns:
            self._in_state = set(ids)
        for message in said:
            # Two messages under one id: the client shows one, and nobody knows which.
            if isinstance(message, AIMessage) and ids[str(message.id)] == 1:
                yield from self._corrected(message, is_root=not part.ns)
        yield part
        if not part.ns and before is not None:
            for message_id in set(ids) - before:
                yield from self._copied(message_id)

    def _copied(self, message_id: str) -> Iterator[Part]:
        """Begin anew with nothing what streamed, in this stream or one before, under another id."""
        for entry in self.ledger.entries(message_id):
            if entry.is_model and entry.id != message_id:
                old = self._shown.get(entry.id) or _shown(entry.id, (), entry.content)
                yield from self._emptied(old)

    def _corrected(self, message: AIMessage, *, is_root: bool) -> Iterator[Part]:
        """Begin anew what a client shows of a message, if the state says something else."""
        message_id, text = str(message.id), str(message.text)
        shown = self._shown.get(message_id)
        if shown is None and is_root:
            self._shown[message_id] = _ShownMessage(message_id, (), text)
        elif shown is not None and shown.text != text and shown.run is None:
            shown.text = text
            yield from _told(shown, message)

    def _take_back(self, removal: Part) -> Iterator[Part]:
        """Note what runs again; what the client shows of it stays until that has caught up."""
        message_id, had = str(removal.data.id), mark_of(removal.meta).had
        gone = self._gone.setdefault(task_in(removal.meta), [])
        for run, said in list(self._runs.items()):
            if said.repeats is not None and said.id == message_id:  # which nobody was shown
                del self._runs[run]
                gone.append(said.repeats)
        old = self._shown.pop(message_id, None)
        if old is None and had is not None:
            old = _shown(message_id, removal.ns, had)
        if old is not None and old.run is not None:
            # The model that said it died, and upstream leaves its message open.
            end = self._out(Part(old.ns, "messages", {"event": "message-finish"}), old)
            yield marked(end, to="log")
            self._end(old)
        if old is not None and message_id not in (self._in_state or ()):
            gone.append(old)

    def _start(self, part: Part) -> Iterator[Part]:
        shown = self._runs[run_of(part)] = _ShownMessage(str(part.data.get("id")), part.ns)
        gone = self._gone.pop(task_in(part.meta), [])
        # Only text is compared while it streams, and only with a single message.
        if len(gone) == 1 and gone[0].is_text and gone[0].text:
            shown.repeats, shown.held = gone[0], [part]
            return
        yield from self._emptied(*gone)
        self._begin(shown, part)
        yield self._out(part, shown)

    def _next(self, part: Part) -> Iterator[Part]:
        shown = self._runs.get(run_of(part))
        if shown is None:
            yield part
            return
        if (old := shown.repeats) is None:
            yield self._out(part, shown)
        elif not shown.hold(part, old):
            held, shown.held, shown.repeats, shown.text = shown.held, [], None, ""
            self._begin(shown, part)
            for event in held:
                yield self._out(event, shown)
            yield from self._emptied(old)  # now, so that at no moment there is neither
        if event_of(part) == "message-finish":
            self._end(shown)

    def _begin(self, shown: _ShownMessage, part: Part) -> None:
        """Note that a message begins; if another is open, its events are to be told apart."""
        shown.run = run_of(part)
        self._shown[shown.id] = shown
        if nodes := [other.node for other in self._beside(shown)]:
            node = str(part.meta.get("langgraph_node"))
            shown.node = f"{node}:{shown.run}" if node in nodes else node

    def _end(self, shown: _ShownMessage) -> None:
        self._runs.pop(str(shown.run), None)
        shown.run = None

    def _beside(self, shown: _ShownMessage) -> list[_ShownMessage]:
        """The other messages that are open in its namespace."""
        runs = self._runs.values()
        return [one for one in runs if one.run and one.ns == shown.ns and one is not shown]

    def _out(self, part: Part, shown: _ShownMessage) -> Part:
        """An event as it goes out: with its node and its id where clients need them.

        One of them tells by the one, another by the other which message an event goes on with;
        with one message at a time they need neither.
        """
        event, said = part.data, _text_of(part.data)
        shown.text += said or ""
        if said is None and event.get("content", {}).get("type", "text") != "text":
            shown.is_text = False
        if self._beside(shown):
            part = part._replace(data={**event, "id": shown.id})
        return part if shown.node is None else marked(part, node=shown.node)

    def _message(self, part: Part, operation: Operation) -> Iterator[Part]:
        """A message, a removal or a mark, with the events that say what it means."""
        kind, because, out = operation
        if out is not None and kind is Kind.REMOVE and because in ATTEMPTS:
            yield from self._take_back(out)
        if out is not None:
            yield out
        gone: Part | None = out if because is Because.REMOVED else None
        if out is not None and kind is Kind.REMOVE and because is Because.EDITED:
            # Under another id than the state has it, no state will set it right.
            gone = out if out.data.id != part.data.id else None
        if kind is Kind.DISCARD and self._answered.intersection(lineage(task_in(part.meta))):
            gone = part
        if gone is not None:
            yield from self._emptied(self._shown.get(str(gone.data.id)))
        if type(part.data) is AIMessage:
            self._answered.add(task_in(part.meta))

    def _emptied(self, *shown: _ShownMessage | None) -> Iterator[Part]:
        """Begin anew with nothing what a client shows, unless a state has it, or had it."""
        for old in shown:
            if old is None or (old.is_text and not old.text):
                continue  # there is nothing to take back
            if old.id not in (self._in_state or ()):
                self._shown[old.id] = emptied = _ShownMessage(old.id, old.ns)
                yield from _told(emptied, AIMessage("", id=old.id))


def _told(shown: _ShownMessage, message: AIMessage) -> Iterator[Part]:
    """The events that say a message from its start to its end.

    They name no node of the graph, so that they are not taken for events of what one says.
    """
    for event in message_to_events(message, message_id=shown.id):
        part = Part(shown.ns, "messages", {**event, "id": shown.id})
        yield marked(part, to="log", node=f"once:{shown.id}")


def _messages(state: Any) -> list[BaseMessage]:
    values = state.values() if isinstance(state, Mapping) else ()
    lists = [value for value in values if isinstance(value, list)]
    return [m for each in lists for m in each if isinstance(m, BaseMessage) and m.id]


def _shown(message_id: str, ns: tuple[str, ...], said: Content) -> _ShownMessage:
    return _ShownMessage(message_id, ns, said.text, is_text=not (said.calls or said.rest))


def _text_of(event: Mapping[str, Any]) -> str | None:
    """The text that an event adds, if that is all it does."""
    text: str | None = (event.get("delta") or {}).get("text")
    return text
