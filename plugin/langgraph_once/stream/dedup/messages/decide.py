"""What of a part of the `messages` mode the consumer lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessageChunk, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langgraph_once.config import DedupConfig
from langgraph_once.stream.dedup.messages.concurrent_messages import ConcurrentMessages
from langgraph_once.stream.dedup.messages.held_retry import HeldRetry
from langgraph_once.stream.dedup.messages.message_matcher import MessageMatcher, space_of
from langgraph_once.stream.dedup.messages.message_part import MessagePart, is_empty
from langgraph_once.stream.dedup.stats import DedupStats
from langgraph_once.stream.ledger.entry import Entry
from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.part.annotation import finding_new, repairing, respacing
from langgraph_once.stream.part.content import Content, content_of
from langgraph_once.stream.part.envelope import Part
from langgraph_once.stream.part.namespace import TASK_NS_KEY, bare, lineage

__all__ = ["MessageParts"]


class MessageParts:
    """Decides on the parts of the `messages` mode.

    Args:
        ledger: What the consumer has.
        config: What counts as a repetition.
        stats: Counts the decisions.
        takes_back: Whether the consumer drops what it is told to drop, and takes another text
            in its place.
        goes_on: As `HeldRetry`.

    Attributes:
        awaits_ids: What a node wrote without an id waits until a state shows it.
        held_retries: What may repeat an earlier attempt, while that is not decided.
        concurrent: What one task streams at a time, in want of an annotation.
        matcher: Finds what a part speaks of.
    """

    def __init__(
        self,
        ledger: Ledger,
        config: DedupConfig,
        stats: DedupStats,
        *,
        takes_back: bool = True,
        goes_on: bool = True,
    ) -> None:
        self._goes_on = goes_on
        self._ledger = ledger
        self._config = config
        self._stats = stats
        self._takes_back = takes_back
        self.awaits_ids = True
        self.matcher = MessageMatcher(
            ledger, config, stats, space=space_of(config, takes_back=takes_back)
        )
        self.held_retries: dict[tuple[str, str], HeldRetry] = {}
        self._stale: dict[str, list[Entry]] = {}
        self._before_state: set[Entry] = set()
        self.concurrent = ConcurrentMessages()

    def chunk(self, part: Part) -> Iterable[Part]:
        """What the consumer lacks of a chunk that is not simply the next of its message."""
        said = MessagePart(part)
        message: Any = said.message
        if said.note is not None and said.note.get("draft"):
            return self._draft(said)
        if (held := self.held_retries.get((said.task, message.id))) is not None:
            return self._retried(said, message, held)
        known = self.matcher.of_chunk(said, message)
        if known is None:
            return self._first_chunk(said, message)
        if known.id != message.id:
            part = part._replace(data=message.model_copy(update={"id": known.id}))
        return self._next_chunk(said, known, part)

    def _draft(self, said: MessagePart) -> Iterable[Part]:
        """The mark of a message that is in no state, unless a task has repeated it since."""
        known = self._ledger.entries(str(said.message.id))
        entry = next((entry for entry in known if entry.task == said.task), None)
        if entry is None or entry.claimed:
            return ()
        if not entry.is_final:
            self._ledger.settle(entry)
        if entry.id == said.message.id:
            return (said.part,)
        return (said.part._replace(data=said.message.model_copy(update={"id": entry.id})),)

    def _retried(
        self, said: MessagePart, chunk: BaseMessageChunk, held: HeldRetry
    ) -> Iterable[Part]:
        out = list(self._record(said, held.feed(said.part, chunk)))
        if not out:
            self._stats.held += 1
        if held.is_over:
            self.held_retries.pop((said.task, str(chunk.id)), None)
        return out

    def _next_chunk(self, said: MessagePart, entry: Entry, part: Part) -> Iterable[Part]:
        chunk: Any = part.data
        if entry.is_final:
            if not is_empty(chunk):
                self._ledger.rewrite(entry, entry.extended(chunk))
            return (part,)
        is_last = getattr(chunk, "chunk_position", None) == "last"
        if is_last and entry.said.accumulates(chunk):  # type: ignore[union-attr]  # it is open
            chunk = chunk.model_copy(update={"content": "", "tool_call_chunks": []})
            part = part._replace(data=chunk)
        entry.said.extend(chunk)  # type: ignore[union-attr]  # it is open
        out = (*self._abandoned(said, entry), part) if self.concurrent.open else (part,)
        if is_last:
            self._ledger.settle(entry)
            self.concurrent.end(entry)
        return out

    def _first_chunk(self, said: MessagePart, chunk: BaseMessageChunk) -> Iterator[Part]:
        """One by one: what a consumer that leaves in between did not get is not noted."""
        if (revived := self.concurrent.revived(said.task, str(chunk.id))) is not None:
            yield from self._record(said, [said.part._replace(data=revived), said.part])
            return
        for entry in self._ledger.entries(str(chunk.id)):
            if said.follows(entry, self._ledger.epoch) and not self._is_stale(entry, said):
                yield from self._take_back(said.part, entry)
        old = self._superseded(said)
        if self._config.reexecution == "hold" and old:
            self._stale[said.task] = old[1:]
            held = HeldRetry(self._ledger, old[0], goes_on=self._goes_on)
            self.held_retries[said.task, str(chunk.id)] = held
            self._ledger.alias(old[0], str(chunk.id))  # a third attempt may follow
            yield from self._retried(said, chunk, held)
            return
        if self._config.reexecution == "retract":
            for entry in old:
                yield from self._take_back(said.part, entry)
        yield from self._record(said, (said.part,))

    def _record(self, said: MessagePart, parts: Iterable[Part]) -> Iterator[Part]:
        """Note what goes out."""
        for part in parts:
            if isinstance(part.data, BaseMessageChunk):
                self._note_chunk(said, part.data)
            yield part

    def _note_chunk(self, said: MessagePart, chunk: Any) -> None:
        entry = self._ledger.open_entries((said.task, str(chunk.id)))
        if entry is None:
            for known in self._ledger.entries(str(chunk.id)):
                if known.task == said.task:  # an attempt goes on with what the last one said
                    self._ledger.rewrite(known, known.extended(chunk))
                    known.epoch = self._ledger.epoch
                    self._ledger.alias(known, str(said.message.id))
                    return
            entry = self._ledger.stream(said.task, chunk)
            entry.note(said.note, said.steps)
            entry.is_model = True
            if said.note is None:
                entry.metadata = said.part.meta
                self.concurrent.note(entry, self._ledger.open_in(said.task))
        else:
            entry.said.extend(chunk)  # type: ignore[union-attr]  # it is open
        if getattr(chunk, "chunk_position", None) == "last":
            self._ledger.settle(entry)

    def whole(self, part: Part) -> Iterable[Part]:
        """What the consumer lacks of a whole message."""
        said, ledger = MessagePart(part), self._ledger
        content, unnamed = content_of(said.message), said.is_unnamed
        waited = unnamed and ledger.pending_ids.drop_repeated(part, content, ledger.epoch)
        if "resumed" in (said.note or ()) and not waited:
            ledger.goes_on(str(said.message.id), content, said.task, part.ns, unnamed=unnamed)
        known = self.matcher.of_whole(said, content)
        if known is not None:
            return self._known_whole(said, content, known)
        original = self.matcher.of_copy(said, content)
        if self._awaits_id(said, content, original):
            if original is not None:  # it takes the place of that, once it has its id
                self._ledger.claim(original, said.task)
                self._ledger.alias(original, str(said.message.id))
            self._ledger.await_id(part.ns, content, part=part)
            return ()
        if original is None:
            return self._new_whole(said, content)
        return self._copied(said, content, original)

    def _awaits_id(self, said: MessagePart, content: Content, original: Entry | None) -> bool:
        """Whether no id is known under which a message could go out: the state will have another.

        One that repeats what was streamed needs none.
        """
        if not (self.awaits_ids and said.is_unnamed):
            return False
        return original is None or not content.is_copy_of(original.content, in_any_role=True)

    def _copied(self, said: MessagePart, content: Content, original: Entry) -> Iterable[Part]:
        if self._takes_back and not content.is_copy_of(original.content, in_any_role=True):
            return self._replaced(said, content, original)
        self._ledger.claim(original, said.task)
        self._ledger.alias(original, str(said.message.id))
        self._note_unnamed(said, content, original)
        return self._finality(said, original)

    def _stands_for(self, known: Entry, content: Content) -> bool:
        """Whether a consumer that takes nothing back keeps what it has, with its white space."""
        return not self._takes_back and content.is_copy_of(
            known.content, in_any_role=True, space=self.matcher.space
        )

    def _new_whole(self, said: MessagePart, content: Content) -> Iterator[Part]:
        if self._config.reexecution != "mark":
            for entry in self._superseded(said):
                if self._config.reexecution == "hold" and entry.content == content:
                    self._ledger.alias(entry, str(said.message.id))
                    entry.epoch = self._ledger.epoch
                    self._stats.held += 1
                    return
                yield from self._take_back(said.part, entry)
        self._deliver(said, content)
        is_annotated = said.note is not None
        yield said.part._replace(meta=finding_new(said.part.meta)) if is_annotated else said.part

    def _known_whole(self, said: MessagePart, content: Content, known: Entry) -> Iterable[Part]:
        if known.epoch == self._ledger.epoch and known.outranks(said.task, said.steps, said.order):
            return ()  # a stream before had that of its task, which is done
        self._ledger.claim(known, said.task)
        self._ledger.alias(known, str(said.message.id))
        known.epoch = self._ledger.epoch
        if said.note is not None and said.note.get("wins"):
            return self._won(said, content, known)
        if known.says(str(said.message.id), content):
            return self._finality(said, known)
        if said.is_streamed or self._stands_for(known, content):
            last = self._finality(said, known)
            self._ledger.rewrite(known, content)
            return last
        missing, had_id = known.content.suffix_of(content), known.id
        if missing and isinstance(said.message, AIMessage):
            self._stats.repaired += 1
            if not known.is_final:
                self._ledger.settle(known)
            self._ledger.rewrite(known, content)
            return (_repair(said.part, missing, had_id),)
        return self._replaced(said, content, known)

    def _replaced(self, said: MessagePart, content: Content, known: Entry) -> Iterator[Part]:
        self._stats.replaced += 1
        self._ledger.drop(known)
        part = said.part
        if content.is_copy_of(known.content, in_any_role=True, space="ends"):
            part = part._replace(meta=respacing(part.meta))
        yield part._replace(data=RemoveMessage(id=known.id))
        self._deliver(said, content)
        yield part

    def _won(self, said: MessagePart, content: Content, known: Entry) -> Iterable[Part]:
        """A message for which the list drops those that tasks beside its own have written."""
        message_id, graph = str(said.message.id), lineage(said.task)[:-1]
        found = self._ledger.entries(message_id)
        lost = [entry for entry in found if lineage(entry.task)[:-1] == graph] or [known]
        if len(lost) == 1 and lost[0].says(message_id, content):
            return self._finality(said, lost[0])
        for entry in lost[1:]:
            self._ledger.drop(entry)
        return self._replaced(said, content, lost[0])

    def _finality(self, said: MessagePart, known: Entry) -> Iterable[Part]:
        """The usage of a message of which the consumer has all else."""
        if not known.is_final:
            self._ledger.settle(known)
        message = said.message
        if known.has_usage or not isinstance(message, AIMessage) or not message.usage_metadata:
            self._stats.suppressed += 1
            return ()
        known.has_usage = True
        last = AIMessageChunk(
            content="",
            id=known.id,
            usage_metadata=message.usage_metadata,
            response_metadata=message.response_metadata,
            chunk_position="last",
        )
        return (said.part._replace(data=last),)

    def _deliver(self, said: MessagePart, content: Content) -> None:
        entry = Entry(said.task, str(said.message.id), content)
        entry.note(said.note, said.steps)
        entry.order = said.order
        entry.is_model = said.source == "model"
        self._ledger.add(entry)
        if said.source != "model":
            self._ledger.claim(entry, said.task)
        if said.note is not None and (other := said.note.get("id")):
            self._ledger.alias(entry, other)  # by which its task may take it back
        self._note_unnamed(said, content, entry)

    def _note_unnamed(self, said: MessagePart, content: Content, entry: Entry) -> None:
        if said.is_unnamed:
            self._ledger.await_id(said.part.ns, content, entry=entry)

    def _superseded(self, said: MessagePart) -> list[Entry]:
        """What the task of this part has said in an earlier attempt."""
        if said.task == bare(said.task):  # from an update, which names no task but a node
            return []
        stale = [e for e in self._stale.get(said.task, ()) if not e.is_forgotten]
        older = [entry for entry in self._ledger.said_before(said.task) if entry not in stale]
        if older and said.note is None:
            self._stats.inferred += 1
        return [*stale, *older]

    def _abandoned(self, said: MessagePart, new: Entry) -> Iterator[Part]:
        for old in self.concurrent.abandoned(new):
            self._stats.inferred += 1
            yield from self._take_back(said.part, old)

    def _is_stale(self, entry: Entry, said: MessagePart) -> bool:
        return self._config.reexecution == "hold" and entry in self._stale.get(said.task, ())

    def _take_back(self, part: Part, entry: Entry) -> Iterator[Part]:
        self._ledger.drop(entry)
        self._stats.retracted += 1
        yield part._replace(data=RemoveMessage(id=entry.id))

    def removal(self, part: Part) -> Iterable[Part]:
        """A removal, under the ids by which the consumer knows the message."""
        said = MessagePart(part)
        message_id = str(said.message.id)
        if message_id == REMOVE_ALL_MESSAGES:
            self._ledger.forget_all()
            return (part,)
        if said.source == "retry":
            return self._retry(said, message_id)
        if said.source == "resume":
            return self._resumed(said, message_id)
        graph = lineage(said.task)[:-1]
        known = [e for e in self._ledger.entries(message_id) if e.task]
        if graph and all(lineage(entry.task)[: len(graph)] != graph for entry in known):
            return ()  # it came from the graph around this one, which still has it
        return [
            part if known_id == message_id else part._replace(data=RemoveMessage(id=known_id))
            for known_id in self._ledger.forget(message_id, home=graph[-1] if graph else "")
        ]

    def _resumed(self, said: MessagePart, message_id: str) -> Iterable[Part]:
        """A removal of what came unnoted; what is noted is kept, for the message follows."""
        known = self._ledger.entries(message_id)
        for entry in known:  # so that no other of its task is taken for it
            self._ledger.claim(entry, said.task)
        return () if known else (said.part,)

    def _retry(self, said: MessagePart, message_id: str) -> Iterable[Part]:
        """What an earlier attempt said, which the handler takes back."""
        found = [e for e in self._ledger.entries(message_id) if e.task == said.task]
        self.held_retries.pop((said.task, message_id), None)
        self._ledger.pending_ids.drop_parts(message_id)
        for lost in self._before_state.intersection(found):
            self._ledger.drop(lost)
            found.remove(lost)
        if self._config.reexecution == "hold" and found:
            self._stale.setdefault(said.task, []).extend(found)
            return ()
        if self._config.reexecution == "mark":
            return ()
        return [out for entry in found for out in self._take_back(said.part, entry)]

    def state_passes(self) -> None:
        """Note that the consumer replaces its list by a state.

        That has nothing of what is under way, so what is said again goes out from the beginning.
        """
        for entry in [entry for entries in self._stale.values() for entry in entries]:
            self._ledger.drop(entry)
        self._stale.clear()
        for held in self.held_retries.values():
            held.old_is_gone()
        ledger = self._ledger
        self._before_state = {entry for entry in ledger.known() if entry.epoch == ledger.epoch}

    def close(self) -> Iterator[Part]:
        """Take back what an earlier attempt said and no later one repeated."""
        for task, entries in self._stale.items():
            for entry in entries:
                if not entry.is_forgotten and entry.epoch == self._ledger.epoch:
                    part = Part((), "messages", None, {TASK_NS_KEY: task})
                    yield from self._take_back(part, entry)
        self._stale.clear()


def _repair(part: Part, missing: str, message_id: str) -> Part:
    """The rest of a message, which ends it."""
    rest = AIMessageChunk(content=missing, id=message_id, chunk_position="last")
    meta = repairing(part.meta)
    return part._replace(data=rest, meta=respacing(meta) if missing.isspace() else meta)
