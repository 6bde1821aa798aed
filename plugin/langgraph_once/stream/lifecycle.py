"""What becomes of a message: its case, and the operations that follow from it.

A case is how a fact stands to what the consumer has, and names the record that it speaks of.
`Lifecycle.rules` has a rule for each case; `docs/repetitions.md` shows them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from enum import StrEnum, auto
from typing import Any, ClassVar, Final, NamedTuple

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessageChunk
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langgraph_once.config import DedupConfig
from langgraph_once.stream.content import (
    NO_DETAILS,
    Details,
    StreamedContent,
    details_of,
)
from langgraph_once.stream.entries import Entry, State, says
from langgraph_once.stream.forms import Because, DedupStats, Form, Kind, Operation, removing
from langgraph_once.stream.identity import Guess, Identity, Match, MessageFact
from langgraph_once.stream.ledger import Ledger
from langgraph_once.stream.places import lineage, runner_of
from langgraph_once.stream.reexecution import Reexecution
from langgraph_once.stream.shapes import Part


class Case(StrEnum):
    """How a fact stands to the record that it speaks of."""

    HELD = auto()
    NEXT = auto()
    AFTER_END = auto()
    GOES_ON = auto()
    FIRST = auto()
    ANOTHER = auto()
    NOT_KEPT = auto()
    KEPT_BY_NOW = auto()

    OVERRIDES = auto()
    SAME = auto()
    LONGER = auto()
    EDITED = auto()
    COPY = auto()
    RESPACED_COPY = auto()
    NO_ID_YET = auto()
    NEW = auto()

    ALL_REMOVED = auto()
    RUNS_AGAIN = auto()
    CUT_SHORT = auto()
    OF_OUTER_GRAPH = auto()
    REMOVED = auto()


MARK: Final = "mark: no task kept it"
RETRY: Final = "removal: its task runs again"
RESUME: Final = "removal: a stream that was cut may have sent it"

SAID: Final = (State.OPEN, State.COMPLETE)
RETURNED: Final = (State.COMMITTED,)
WHOLE: Final = (State.COMMITTED, State.COMPLETE)
GONE: Final = (State.GONE,)

HELD: Final = (Kind.HOLD, Kind.REMOVE, Kind.BEGIN, Kind.APPEND, Kind.COMMIT)
NEW: Final = (Kind.BEGIN, Kind.REMOVE, Kind.COMMIT)
REPLACED: Final = (Kind.REMOVE, Kind.REPLACE)
OVERRIDES: Final = (*REPLACED, Kind.COMMIT)


class Rule(NamedTuple):
    """What follows in one case."""

    fact: str
    """What comes."""

    record: str
    """What the consumer has."""

    becomes: tuple[State, ...]
    """What the record is then; nothing while it waits for its id."""

    kinds: tuple[Kind, ...]
    """The operations that may follow."""

    apply: Callable[[Any, MessageFact, Any], Iterator[Operation]]


class Lifecycle:
    """Decides on messages.

    Args:
        ledger: What the consumer has.
        config: What counts as a repetition.
        stats: Counts what was inferred, for want of an annotation.
        form: What the consumer needs.
        modes: The modes that it asked for.

    Attributes:
        identity: Finds what a fact speaks of.
        reexecution: What tasks said that ran again.
        guess: Answers where no annotation does.
        awaits_ids: What a node wrote without an id waits until a state shows it.
    """

    def __init__(
        self,
        ledger: Ledger,
        config: DedupConfig,
        stats: DedupStats,
        form: Form,
        modes: Collection[str] = (),
    ) -> None:
        self._ledger = ledger
        self._stats = stats
        self._takes_back = form.takes_back
        self._tells_details = form.tells_details
        self.guess = Guess(ledger, stats)
        self.identity = Identity(ledger, self.guess, space=form.space)
        self.reexecution = Reexecution(ledger, config, stats, goes_on=form.goes_on(modes))
        self.awaits_ids = True

    def case_of(self, fact: MessageFact) -> tuple[Case, Match | None]:
        """The case of a fact, and the record that it speaks of, if there is one."""
        if fact.is_chunk:
            return self._of_chunk(fact)
        return (self._of_removal(fact), None) if fact.is_removal else self._of_whole(fact)

    def _of_chunk(self, fact: MessageFact) -> tuple[Case, Match | None]:
        if fact.says("draft"):
            match = self.identity.not_kept(fact)
            return (Case.KEPT_BY_NOW if match is None else Case.NOT_KEPT), match
        key = fact.task, fact.id
        if key in self.reexecution.held:
            return Case.HELD, None
        was_withdrawn = key in self.guess.withdrawn
        if not was_withdrawn and self._ledger.is_news(*key):
            return Case.FIRST, None
        match = self.identity.of_chunk(fact)
        if match is not None:
            return (Case.NEXT if match.entry.is_open else Case.AFTER_END), match
        return (Case.GOES_ON if was_withdrawn else Case.ANOTHER), None

    def _of_whole(self, fact: MessageFact) -> tuple[Case, Match | None]:
        self._before_whole(fact)
        if (match := self.identity.of_whole(fact)) is not None:
            return self._of_known(fact, match), match
        match = self.identity.of_copy(fact)
        says_the_same = match is not None and self.identity.says_the_same(fact, match.entry)
        if self.awaits_ids and fact.is_unnamed and not says_the_same:
            return Case.NO_ID_YET, match
        if match is None:
            return Case.NEW, None
        return (Case.RESPACED_COPY if self._takes_back and not says_the_same else Case.COPY), match

    def _before_whole(self, fact: MessageFact) -> None:
        """Note what an earlier stream that was cut short had of it."""
        ledger, ns = self._ledger, fact.part.ns
        waited = fact.is_unnamed and ledger.pending_ids.drop_repeated(
            fact.part, fact.content, ledger.epoch
        )
        if fact.says("resumed") and not waited:
            ledger.goes_on(fact.id, fact.content, fact.task, ns, unnamed=fact.is_unnamed)

    def _of_known(self, fact: MessageFact, match: Match) -> Case:
        """How a whole message stands to what the consumer has under its id."""
        known = match.entry
        if fact.says("wins"):
            return Case.OVERRIDES
        if says(known, fact.id, fact.content) or fact.is_streamed or self._stands_for(fact, known):
            return Case.SAME
        if isinstance(fact.message, AIMessage) and known.content.suffix_of(fact.content):
            return Case.LONGER
        return Case.EDITED

    def _stands_for(self, fact: MessageFact, known: Entry) -> bool:
        """Whether a consumer that takes nothing back keeps what it has, with its white space."""
        space = self.identity.space
        return not self._takes_back and self.identity.says_the_same(fact, known, space=space)

    def _of_removal(self, fact: MessageFact) -> Case:
        if fact.id == REMOVE_ALL_MESSAGES:
            return Case.ALL_REMOVED
        match fact.source:
            case "retry":
                return Case.RUNS_AGAIN
            case "resume":
                return Case.CUT_SHORT
        graph = runner_of(fact.task)
        known = [entry for entry in self._ledger.entries(fact.id) if entry.task]
        is_outer = all(graph not in lineage(entry.task) for entry in known)
        return Case.OF_OUTER_GRAPH if graph and is_outer else Case.REMOVED

    def feed(self, part: Part) -> Iterator[Operation]:
        """What becomes of a part of mode `messages` that carries a message with an id.

        One by one: what a consumer that leaves in between did not get is not noted.
        """
        fact = MessageFact(part)
        case, match = self.case_of(fact)
        return self.rules[case].apply(self, fact, match)

    # What follows: chunks.

    def _held(self, fact: MessageFact, _: Match | None) -> Iterator[Operation]:
        held = self.reexecution.held[fact.task, fact.id]
        return self._noted(fact, self.reexecution.chunk(fact, held))

    def _next(self, fact: MessageFact, match: Match) -> Iterator[Operation]:
        entry, because = match
        chunk, part = fact.message, _under(fact, entry)
        if fact.is_last and entry.accumulates(chunk):
            silent = {"content": "", "tool_call_chunks": []}
            chunk, because = chunk.model_copy(update=silent), Because.ACCUMULATED
            part = part._replace(data=part.data.model_copy(update=silent))
        entry.extend(chunk)
        for old in self.guess.abandoned(entry) if self.guess.beside else ():
            yield self.reexecution.take_back(fact.part, old)
        if fact.is_last:
            self._ledger.settle(entry)
            self.guess.ends(entry)
        yield Operation(Kind.APPEND, because, part)

    def _after_end(self, fact: MessageFact, match: Match) -> Iterator[Operation]:
        if not fact.is_empty:
            self._ledger.rewrite(match.entry, match.entry.extended(fact.message))
        yield Operation(Kind.APPEND, match.because, _under(fact, match.entry))

    def _goes_on(self, fact: MessageFact, _: Match | None) -> Iterator[Operation]:
        """A message goes on that was taken back: it comes again from its beginning."""
        before = fact.part._replace(data=self.guess.revived(fact.task, fact.id))
        begin = Operation(Kind.BEGIN, Because.NEXT, before)
        return self._noted(fact, iter((begin, Operation(Kind.APPEND, Because.NEXT, fact.part))))

    def _first(self, fact: MessageFact, _: Match | None) -> Iterator[Operation]:
        self._note_first(fact, fact.message)
        yield Operation(Kind.BEGIN, Because.NEW, fact.part)

    def _another(self, fact: MessageFact, _: Match | None) -> Iterator[Operation]:
        for entry in self._ledger.entries(fact.id):
            if entry.state is not State.STALE and fact.follows(entry, self._ledger.epoch):
                yield self.reexecution.take_back(fact.part, entry)
        yield from self.reexecution.before_chunk(fact)
        if (fact.task, fact.id) in self.reexecution.held:
            yield from self._held(fact, None)
        else:
            yield from self._noted(fact, iter((Operation(Kind.BEGIN, Because.NEW, fact.part),)))

    def _noted(self, fact: MessageFact, operations: Iterator[Operation]) -> Iterator[Operation]:
        """Note the chunks that go out."""
        for operation in operations:
            if operation.part is not None and operation.kind is not Kind.REMOVE:
                self._note_chunk(fact, operation.part.data)
            yield operation

    def _note_chunk(self, fact: MessageFact, chunk: BaseMessageChunk) -> None:
        entry = self._ledger.open_entries((fact.task, str(chunk.id)))
        if entry is None:
            for known in self._ledger.entries(str(chunk.id)):
                if known.task == fact.task:  # an attempt goes on with what the last one said
                    self._ledger.rewrite(known, known.extended(chunk))
                    known.epoch = self._ledger.epoch
                    self._ledger.alias(known, fact.id)
                    return
            entry = self._note_first(fact, chunk)
            if fact.note is None:
                self.guess.begins(entry)
            return
        entry.extend(chunk)
        if getattr(chunk, "chunk_position", None) == "last":
            self._ledger.settle(entry)

    def _note_first(self, fact: MessageFact, chunk: BaseMessageChunk) -> Entry:
        entry = Entry(fact.task, str(chunk.id), StreamedContent(chunk))
        entry.note(fact.note, fact.steps)
        self._ledger.add(entry)
        if fact.note is None:
            entry.metadata = fact.part.meta
        if getattr(chunk, "chunk_position", None) == "last":  # chunks of tools have none
            self._ledger.settle(entry)
        return entry

    def _not_kept(self, fact: MessageFact, match: Match) -> Iterator[Operation]:
        self._ledger.settle(match.entry)
        yield Operation(Kind.DISCARD, Because.NOT_KEPT, _under(fact, match.entry))

    # What follows: whole messages.

    def _recognized(self, fact: MessageFact, entry: Entry) -> None:
        """Note that a task has returned what the consumer has: it stands for no other copy."""
        self._ledger.claim(entry, fact.task)
        self._ledger.alias(entry, fact.id)

    def _overrides(self, fact: MessageFact, match: Match) -> Iterator[Operation]:
        """A message for which the list drops those that tasks beside its own have written."""
        self._stands(fact, match.entry)
        lost = self._beside(fact) or [match.entry]
        if len(lost) == 1 and says(lost[0], fact.id, fact.content):
            yield self._committed(fact, lost[0], Because.CONCURRENT_WRITE)
            return
        for entry in lost[1:]:
            self._ledger.drop(entry)
        yield from self._replaced(fact, lost[0], Because.CONCURRENT_WRITE)

    def _beside(self, fact: MessageFact) -> list[Entry]:
        """What tasks of its graph have said under its id, its own too."""
        found = self._ledger.entries(fact.id)
        return [each for each in found if runner_of(each.task) == runner_of(fact.task)]

    def _stands(self, fact: MessageFact, entry: Entry) -> None:
        self._recognized(fact, entry)
        entry.epoch = self._ledger.epoch

    def _same(self, fact: MessageFact, match: Match) -> Iterator[Operation]:
        self._stands(fact, match.entry)
        gained = self._gained(fact, match.entry)
        if gained is None:
            yield from self._replaced(fact, match.entry, Because.DETAILS)
            return
        is_same = says(match.entry, fact.id, fact.content)
        commit = self._committed(fact, match.entry, match.because, gained)
        if not is_same:  # in another form, or with other white space, which the state has now
            self._ledger.rewrite(match.entry, fact.content)
        yield commit

    def _longer(self, fact: MessageFact, match: Match) -> Iterator[Operation]:
        """The rest of a message, which ends it."""
        known = match.entry
        self._stands(fact, known)
        gained = self._gained(fact, known)
        if gained is None:
            yield from self._replaced(fact, known, Because.EDITED)
            return
        missing, had_id = known.content.suffix_of(fact.content), known.id
        self._ledger.settle(known)
        self._ledger.rewrite(known, fact.content)
        rest = AIMessageChunk(content=missing or "", id=had_id, chunk_position="last")
        rest = _with_details(rest, gained)
        yield Operation(Kind.APPEND, Because.REST, fact.part._replace(data=rest))

    def _edited(self, fact: MessageFact, match: Match) -> Iterator[Operation]:
        self._stands(fact, match.entry)
        # A task beside it may have written it too, in a run before: where its update is not shown.
        self._ledger.contested.add(fact.id)
        yield from self._replaced(fact, match.entry, Because.EDITED)

    def _copy(self, fact: MessageFact, match: Match) -> Iterator[Operation]:
        self._recognized(fact, match.entry)
        if fact.is_unnamed:
            self._ledger.await_id(fact.part.ns, fact.content, entry=match.entry)
        yield self._committed(fact, match.entry, match.because)

    def _respaced_copy(self, fact: MessageFact, match: Match) -> Iterator[Operation]:
        yield from self._replaced(fact, match.entry, match.because)

    def _no_id_yet(self, fact: MessageFact, match: Match | None) -> Iterator[Operation]:
        """It goes out when a state shows its id; it takes the place of what it repeats then."""
        if match is not None:
            self._recognized(fact, match.entry)
        if (overdue := self._ledger.pending_ids.overdue()) is not None:
            yield from self._new(MessageFact(overdue), None)
        self._ledger.await_id(fact.part.ns, fact.content, part=fact.part)
        yield Operation(Kind.HOLD, Because.NO_ID_YET)

    def _new(self, fact: MessageFact, _: Match | None) -> Iterator[Operation]:
        for operation in self.reexecution.before_whole(fact):
            yield operation
            if operation.kind is Kind.COMMIT:
                return
        self._deliver(fact)
        yield Operation(Kind.BEGIN, Because.NEW, fact.part)

    def _replaced(self, fact: MessageFact, old: Entry, because: Because) -> Iterator[Operation]:
        self._ledger.drop(old)
        is_respaced = self.identity.says_the_same(fact, old, space="ends")
        if is_respaced and because is not Because.DETAILS:
            because = Because.WHITE_SPACE
        yield removing(fact.part, old.id, because)
        self._deliver(fact)
        yield Operation(Kind.REPLACE, because, fact.part)

    def _gained(self, fact: MessageFact, known: Entry) -> Details | None:
        """What a message carries that the consumer lacks; None if it must have all of it anew."""
        if not self._tells_details:
            return NO_DETAILS
        self._ledger.settle(known)
        before, known.details = known.details, details_of(fact.message)
        if before is None:
            return NO_DETAILS
        gained = before.gained_by(known.details)
        came_in_chunks = before.metadata is None  # nobody adds a chunk to what came whole
        return gained if came_in_chunks or gained == NO_DETAILS else None

    def _committed(
        self, fact: MessageFact, known: Entry, because: Because, gained: Details = NO_DETAILS
    ) -> Operation:
        """The usage of a message of which the consumer has all else, and what it has gained."""
        self._ledger.settle(known)
        message = fact.message
        is_ai = isinstance(message, AIMessage)
        tells_usage = is_ai and bool(message.usage_metadata) and not known.has_usage
        if not tells_usage and gained == NO_DETAILS:
            return Operation(Kind.COMMIT, because)
        last = AIMessageChunk(content="", id=known.id, chunk_position="last")
        if tells_usage:
            known.has_usage = True
            last.usage_metadata = message.usage_metadata
            last.response_metadata = message.response_metadata
        last = _with_details(last, gained)
        return Operation(Kind.COMMIT, because, fact.part._replace(data=last))

    def _deliver(self, fact: MessageFact) -> None:
        ledger, entry = self._ledger, Entry(fact.task, fact.id, fact.content)
        entry.note(fact.note, fact.steps)
        if self._tells_details:
            entry.details = details_of(fact.message)
        entry.is_model = fact.source == "model"
        ledger.add(entry)
        if fact.source != "model":
            ledger.claim(entry, fact.task)
        for known_id in fact.ids:  # by any of which its task may take it back
            ledger.alias(entry, known_id)
        if fact.is_unnamed:
            ledger.await_id(fact.part.ns, fact.content, entry=entry)

    # What follows: removals.

    def _all_removed(self, fact: MessageFact, _: Match | None) -> Iterator[Operation]:
        self._ledger.forget_all()
        yield Operation(Kind.REMOVE, Because.REMOVED, fact.part)

    def _runs_again(self, fact: MessageFact, _: Match | None) -> Iterator[Operation]:
        return self.reexecution.retried(fact)

    def _cut_short(self, fact: MessageFact, _: Match | None) -> Iterator[Operation]:
        """Drop a message that the ledger does not know. A known one stays: it is sent again."""
        known = self._ledger.entries(fact.id)
        for entry in known:  # so that no other of its task is taken for it
            self._ledger.claim(entry, fact.task)
        if not known:
            yield Operation(Kind.REMOVE, Because.EARLIER_STREAM, fact.part)

    def _nothing(self, *_: object) -> Iterator[Operation]:
        return iter(())

    def _removed(self, fact: MessageFact, _: Match | None) -> Iterator[Operation]:
        """A removal, under the ids by which the consumer knows the message."""
        for known_id in self._ledger.forget(fact.id, home=runner_of(fact.task)):
            if known_id == fact.id:
                yield Operation(Kind.REMOVE, Because.REMOVED, fact.part)
            else:
                yield removing(fact.part, known_id, Because.REMOVED)

    rules: ClassVar[Mapping[Case, Rule]] = {
        Case.FIRST: Rule("chunk", "nothing of it or of its task", SAID, (Kind.BEGIN,), _first),
        Case.ANOTHER: Rule(
            "chunk", "other messages of its task, or with its id", SAID, HELD, _another
        ),
        Case.NEXT: Rule("chunk", "open", SAID, (Kind.APPEND, Kind.REMOVE), _next),
        Case.AFTER_END: Rule("chunk", "complete", WHOLE, (Kind.APPEND,), _after_end),
        Case.HELD: Rule("chunk", "an earlier attempt, stale", SAID, HELD, _held),
        Case.GOES_ON: Rule("chunk", "gone", SAID, (Kind.BEGIN, Kind.APPEND), _goes_on),
        Case.NOT_KEPT: Rule(MARK, "complete", (State.COMPLETE,), (Kind.DISCARD,), _not_kept),
        Case.KEPT_BY_NOW: Rule(MARK, "committed", RETURNED, (), _nothing),
        Case.NEW: Rule("whole", "nothing, or earlier attempts", WHOLE, NEW, _new),
        Case.SAME: Rule("whole", "the same text", RETURNED, OVERRIDES, _same),
        Case.LONGER: Rule(
            "whole", "only its beginning", RETURNED, (Kind.APPEND, *REPLACED), _longer
        ),
        Case.EDITED: Rule("whole", "another text", RETURNED, REPLACED, _edited),
        Case.COPY: Rule("whole, other id", "the same text", RETURNED, (Kind.COMMIT,), _copy),
        Case.RESPACED_COPY: Rule(
            "whole, other id",
            "the same text but for white space",
            RETURNED,
            REPLACED,
            _respaced_copy,
        ),
        Case.NO_ID_YET: Rule("whole, no id", "nothing", (), (*NEW, Kind.HOLD), _no_id_yet),
        Case.OVERRIDES: Rule(
            "whole", "another write, which the list drops", RETURNED, OVERRIDES, _overrides
        ),
        Case.RUNS_AGAIN: Rule(RETRY, "any", (State.STALE, *GONE), (Kind.REMOVE,), _runs_again),
        Case.CUT_SHORT: Rule(RESUME, "any", RETURNED, (Kind.REMOVE,), _cut_short),
        Case.REMOVED: Rule("removal", "any", GONE, (Kind.REMOVE,), _removed),
        Case.OF_OUTER_GRAPH: Rule(
            "removal", "a message of the graph around it", RETURNED, (), _nothing
        ),
        Case.ALL_REMOVED: Rule("removal of all", "any", GONE, (Kind.REMOVE,), _all_removed),
    }


def _with_details(chunk: AIMessageChunk, gained: Details) -> AIMessageChunk:
    """A chunk that brings what its message has gained."""
    if gained == NO_DETAILS:
        return chunk
    told = {
        "name": gained.name,
        "additional_kwargs": dict(gained.kwargs),
        "response_metadata": {**chunk.response_metadata, **(gained.metadata or {})},
    }
    return chunk.model_copy(update=told)


def _under(fact: MessageFact, entry: Entry) -> Part:
    """The part of a fact, under the id by which the consumer has its message."""
    if entry.id == fact.id:
        return fact.part
    return fact.part._replace(data=fact.message.model_copy(update={"id": entry.id}))
