"""One stream of a wrapped graph, from the ledger it starts with to the one it leaves.

While a graph streams, its saver is asked for nothing: threads of LangGraph may be writing there.
Under which checkpoint a ledger belongs is told by the stream itself: in mode `checkpoints` comes
the id of each, after all that was said before it and ahead of all that comes later.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.constants import START
from langgraph.pregel import Pregel

from langgraph_once.config import DedupConfig
from langgraph_once.stream.bookkeeping import (
    AsyncSaves,
    Call,
    Calls,
    FailureGuard,
    Saves,
    aanswer,
    answer,
)
from langgraph_once.stream.chunk_filter import Expand, Opened
from langgraph_once.stream.dedup.states.state_cut import (
    in_lists,
    listed_ids,
    listed_unnamed,
)
from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.ledger.ledger_store import StreamAddress, StreamStateStore
from langgraph_once.stream.part.envelope import INTERRUPT_KEY, Part
from langgraph_once.stream.part.messages_within import entries_of, found_in_input
from langgraph_once.stream.running.run import Run

__all__ = ["Begun", "StreamThread", "aopened", "opened", "unread"]

UNREAD = "What the consumer of a stream has was not read"

REST_PER_SAVE = 20
"""How much longer than the last note of a ledger took, none is made: a twentieth of the time."""


@dataclass(kw_only=True)
class StreamThread:
    """The thread that a stream runs in, and where its ledgers are kept."""

    config: RunnableConfig
    """The config of the stream."""

    saver: BaseCheckpointSaver[Any]
    """Keeps the thread."""

    store: StreamStateStore
    """Keeps its ledgers."""

    dedup: DedupConfig
    """The bounds of a new ledger."""

    graph: Pregel[Any, Any, Any, Any] | None
    """Reads states of which a checkpoint holds only what is new (`DeltaChannel`); None where each
    holds its whole state."""

    keys: frozenset[str]
    """The keys of its state; none where a functional graph keeps what it returns."""

    is_resumed: bool
    """Whether the stream goes on from a checkpoint."""

    may_repeat: bool
    """Whether the stream may begin with updates of the one before, `may_repeat`."""

    may_watch: bool = False
    """Whether the graph can be asked for the mode `checkpoints`; known when it is open."""

    _saves: Saves | AsyncSaves = field(init=False)
    _start_at: StreamAddress | None = None
    _at: StreamAddress | None = None
    _before: StreamAddress | None = None
    _rests_until: float = 0.0
    _state: Any = None
    """The state at the checkpoint that it came to last."""

    def __post_init__(self) -> None:
        asked = self.config["configurable"]
        self._id = str(asked["thread_id"])
        self._ns = str(asked.get("checkpoint_ns") or "")

    def open(self, saves: Saves) -> Ledger:
        """The ledger of the checkpoint that the stream starts from.

        Args:
            saves: Saves those of the checkpoints that it comes to.
        """
        self._saves = saves
        guard = FailureGuard(UNREAD)
        return self._opened(answer(self._opening(guard), guard))

    async def aopen(self, saves: AsyncSaves) -> Ledger:
        """`open`, async."""
        self._saves = saves
        guard = FailureGuard(UNREAD)
        return self._opened(await aanswer(self._opening(guard), guard))

    def checkpoints(self, ledger: Ledger, *, wanted: bool) -> Expand:
        """What is made of a part of mode `checkpoints`: nothing else, and the ledger is kept.

        Args:
            ledger: What the consumer has.
            wanted: Whether the consumer has asked for it as well.
        """

        def expand(part: Part) -> Iterable[Part]:
            with self._saves.guard():
                self._pass(part, ledger)
            return (part,) if wanted else ()

        return expand

    def _pass(self, part: Part, ledger: Ledger) -> None:
        """Note that the graph has come to another checkpoint, and what the consumer has by then.

        So a killed process loses only what it said later. A checkpoint must not know of what came
        after it, or a replay from there would leave that out.
        """
        if part.ns:
            return  # of a graph inside; a remote one has the same thread id, on its server
        where, coming = part.data["config"]["configurable"], part.data["next"]
        at = self._at_checkpoint(where)
        before, self._at, self._before = self._before, at, None if coming == [START] else at
        parent = (part.data["parent_config"] or {}).get("configurable")
        began = time.monotonic()
        # With durability "exit" only the last is stored, and the parent of each is the one before
        # the run. Before the first node runs nothing is new, and the end saves the ledger anyway.
        is_stored = before is not None and parent and self._at_checkpoint(parent) == before
        self._state = self._of_state(part.data["values"])
        if is_stored and coming and began >= self._rests_until:
            self._saves.put(at, ledger, in_lists(self._state))
            now = time.monotonic()
            self._rests_until = now + REST_PER_SAVE * (now - began)

    def end(self, ledger: Ledger) -> None:
        """Keep the ledger with the checkpoint that the stream came to."""
        if (at := self._at or self._start_at) is not None:
            with self._saves.guard():
                self._saves.put(at, ledger, in_lists(self._state))

    def _opening(self, guard: FailureGuard) -> Calls[tuple[Ledger, StreamAddress | None, bool]]:
        """The ledger, the address that the stream starts from, and whether it may be watched."""
        found = yield Call(self.saver, "get_tuple", self.config)
        saved = address = None
        with guard():
            for address in self._addresses(found):
                saved = yield Call(self.store, "load_stream_state", address)
                if saved is not None:
                    break
        whole: Any = {}
        if self.graph is not None:
            whole = (yield Call(self.graph, "get_state", self.config)).values
        was_left = found is not None and address == next(self._addresses(found))
        before = found
        if found is not None and saved is not None and not was_left:
            before = yield Call(self.saver, "get_tuple", found.parent_config)
        ledger = self._ledger(saved, was_left=was_left)
        self._state = self._state_at(found, whole)
        self._seed(ledger, self._state_at(before, whole))
        may_watch = False
        with self._saves.guard():
            _copy_interrupts(found)
            may_watch = True
        return ledger, next(self._addresses(found), None), may_watch

    def _opened(self, found: tuple[Ledger, StreamAddress | None, bool] | None) -> Ledger:
        if found is None:
            return Ledger.within(self.dedup)
        ledger, start_at, self.may_watch = found
        # Else nobody tells where the graph gets to, and a ledger belongs to that checkpoint.
        self._start_at = start_at if self.may_watch else None
        return ledger

    def _addresses(self, found: CheckpointTuple | None) -> Iterator[StreamAddress]:
        """Where the ledger of a checkpoint is; if nowhere, that of the one before tells most."""
        if found is not None:
            yield StreamAddress(self._id, self._ns, found.checkpoint["id"])
            if found.parent_config is not None:
                yield self._at_checkpoint(found.parent_config["configurable"])

    def _at_checkpoint(self, where: Mapping[str, Any]) -> StreamAddress:
        return StreamAddress(self._id, self._ns, where["checkpoint_id"])

    def _state_at(self, found: CheckpointTuple | None, whole: Any) -> Mapping[str, Any]:
        """The state at a checkpoint; `whole` has what a checkpoint holds in part."""
        if found is None:
            return {}
        return self._of_state({**found.checkpoint["channel_values"], **dict(entries_of(whole))})

    def _of_state(self, values: Any) -> Mapping[str, Any]:
        entries = values.items() if isinstance(values, Mapping) else ()
        return {key: value for key, value in entries if key in self.keys}

    def _ledger(self, saved: bytes | None, *, was_left: bool) -> Ledger:
        """The ledger that was saved, if one was.

        Args:
            saved: Its bytes.
            was_left: It was saved with the checkpoint that the stream starts from.
        """
        if saved is not None:
            # A ledger of a newer version, or damaged: the state tells most of it.
            ledger = Ledger.from_bytes(saved, on_error="fresh")
            ledger.limit(self.dedup)  # which may have changed since
        else:
            ledger = Ledger.within(self.dedup)
        if not (self.may_repeat and was_left):  # else the step that was under way is no more
            ledger.forget_updates()
        return ledger

    def _seed(self, ledger: Ledger, before: Any) -> None:
        """Note what the state tells of what the consumer has.

        Args:
            ledger: What the consumer has that no state tells.
            before: The state at the checkpoint with which the ledger was saved.
        """
        stood = listed_ids(before)
        ledger.seed((message for _, message in found_in_input(self._state)), stood)
        for place, said in listed_unnamed(self._state).items():
            ledger.pending_ids.state((), place, said)
        ledger.snapshot((), {**ledger.snapshots.get((), {}), **stood})


class Begun(Protocol):
    """One stream of a graph that is about to be advanced for the first time."""

    run: Run
    thread: StreamThread | None

    def filtering(self, ledger: Ledger) -> Opened:
        """The stream for a reader who has what this ledger says."""


@contextmanager
def opened(begin: Callable[[], Begun]) -> Iterator[Opened]:
    """A stream, for `filtered`; the ledger is saved when it ends, well or badly.

    Args:
        begin: Begins the stream, when it is first advanced: only then the reader may announce
            itself.
    """
    begun = begin()
    if (thread := begun.thread) is None:
        yield begun.filtering(Ledger.within(begun.run.config))
        return
    saves = Saves(thread.store)
    ledger = thread.open(saves)
    chunks, new, around_first = begun.filtering(ledger)
    try:
        yield chunks, new, around_first
    except BaseException:
        with saves.guard():
            new.keep_undelivered(unread(begun.run))
        raise
    finally:
        thread.end(ledger)
        saves.wait()


@asynccontextmanager
async def aopened(begin: Callable[[], Begun]) -> AsyncIterator[Opened]:
    """`opened`, async."""
    begun = begin()
    if (thread := begun.thread) is None:
        yield begun.filtering(Ledger.within(begun.run.config))
        return
    saves = AsyncSaves(thread.store)
    ledger = await thread.aopen(saves)
    chunks, new, around_first = begun.filtering(ledger)
    try:
        yield chunks, new, around_first
    except BaseException:
        with suppress(asyncio.CancelledError):  # which a cancelled scope of anyio raises again
            await asyncio.sleep(0)  # what was sent from other threads is on its way
        with saves.guard():
            new.keep_undelivered(unread(begun.run))
        raise
    finally:
        thread.end(ledger)
        await saves.wait()


def _copy_interrupts(found: CheckpointTuple | None) -> None:
    """Do what LangGraph does in mode `checkpoints` as it resumes; some values cannot be copied.

    It makes dicts of the interrupts that a thread waits for (1.2.24, `map_debug_checkpoint`). Of a
    `defaultdict`, before Python 3.12, that raises, and in no other mode.
    """
    for _, channel, value in (found.pending_writes if found is not None else None) or ():
        if channel == INTERRUPT_KEY:
            for each in value if isinstance(value, list | tuple) else (value,):
                asdict(each)


TELLS_OF_MESSAGES = frozenset({"updates", "values", "checkpoints"})
"""A cached update has messages that mode `messages` lacks, a state shows their ids, and a
checkpoint which ledger belongs to it."""


def unread(run: Run) -> Iterator[Part]:
    """The parts of an ended run that tell of messages and that nobody has read."""
    put: Any = run.put
    if isinstance(put, functools.partial):  # in async runs it is called in the loop's own time
        put = put.args[0]
    # Private upstream (langgraph 1.2.24, langgraph/_internal/_queue.py); the law with cuts
    # notices when it changes.
    sent = getattr(getattr(put, "__self__", None), "_queue", ())
    while sent:
        ns, mode, data = sent.popleft()
        if mode == "messages":
            yield Part(ns, mode, *data)
        elif mode in TELLS_OF_MESSAGES:
            yield Part(ns, mode, data)
