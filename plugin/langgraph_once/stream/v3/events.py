"""v3: protocol events in, the events that the consumer lacks out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from langchain_core.messages import AIMessageChunk, RemoveMessage

from langgraph_once.config import DedupConfig
from langgraph_once.stream.chunk_filter import ChunkFilter, Expand
from langgraph_once.stream.dedup.deduplicator import Deduplicator
from langgraph_once.stream.dedup.operations import Because, Kind, Operation
from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.part.content import Content, as_whole
from langgraph_once.stream.part.places import task_in
from langgraph_once.stream.part.shapes import Part, v2_part, writer
from langgraph_once.stream.v3.protocol import EventForm
from langgraph_once.stream.v3.reading import EventReader, event_of, marked

__all__ = ["EventFilter"]


class EventFilter(ChunkFilter):
    """Turns one v2 chunk of a v3 run into those that the consumer lacks.

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
        self._told: set[str] = set()
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
        self._dedup.keep_undelivered(self._rest, (part for part in said if part is not None))

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
        is_known = message_id in self._told
        self._told.add(message_id)
        return out if event_of(out) else self._marked(operation, out, is_known=is_known)

    def _marked(self, operation: Operation, out: Part, *, is_known: bool) -> Part:
        """A message or a removal, marked where `run.messages` is not to have it.

        It takes nothing back. It would make an empty message of a removal, and another message of
        an edit; plain LangGraph sends it neither.
        """
        (kind, because, _), message = operation, out.data
        if isinstance(message, RemoveMessage):
            had = self._earlier.get(str(message.id)) if because is Because.EARLIER_STREAM else None
            return marked(out, to="log and channel", had=had)
        if kind is Kind.DISCARD:
            return marked(out, to="channel")
        is_edit = is_known or because is Because.WHITE_SPACE
        if because is Because.REST:
            is_edit = message.content.isspace()
        return marked(out, to="log and channel") if is_edit else out


def _without_edit(said: Part, operations: list[Operation]) -> Iterator[Operation]:
    """The same, but for a removal and the message that takes its place under the same id."""
    edits = bool(operations) and operations[-1].kind is Kind.REPLACE
    removal = operations[0].part if edits else None
    is_edit = removal is not None and removal.data.id == said.data.id
    return iter(() if is_edit else operations)
