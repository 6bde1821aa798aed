"""The ledger: what one consumer has received."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import takewhile
from typing import Literal, TypeAlias

from langchain_core.messages import BaseMessage

from langgraph_once.errors import ConfigError, LedgerError
from langgraph_once.stream.content import Content, Space, content_of
from langgraph_once.stream.entries import (
    Entry,
    PendingId,
    PendingIds,
    Seeds,
    State,
    Texts,
    is_original,
    saying,
    with_id,
)
from langgraph_once.stream.keeping import VERSION, fill_ledger, pack_ledger
from langgraph_once.stream.places import (
    NS_SEP,
    PerGraph,
    Place,
    bare,
    is_inside,
    lineage,
    names,
)
from langgraph_once.stream.shapes import Part

Fingerprints: TypeAlias = dict[str, bytes | None]
"""Of a state, by its keys."""

# A thread of that many is longer than a model can read; what is forgotten comes once more.
MAX_MESSAGES = 20_000
MAX_BYTES = 64 * 1024 * 1024
OVERHEAD_BYTES = 400
"""What a message costs beside its text, roughly."""

# Bounds memory; 16 bytes and a number each. A forgotten one may come again, at worst.
MAX_UPDATES = 4096


class NodeNow:
    """The tasks of a node in this stream, what they say, and how many have sent their update.

    An update names the node alone.
    """

    def __init__(self) -> None:
        self.tasks: dict[str, None] = {}
        self.texts: Texts = Texts()
        self.updates: int = 0


class Ledger:
    """What one consumer has received, over one stream or several.

    Give the ledger of an earlier stream to a later one (a resume, a reconnect) and what the
    consumer has is not sent again. One writer at a time; not thread-safe.

    It is bounded: past a limit the oldest finished messages are forgotten. What that costs is
    a repetition, never a loss: a copy of a forgotten message is taken for a new one.

    Args:
        max_messages: The most messages to know.
        max_bytes: The most text of finished messages to keep.

    Raises:
        ConfigError: A limit is no positive number.

    Attributes:
        epoch: The number of the stream that writes, from 0.
        ended: The number of the last stream that came to its end.
        added: How many messages it has got.
        states: For each namespace the fingerprints of the last state delivered, by key.
        state_before: Those of the state before the last one, in its namespace.
        snapshots: For each namespace the messages that its state held last, with their places.
        updates: Fingerprints of updates delivered, each with its epoch.
        undelivered: What was said when the consumer had left; noted as if it had it.
        pending_ids: What was written without an id, and no state has shown yet.
        contested: The ids of messages that tasks of a step which has not ended may each have
            written; its state tells which of them the list keeps.
        hidden: What was hidden from the consumer, where something is.
        reader: The remote stream that writes now, where one does.
        left_at: The checkpoint that the thread stood at when a stream left it.
    """

    def __init__(self, *, max_messages: int = MAX_MESSAGES, max_bytes: int = MAX_BYTES) -> None:
        if not all(isinstance(limit, int) and limit > 0 for limit in (max_messages, max_bytes)):
            raise ConfigError("Ledger", "`max_messages` and `max_bytes` must be positive numbers")
        self.max_messages: int = max_messages
        self.max_bytes: int = max_bytes
        self.epoch: int = 0
        self.ended: int = -1
        self.added: int = 0
        self.states: PerGraph[Fingerprints] = PerGraph()
        self.state_before: Fingerprints | None = None
        self.snapshots: PerGraph[Mapping[str, Place]] = PerGraph()
        self.updates: dict[bytes, int] = {}
        self.undelivered: deque[Part] = deque()
        self.pending_ids: PendingIds = PendingIds()
        self.contested: set[str] = set()
        self.hidden: Ledger | None = None
        self.reader: object = None
        self.left_at: str = ""
        self._seeds = Seeds()
        self._open: dict[tuple[str, str], Entry] = {}
        self._settled: dict[Entry, int] = {}
        self._bytes = 0
        self._by_id: dict[str, list[Entry]] = {}
        self._tasks: defaultdict[str, Texts] = defaultdict(Texts)
        self._nodes: defaultdict[str, NodeNow] = defaultdict(NodeNow)
        self._stale: dict[Entry, None] = {}
        self._ran: PerGraph[None] = PerGraph()
        self._waits = False

    def __len__(self) -> int:
        """How many messages are known."""
        return len(self._settled) + len(self._open)

    def __repr__(self) -> str:
        return f"Ledger({len(self)} messages, {self._bytes} bytes, epoch {self.epoch})"

    def begin(self) -> None:
        """Start a new epoch: a task that emits again is a re-execution."""
        self.epoch += 1
        self._nodes.clear()
        for entry in list(self._open.values()):
            self.settle(entry)
        for entry in self.stale():
            entry.stand()
        self._ran.clear()
        self._waits = False
        self.contested.clear()
        self.states.clear()  # a new stream may have a new reader, who wants a state first
        if self.hidden is not None:
            self.hidden.begin()

    def rejoin(self) -> set[str]:
        """Take back that a stream has begun: it is the last one, read on after a cut.

        The messages of the last epoch are noted again, under their tasks: as a stream begins, a
        ledger forgets which tasks run, and copies are found by their tasks.

        Returns:
            The ids of these messages, of those too that are hidden.
        """
        self.epoch -= 1
        last = [entry for entry in self.known() if entry.epoch == self.epoch]
        for entry in last:
            self.drop(entry)
            self.add(entry)
        hidden = set[str]() if self.hidden is None else self.hidden.rejoin()
        return hidden.union(entry.id for entry in last)

    def seed(self, messages: Iterable[BaseMessage], known: Collection[str] = ()) -> None:
        """Note messages of the thread that the consumer has from before.

        Args:
            messages: The messages.
            known: The ids of those that stood there when this ledger was kept: none of them is what
                waited for an id then.
        """
        self._seeds = Seeds(messages)
        for message_id, message in self._seeds.items() if self.pending_ids else ():
            if message_id not in self._by_id and message_id not in known:
                self.name(message_id, content_of(message), ns=(), snapshot=True)

    # Messages: what is known, by ids and tasks.

    @property
    def open_entries(self) -> Callable[[tuple[str, str]], Entry | None]:
        """The function that finds the message that a task is streaming under an id."""
        return self._open.get

    def entries(self, message_id: str) -> tuple[Entry, ...]:
        """What the consumer has under this id, or as another id that this one is a copy of."""
        if message_id not in self._by_id and message_id in self._seeds:
            content, details = self._seeds.take(message_id)
            entry = Entry("", message_id, content, details=details)
            self.add(entry)
            # It was said before this stream, so its task may say it again.
            entry.epoch = self.epoch - 1
        return tuple(self._by_id.get(message_id, ()))

    def known(self) -> list[Entry]:
        """Every message; those that still stream come last."""
        return [*self._settled, *self._open.values()]

    def is_news(self, task: str, message_id: str) -> bool:
        """Whether nothing is known under this id, and this task has said nothing."""
        known = message_id in self._by_id or message_id in self._seeds or task in self._tasks
        return not (known or self._stale)

    def stood(self, message: BaseMessage) -> bool:
        """Whether a message stood in the thread before, as it is now, and did not come since."""
        return self._seeds.has(message)

    def hides(self, message_id: str) -> bool:
        """Whether the message of an id was hidden from the consumer."""
        return self.hidden is not None and bool(self.hidden.entries(message_id))

    def listed(self, ns: Place) -> list[str]:
        """The messages that the consumer has of the states of the graph `ns`."""
        return [entry.id for entry in self.known() if entry.within == NS_SEP.join(ns)]

    def said_in(self, task: str) -> list[Entry]:
        """What a task has said, and the tasks inside it, in order."""
        return [e for name in names(task) if name in self._tasks for e in self._tasks[name].entries]

    def said_before(self, task: str) -> list[Entry]:
        """What this very task said in earlier streams and has not said again since."""
        known = self._tasks[task].entries if task in self._tasks else ()
        said = takewhile(lambda entry: entry.began_in < self.epoch, known)
        return [entry for entry in said if entry.task == task and entry.epoch < self.epoch]

    def open_in(self, task: str) -> Iterator[Entry]:
        """What this very task is streaming, the last first."""
        known = self._tasks[task].open_last_first() if task in self._tasks else ()
        return (entry for entry in known if entry.task == task)

    def stale(self) -> list[Entry]:
        """What attempts said that failed, but for what counts again and what is gone."""
        self._stale = {entry: None for entry in self._stale if entry.state is State.STALE}
        return list(self._stale)

    # Messages: what becomes of one.

    def add(self, entry: Entry) -> None:
        """Note a message that the consumer gets, whole or its first chunk."""
        entry.epoch = entry.began_in = self.epoch
        self.added = entry.number = self.added + 1
        entry.stand()
        for known_id in entry.ids:
            self._by_id.setdefault(known_id, []).append(entry)
        self._put(entry)
        if entry.is_open:
            if (before := self._open.get((entry.task, entry.id))) is not None:
                self.settle(before)  # another run of its task; no chunk of that is found any more
            self._open[entry.task, entry.id] = entry
            self._evict()
        else:
            self._keep(entry)

    def settle(self, entry: Entry) -> None:
        """Note that a message is complete, unless that is known."""
        if entry.is_open:
            self._open.pop((entry.task, entry.id), None)
            for texts in self._indexes(entry):
                texts.settle(entry)
            self._keep(entry)

    def _keep(self, entry: Entry) -> None:
        """Note a complete message; only such are ever forgotten."""
        entry.settle()
        said = entry.content
        size = OVERHEAD_BYTES + len(said.text) + sum(len(args) for *_, args in said.calls)
        self._settled[entry] = size
        self._bytes += size
        self._evict()

    def _evict(self) -> None:
        while len(self) > self.max_messages or self._bytes > self.max_bytes:
            # The oldest; where all stream, these are chunks that never came to an end.
            self.drop(next(iter(self._settled or self._open.values())))

    def alias(self, entry: Entry, message_id: str) -> None:
        """Note another id of a message."""
        if message_id not in entry.ids:
            entry.ids.append(message_id)
            self._by_id.setdefault(message_id, []).append(entry)

    def rewrite(self, entry: Entry, said: Content) -> None:
        """Note that the consumer has this of a message now, which is complete."""
        found_in = [texts for texts in self._indexes(entry) if texts.discard(entry)]
        entry.said = said
        for texts in found_in:
            texts.add(entry)

    def claim(self, entry: Entry, task: str) -> None:
        """Note that a message of `task` was found to be this one: it stands for no other there."""
        entry.claimed.add(task)
        entry.stand()
        nodes = (self._nodes[name].texts for name in names(task) if name in self._nodes)
        for texts in (*nodes, self._tasks.get(task)):
            if texts is not None:
                texts.discard(entry)

    def outdate(self, entry: Entry) -> None:
        """Note that the attempt that said it has failed."""
        entry.state = State.STALE
        self._stale[entry] = None

    def take_up(self, entry: Entry, ns: Place) -> None:
        """Note that the graph `ns` has a message now that came in a state of a graph inside it.

        What another graph inside it does with the message concerns this one, then.
        """
        home = NS_SEP.join(ns)
        if entry.within and (not home or is_inside(entry.within, home)):
            self._take_out(entry)
            entry.within = home
            self._put(entry)

    def drop(self, entry: Entry) -> None:
        """Know a message no longer."""
        if entry.state is State.GONE:
            return
        entry.state = State.GONE
        self._bytes -= self._settled.pop(entry, 0)
        if entry.is_open:
            self._open.pop((entry.task, entry.id), None)
        for known_id in entry.ids:
            known = self._by_id[known_id]
            known.remove(entry)
            if not known:
                del self._by_id[known_id]
        self._take_out(entry)

    def _put(self, entry: Entry) -> None:
        for task in lineage(entry.place):
            node = self._nodes[bare(task)]
            node.tasks[task] = None
            node.texts.add(entry)
            self._tasks[task].add(entry)

    def _indexes(self, entry: Entry) -> list[Texts]:
        """The indexes that an entry may be in."""
        around = lineage(entry.place)
        nodes = [self._nodes[node].texts for node in map(bare, around) if node in self._nodes]
        return [*nodes, *(self._tasks[task] for task in around if task in self._tasks)]

    def _take_out(self, entry: Entry) -> None:
        for texts in self._indexes(entry):
            texts.discard(entry)
            texts.entries.pop(entry, None)
        for task in lineage(entry.place):
            if task in self._tasks and not self._tasks[task].entries:
                del self._tasks[task]
                if (node := self._nodes.get(bare(task))) is not None:
                    node.tasks.pop(task, None)

    def deliver_in_state(self, message_id: str, content: Content, ns: Place) -> Entry:
        """Note a message delivered in a state or an update of the graph `ns`."""
        entry = Entry("", message_id, content, within=NS_SEP.join(ns))
        self.add(entry)
        return entry

    # Copies.

    def goes_on(
        self, message_id: str, content: Content, task: str, ns: Place, *, unnamed: bool
    ) -> bool:
        """Whether the last stream, which was cut short, had any of a message; note its id, if so.

        Args:
            message_id: The id.
            content: What the message says.
            task: The task of the graph `ns` that says it, named as by `bare`.
            ns: The graph.
            unnamed: The state will know the message by another id.
        """
        if self.entries(message_id):
            return True
        last = [
            entry
            for entry in self.known()
            if entry.epoch == self.epoch - 1 and task in map(bare, lineage(entry.task))
        ]
        plain = (e for e in last if unnamed and not (e.is_model or task in e.claimed))
        had = saying(content, plain)
        for entry in last if had is None else ():
            is_begun = content.is_copy_of(entry.content) or content.begins_with(entry.content)
            if is_begun and entry.state is State.COMPLETE:
                had = entry
                break
        if had is None:
            return False
        self.claim(had, task)
        self.alias(had, message_id)
        if unnamed and had.is_model:
            self.await_id(ns, content, entry=had)
        return True

    def match_copy(self, task: str, content: Content, *, space: Space = "same") -> Entry | None:
        """The message that a new id in `task` repeats, if no other has been found to.

        That is what a model said in the same task, or anything said by tasks inside it. One
        with other white space is it only if none says just the same.
        """
        known = [self._tasks[name] for name in names(task) if name in self._tasks]
        alike = [entry for texts in known for entry in texts.like(content)]
        for allowed in dict.fromkeys(("same", space)):
            for entry in alike:
                if task not in entry.claimed and is_original(entry, content, task, allowed):
                    return entry
        return None

    def match_in_update(self, name: str, content: Content) -> Entry | None:
        """The message that an update of a node, named as by `bare`, repeats under a new id or none.

        Each message of the tasks that run stands for one copy.
        """
        if (node := self._nodes.get(name)) is None:
            return None
        for entry in node.texts.like(content):
            for task in lineage(entry.place) if entry.epoch == self.epoch else ():
                is_free = task in node.tasks and not entry.claimed & {task, name}
                if is_free and is_original(entry, content, task):
                    return entry
        return None

    def note_update_of(self, name: str) -> None:
        """Note that a task of a node has sent its update; all of them may be done by now."""
        if (node := self._nodes.get(name)) is not None:
            node.updates += 1
            # When as many came as there are tasks, each has sent its own.
            if node.updates >= len(node.tasks):
                del self._nodes[name]

    def await_id(
        self,
        ns: Place,
        content: Content,
        *,
        entry: Entry | None = None,
        part: Part | None = None,
        in_update: bool = False,
    ) -> None:
        """Note a message that the graph `ns` wrote and its reducer is to name, as `PendingId`."""
        pending = PendingId(
            ns=ns, content=content, entry=entry, part=part, in_update=in_update, epoch=self.epoch
        )
        self.pending_ids.note(pending)

    def name(self, message_id: str, content: Content, *, ns: Place, snapshot: bool) -> bool:
        """Whether an id that is not known yet is that of a message written without one."""
        known = self.pending_ids.take(content, ns, snapshot=snapshot)
        if known is None:
            return False
        if known.entry is not None:
            self.alias(known.entry, message_id)
        else:
            self.deliver_in_state(message_id, content, known.ns)
        if known.part is not None:
            self.undelivered.append(with_id(known.part, message_id))
        return True

    def forget(self, message_id: str, *, home: str = "") -> list[str]:
        """The consumer drops this message: what comes under its id is new.

        Args:
            message_id: Its id.
            home: The task that runs the graph that drops it; one beside may have this id, too.

        Returns:
            The ids under which the consumer has it, which a `RemoveMessage` must name.
        """
        dropped = [entry for entry in self.entries(message_id) if not entry.is_beside(home)]
        for entry in dropped:
            self.drop(entry)
        return list(dict.fromkeys(entry.id for entry in dropped)) or [message_id]

    def forget_all(self) -> None:
        """The consumer drops every message, those too that the thread had before."""
        self._seeds = Seeds()
        for entry in self.known():
            self.drop(entry)

    def had_update(self, ns: Place, mark: bytes) -> bool:
        """Whether the stream before had an update of this fingerprint, and this may repeat it.

        A graph that goes on repeats what was done of its step before it runs anything.
        """
        return self.updates.get(mark) == self.epoch - 1 and ns not in self._ran

    def note_update(self, ns: Place, mark: bytes | None, *, ran: bool, waits: bool) -> None:
        """Note an update of this fingerprint, if it has one.

        Args:
            ns: The graph that sends it.
            mark: The fingerprint.
            ran: A task ran for it.
            waits: It says that a task waits for an answer, so that its step is not finished.
        """
        if ran:
            self._ran.note(ns, None)
        self._waits = self._waits or waits
        if mark is not None:
            # Out and in again, so that the first in the dict is the oldest.
            self.updates.pop(mark, None)
            self.updates[mark] = self.epoch
            if len(self.updates) > MAX_UPDATES:
                del self.updates[next(iter(self.updates))]

    def end(self) -> None:
        """Note that the stream has come to its end. Unless a task waits, no step is unfinished."""
        self.ended = self.epoch
        if not self._waits:
            self.forget_updates()

    def forget_updates(self) -> None:
        """Note that the next stream repeats no update, though one of a cache may equal an old one.

        A stream repeats what was done of a step amid which the one before stopped. One that begins
        with an input, goes to a node, or goes on from another checkpoint repeats nothing.
        """
        self.updates.clear()

    def snapshot(self, root: Place, listed: Mapping[str, Place]) -> Mapping[str, Place]:
        """Note which messages a state holds now, each with the place of its list.

        Returns:
            Those that the state at `root` held before and no longer does.
        """
        before = self.snapshots.get(root, {})
        self.snapshots.note(root, listed)
        return {known: place for known, place in before.items() if known not in listed}

    # Between streams.

    def to_bytes(self) -> bytes:
        """The ledger as bytes, for another process. They hold the text of the messages."""
        return self.beside({}, is_done=False)

    def beside(self, state: Mapping[str, BaseMessage], *, is_done: bool) -> bytes:
        """What the next stream of a thread must know and its state does not tell.

        Args:
            state: The messages in the state of the thread, by their ids.
            is_done: Whether no step is under way.
        """
        return pack_ledger(self, state, is_done=is_done)

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        *,
        on_error: Literal["raise", "fresh"] = "raise",
        beside: Callable[[], Mapping[str, BaseMessage]] = dict,
    ) -> Ledger:
        """Read a ledger that `to_bytes` or `beside` wrote.

        What an older version wrote is an empty ledger: something may come once more.

        Args:
            data: The bytes.
            on_error: For damaged bytes, or those of a newer version: raise, or start afresh.
            beside: Finds the messages in the state of the thread, by their ids; asked where the
                ledger names some of them.

        Raises:
            LedgerError: These bytes are no ledger that this version can read.
        """
        try:
            return fill_ledger(data, cls(), beside)
        except LedgerError as error:
            if on_error == "raise" and (error.version or VERSION) >= VERSION:
                raise
            return cls()
