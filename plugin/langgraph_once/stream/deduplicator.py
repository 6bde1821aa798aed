"""The state machine: what of a part the consumer does not have yet."""

from __future__ import annotations

import functools
import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any

from langchain_core.messages import (
    AIMessageChunk,
    BaseMessage,
    BaseMessageChunk,
)

from langgraph_once.config import DedupConfig
from langgraph_once.errors import ConfigError
from langgraph_once.stream.annotation import annotation_of, written_by
from langgraph_once.stream.content import as_whole, content_of
from langgraph_once.stream.entries import says, with_id
from langgraph_once.stream.forms import (
    STATE_MODES,
    Because,
    DedupStats,
    ExactForm,
    Form,
    Kind,
    Operation,
)
from langgraph_once.stream.hidden import HiddenMessages, Hiding
from langgraph_once.stream.keeping import keep_undelivered
from langgraph_once.stream.ledger import Ledger
from langgraph_once.stream.lifecycle import Lifecycle
from langgraph_once.stream.places import NS_SEP, TASK_NS_KEY, PerGraph, bare, is_inside
from langgraph_once.stream.repeated import (
    changed_keys,
    is_repeated_update,
    is_unchanged,
)
from langgraph_once.stream.shapes import Part
from langgraph_once.stream.state_cut import (
    Hints,
    IsMessageKeyIn,
    StateCut,
    is_default_key,
    listed,
)

logger = logging.getLogger(__name__)

_MALFORMED = "A part of mode %r is passed on as it came: it is malformed (%s)"
MAX_STATES = 8
"""Of so many graphs the last state that was shown is held, to tell what stood in it before."""

OTHER_MODES = frozenset({"custom", "debug", "tasks", "checkpoints", "tools", "events"})


class Deduplicator:
    """Passes each piece of a stream on once.

    `feed` compares a part with the ledger and gives what is new in it: the part itself, a
    chunk with a missing rest of a text, a removal and the message that takes its place, a
    state without the messages already delivered, or nothing. Modes that carry no messages
    pass through, and so does whatever is not understood: to show something twice is better
    than to lose it.

    Args:
        config: What counts as a repetition.
        ledger: What the consumer has from earlier streams; by default nothing.
        modes: The modes that the stream was asked for, which `DedupConfig(state="auto")` needs.
        hints: What is known of the run beside its parts.
        is_message_key: Which keys of a graph hold messages, for values that are none yet.
        form: What the consumer needs, and is sent; by default all that was decided.

    Raises:
        ConfigError: `config` is none.

    Attributes:
        stats: Counts of the decisions.
    """

    def __init__(
        self,
        config: DedupConfig | None = None,
        *,
        ledger: Ledger | None = None,
        modes: Collection[str] = (),
        hints: Hints | None = None,
        is_message_key: IsMessageKeyIn = is_default_key,
        form: Form | None = None,
    ) -> None:
        if config is not None and not isinstance(config, DedupConfig):
            raise ConfigError("config", f"must be a DedupConfig, got {type(config).__name__}")
        self._form: Form = form or ExactForm()
        self.config: DedupConfig = self._form.policy(config or DedupConfig())
        if ledger is None:
            ledger = Ledger()
        else:
            # A new epoch: a task of an earlier stream that says something again runs again (D3).
            ledger.begin()
        self.ledger: Ledger = ledger
        self.stats: DedupStats = DedupStats()
        self._form.begin(ledger)
        self._messages = Lifecycle(ledger, self.config, self.stats, self._form, modes)
        self._state_cut = functools.partial(
            StateCut,
            ledger=ledger,
            stale=[],
            hints=hints,
            is_message_key=is_message_key,
            guess=self._messages.guess,
        )
        hiding = Hiding(self.config)
        self._hidden = HiddenMessages(hiding, ledger, self.config) if hiding else None
        # Looked up once: `passes` reads these three for each token.
        self._open_entry = ledger.open_entries
        self._held_retries = self._messages.reexecution.held
        self._concurrent = self._messages.guess.beside
        self._last_meta: Any = None
        self._last_id: str | None = None
        self._last_said: Any = None
        self._cuts_states = self._form.cuts_states(self.config, modes)
        self._tells_messages = not modes or "messages" in modes
        self._tells_states = not modes or "values" in modes
        self._is_interrupted = False
        self._shown_states: PerGraph[Any] = PerGraph(most=MAX_STATES)

    def undelivered(self) -> Iterator[Part]:
        """What was said in the stream before when its consumer had left."""
        undelivered = self.ledger.undelivered
        while undelivered and self._tells_messages:
            yield undelivered.popleft()
        while undelivered and self._cuts_states:
            self.ledger.forget(str(undelivered.popleft().data.id))  # a state will say it

    def keep_undelivered(self, rest: Iterable[Part], left: Iterable[Part]) -> None:
        """Note what the consumer has left too early to get, for the next stream to begin with.

        Args:
            rest: What it lacks of the part that came last.
            left: What has not been fed any more.
        """
        keep_undelivered(self.ledger.undelivered, rest)
        for part in left:
            if part.mode == "messages":
                keep_undelivered(self.ledger.undelivered, self.feed(part))
            else:
                for named in self.named(part):
                    keep_undelivered(self.ledger.undelivered, self.feed(named))

    def feed(self, part: Part) -> Iterator[Part]:
        """What the consumer lacks of `part`, in order; `part` itself is not changed."""
        with suppress(Exception):  # which comes again below
            if part.mode == "messages" and self.passes(part.data, part.meta):
                return iter((part,))
        return self._fed(part)

    def _fed(self, part: Part) -> Iterator[Part]:
        try:
            yield from self._form.sent(self.decide(part))
        except Exception as error:  # as the fields of messages are not validated when assigned
            logger.warning(_MALFORMED, part.mode, type(error).__name__)
            yield part

    def decide(self, part: Part) -> Iterator[Operation]:
        """What is to become of `part`, in order: what `feed` writes in the form of its reader.

        `feed` has a short way for the next token of a message; here that is a decision, too.
        """
        if part.mode == "messages":
            self._last_meta = None
            return iter(()) if self.hides(part) else self._message(part)
        if part.mode in STATE_MODES:
            return self._after_named(part)
        if part.mode not in OTHER_MODES:
            self.stats.unknown[part.mode] += 1
        return iter((Operation(Kind.PASS, Because.OTHER, part),))

    def named(self, part: Part) -> Iterator[Part]:
        """The messages that waited for an id that a state or an update shows, to be fed again.

        Only of a delta channel an update shows it (langgraph 1.2.24, `ensure_message_ids`).

        After an interrupt one more state of the root comes, with the writes of the tasks that are
        done. It names its messages for itself alone: the next stream applies those writes anew
        (langgraph 1.2.24, `_suppress_interrupt` in langgraph/pregel/_loop.py).
        """
        if part.mode not in STATE_MODES:
            return
        waiting, is_values = self.ledger.pending_ids, part.mode == "values"
        self._is_interrupted |= is_values and not part.ns and part.interrupts is not None
        before = [self._shown_states.get(part.ns[:depth]) for depth in range(len(part.ns) + 1)]
        if is_values:
            self._shown_states.note(part.ns, part.data)
        if self._is_interrupted:
            return
        if not any(known.in_messages for known in waiting):  # to look through a state costs more
            return
        stood = {message.id for state in before for message, _ in listed(state)}
        for message, _ in listed(part.data):
            if message.id and message.id not in stood and not self.ledger.entries(message.id):
                said = content_of(message)
                found = waiting.take(said, part.ns, snapshot=is_values, waits=True)
                if found is not None and found.part is not None:
                    yield with_id(found.part, message.id)
                elif found is not None and found.entry is not None:
                    self.ledger.alias(found.entry, message.id)

    def _after_named(self, state: Part) -> Iterator[Operation]:
        """First the messages of which a state shows the id, or which write it kept; then the rest.

        Each is decided on before the next is looked for, so that none is found twice.
        """
        for message in chain(self.named(state), self._kept_by(state)):
            yield from self.decide(message)
        yield from self._state(state)

    def _kept_by(self, state: Part) -> Iterator[Part]:
        """Messages as a list keeps them that tasks of one step have written, to be fed again.

        A cache may have answered for one of these tasks, or it was done in a run before: what each
        of them wrote was told then, and only the state tells which of it stays. An interrupt comes
        with the state of a step that has not ended.
        """
        contested = self.ledger.contested
        if not contested or state.mode != "values" or state.interrupts is not None:
            return
        shown: defaultdict[str, list[BaseMessage]] = defaultdict(list)
        for message, _ in listed(state.data):
            if message.id in contested:
                shown[message.id].append(message)
        graph = NS_SEP.join(state.ns)
        for message_id, kept in shown.items():
            known = self.ledger.entries(message_id)
            if graph:
                known = tuple(each for each in known if is_inside(each.place, graph))
            writes = {(bare(one.place), one.content) for one in known}  # a task may say one anew
            said = (any(says(one, message_id, content_of(each)) for each in kept) for one in known)
            if not known or (len(writes) <= len(kept) and all(said)):
                continue
            sent = self._form.reads_annotations
            meta = written_by(known[-1].place, "node", sent=sent, wins=True, given=True)
            yield Part(state.ns, "messages", as_whole(kept[-1]), meta)
        if not graph:
            contested.clear()

    def hides(self, part: Part) -> bool:
        """Whether a part of mode `messages` is hidden, as `DedupConfig(hide=…)` says."""
        if self._hidden is None or not self._hidden.consume(part):
            return False
        self.stats.hidden += 1
        return True

    def passes(self, message: Any, meta: Any) -> bool:
        """Whether this is the next token of a message, as nearly all parts of a stream are.

        If so, it is noted; nothing else needs to be decided. What it is not is for `feed`.
        """
        if type(message) is not AIMessageChunk:
            return False
        fields = message.__dict__  # past pydantic, which would cost half of the time
        if fields["chunk_position"] is not None:
            return False
        # The tokens of a model run share one metadata object: identity is cheaper than `==`.
        if meta is not self._last_meta or fields["id"] != self._last_id:
            # `feed` notes held retries and concurrent messages, and forgets the last message.
            entry = self._open_entry((meta.get(TASK_NS_KEY), fields["id"]))
            if entry is None or not entry.is_of(annotation_of(meta)):
                return False
            if entry.metadata is meta:
                self._messages.guess.shares_metadata = True
            if self._held_retries or self._concurrent or self._form.sees_tokens:
                return False
            self._last_meta, self._last_id, self._last_said = meta, fields["id"], entry.said
            self._outdate()
        content = fields["content"]
        # Nearly all tokens: there are no blocks, calls or usage to merge.
        if type(content) is str and not (
            fields["tool_call_chunks"] or fields["usage_metadata"] or fields["additional_kwargs"]
        ):
            if content:
                self._last_said.add_text(content)
        else:
            self._last_said.extend(message)
        return True

    def close(self, error: BaseException | None = None) -> Iterator[Part]:
        """End the stream: what is still to be said, now that nothing more comes.

        Args:
            error: What ended the stream, if it did not end by itself. The caller raises it.
        """
        # After an error the next stream of the thread goes on with what is open.
        if error is None:
            self.ledger.end()
            yield from self._form.sent(self._never_named())
            if self._form.takes_back:
                yield from self._form.sent(self._counted(self._messages.reexecution.close()))

    def _never_named(self) -> Iterator[Operation]:
        """What waits for an id in vain, under one of ours: no state that was read holds it.

        After an interrupt it waits on, for the state at the end of the step. What waits since an
        earlier stream was never written, as this one went another way.
        """
        if self._is_interrupted:
            return
        self._messages.awaits_ids = False
        for known in list(self.ledger.pending_ids):
            if known.part is not None and known.epoch == self.ledger.epoch:
                yield from self._message(known.part)
        self.ledger.pending_ids.drop_parts()

    def _outdate(self) -> None:
        """Tokens changed the client's list since the last `values`: send the next even if equal.

        Stock clients merge tokens into the state they had, and the next `values` sets it right.
        """
        if self.config.state == "full":
            self.ledger.states.clear()

    def _message(self, part: Part) -> Iterator[Operation]:
        self._outdate()
        message = part.data
        # The chunks of some providers have an empty id; a whole message of none has not come yet.
        is_chunk = isinstance(message, BaseMessageChunk)
        has_id = isinstance(message, BaseMessage) and (
            message.id or (is_chunk and message.id is not None)
        )
        if not has_id:
            return iter((Operation(Kind.PASS, Because.OTHER, part),))
        return self._counted(self._messages.feed(part))

    def _counted(self, operations: Iterable[Operation]) -> Iterator[Operation]:
        for operation in operations:
            self.stats.count(operation)
            yield operation

    def _state(self, part: Part) -> Iterator[Operation]:
        is_values = part.mode == "values"
        if is_values and not self._tells_states:
            return  # it was read for the ids that it shows
        self._last_meta = None
        if is_values and not part.ns and self._form.merges_states:
            self._messages.reexecution.state_passes()
        # D11: a resume sends the updates of tasks that were done before it once more.
        if not is_values and is_repeated_update(part, self.ledger):
            yield self._known(Because.SAME_UPDATE)
            return
        if self._cuts_states:
            data = self._state_cut(part).cut()
        elif is_values and not self._form.merges_states and is_unchanged(part, self.ledger):
            yield self._known(Because.SAME_STATE)
            return
        elif is_values and self.config.state == "changed":
            data = changed_keys(part, self.ledger)
        else:
            data = part.data
        cut = part if data is part.data else part._replace(data=data)
        yield Operation(Kind.STATE, Because.NEW, cut)

    def _known(self, because: Because) -> Operation:
        """The consumer has a whole state or update."""
        operation = Operation(Kind.STATE, because)
        self.stats.suppressed += 1
        self.stats.count(operation)
        return operation
