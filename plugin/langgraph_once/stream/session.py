"""One stream of a wrapped graph, from the ledger it starts with to the one it leaves."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, aclosing, closing, contextmanager, nullcontext
from typing import Any, NamedTuple

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.pregel import Pregel

from langgraph_once.config import DedupConfig
from langgraph_once.stream.dedup.states.state_cut import listed_ids, listed_unnamed
from langgraph_once.stream.dropin import ChunkFilter, afiltered, filtered
from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.ledger.store import StreamAddress, StreamStateStore
from langgraph_once.stream.part.messages_within import entries_of, found_in_input
from langgraph_once.stream.running.run import Run
from langgraph_once.stream.running.undelivered import undelivered

__all__ = ["FilterOf", "Opened", "Thread", "astreamed", "streamed"]

logger = logging.getLogger(__name__)

FilterOf = Callable[[Ledger], ChunkFilter]

REST_PER_SAVE = 20
"""How much longer than the last note of a ledger took, none is made: a twentieth of the time."""


class Thread:
    """The thread that a stream runs in, and where its ledgers are kept.

    Args:
        config: The config of the stream.
        checkpointer: Where the thread is kept.
        store: Where its ledgers are kept.
        dedup: The bounds of a new ledger.
        graph: Reads states of which a checkpoint holds only what is new (`DeltaChannel`); None
            where each holds its whole state.
        may_repeat: Whether the stream may begin with updates of the one before, `may_repeat`.
    """

    def __init__(
        self,
        config: RunnableConfig,
        checkpointer: BaseCheckpointSaver[Any],
        store: StreamStateStore,
        dedup: DedupConfig,
        graph: Pregel[Any, Any, Any, Any] | None = None,
        *,
        may_repeat: bool = True,
    ) -> None:
        self._may_repeat = may_repeat
        self._graph = graph
        self._checkpointer = checkpointer
        self._store = store
        self._dedup = dedup
        self._start = config
        asked = config["configurable"]
        self._rests_until = 0.0
        self._noted: tuple[int, bytes] | None = None
        self._id = str(asked["thread_id"])
        self._ns = str(asked.get("checkpoint_ns", ""))
        self._head: RunnableConfig = {
            "configurable": {"thread_id": asked["thread_id"], "checkpoint_ns": self._ns}
        }

    def open(self) -> Ledger:
        """The ledger of the checkpoint that the stream starts from."""
        found = self._checkpointer.get_tuple(self._start)
        saved = address = None
        for address in self._addresses(found):
            with _told("read"):
                saved = self._store.load_stream_state(address)
            if saved is not None:
                break
        state = self._graph.get_state(self._start).values if self._graph is not None else {}
        return self._ledger(found, saved, address, state)

    async def aopen(self) -> Ledger:
        """`open`, async."""
        found = await self._checkpointer.aget_tuple(self._start)
        saved = address = None
        for address in self._addresses(found):
            with _told("read"):
                saved = await self._store.aload_stream_state(address)
            if saved is not None:
                break
        whole = await self._graph.aget_state(self._start) if self._graph is not None else None
        return self._ledger(found, saved, address, whole.values if whole is not None else {})

    def save(self, ledger: Ledger) -> None:
        """Keep the ledger with the checkpoint that the stream came to."""
        with _told("saved"):
            if (found := self._latest()) is not None:
                self._store.save_stream_state(self._address(found), ledger.to_bytes())

    async def asave(self, ledger: Ledger) -> None:
        """`save`, async."""
        with _told("saved"):
            if (found := await self._alatest()) is not None:
                await self._store.asave_stream_state(self._address(found), ledger.to_bytes())

    def note(self, step: int, ledger: Ledger) -> None:
        """Note the ledger as a step begins, so that a killed process loses that step alone.

        Not so often that more than a small part of the time goes into it.
        """
        began = time.monotonic()
        if began >= self._rests_until:
            self._noted = step - 1, ledger.to_bytes()
            now = time.monotonic()
            self._rests_until = now + REST_PER_SAVE * (now - began)

    def save_noted(self) -> None:
        """Keep what was noted with the checkpoint of the step before, once that is written.

        With no other: a checkpoint must not know of what came after it, or a replay from there
        would leave that out.
        """
        if self._noted is not None:
            found = self._latest()
            if found is not None and found.metadata.get("step") == self._noted[0]:
                with _told("saved"):
                    self._store.save_stream_state(self._address(found), self._noted[1])
                self._noted = None

    async def asave_noted(self) -> None:
        """`save_noted`, async."""
        if self._noted is not None:
            found = await self._alatest()
            if found is not None and found.metadata.get("step") == self._noted[0]:
                with _told("saved"):
                    await self._store.asave_stream_state(self._address(found), self._noted[1])
                self._noted = None

    def _latest(self) -> CheckpointTuple | None:
        """The checkpoint that the thread is at, of which no value is needed.

        What is listed savers may leave undecoded, as ours do; what is got they may not.
        """
        try:
            found = [*self._checkpointer.list(self._head, limit=1)]
        except NotImplementedError:  # not every saver lists
            return self._checkpointer.get_tuple(self._head)
        return found[0] if found else None

    async def _alatest(self) -> CheckpointTuple | None:
        try:
            found = [each async for each in self._checkpointer.alist(self._head, limit=1)]
        except NotImplementedError:
            return await self._checkpointer.aget_tuple(self._head)
        return found[0] if found else None

    def _addresses(self, found: CheckpointTuple | None) -> Iterator[StreamAddress]:
        """Where the ledger of a checkpoint is; if nowhere, that of the one before tells most."""
        if found is not None:
            yield self._address(found)
            if found.parent_config is not None:
                parent = found.parent_config["configurable"]["checkpoint_id"]
                yield StreamAddress(self._id, self._ns, parent)

    def _address(self, found: CheckpointTuple) -> StreamAddress:
        return StreamAddress(self._id, self._ns, found.checkpoint["id"])

    def _ledger(
        self,
        found: CheckpointTuple | None,
        saved: bytes | None,
        address: StreamAddress | None,
        whole: Any,
    ) -> Ledger:
        if saved is not None:
            # A ledger of a newer version, or damaged: the state tells most of it.
            ledger = Ledger.from_bytes(saved, on_error="fresh")
            ledger.limit(self._dedup)  # which may have changed since
        else:
            ledger = Ledger.within(self._dedup)
        was_left = found is not None and address == self._address(found)
        if not (self._may_repeat and was_left):  # else the step that was under way is no more
            ledger.forget_updates()
        if found is not None:
            state = {**found.checkpoint["channel_values"], **dict(entries_of(whole))}
            visible = {key: value for key, value in state.items() if not key.startswith("__")}
            ledger.seed(message for _, message in found_in_input(visible))
            for place, said in listed_unnamed(visible).items():
                ledger.nameless.state((), place, said)
            if saved is None:
                ledger.snapshot((), listed_ids(visible))
        return ledger


class Opened(NamedTuple):
    """One stream of a graph, not advanced yet, and what its reader is to get of it."""

    chunks: Any
    filter_of: FilterOf
    config: DedupConfig
    run: Run | None = None
    """What the handler of the graph is to take; None where no messages are streamed."""

    thread: Thread | None = None
    """Where the ledger is kept; None where nothing is known of earlier streams."""

    @property
    def around_first(self) -> AbstractContextManager[None]:
        """Entered while the first chunk is made."""
        return nullcontext() if self.run is None else self.run.pending()

    def alone(self) -> tuple[Any, ChunkFilter, AbstractContextManager[None]]:
        """The arguments of `filtered` for a stream whose ledger is kept nowhere."""
        return self.chunks, self.filter_of(Ledger.within(self.config)), self.around_first


def streamed(begin: Callable[[], Opened]) -> Iterator[Any]:
    """What the consumer lacks of a stream; the ledger is saved when it ends, well or badly.

    Args:
        begin: Opens the stream, when it is first advanced: only then the reader may announce
            itself.
    """
    opened = begin()
    if opened.thread is None:
        yield from filtered(*opened.alone())
    else:
        yield from _kept(opened, opened.thread)


def _kept(opened: Opened, thread: Thread) -> Iterator[Any]:
    ledger, run = thread.open(), opened.run
    passing = opened.filter_of(ledger)
    if run is not None:
        run.was_hidden = ledger.hides

    def keep(chunk: Any) -> None:
        if (step := passing.begun(chunk)) is not None:
            thread.note(step, ledger)
        thread.save_noted()

    try:
        with closing(filtered(opened.chunks, passing, opened.around_first, keep)) as new:
            yield from new
    except BaseException:
        passing.owe(undelivered(run))
        thread.save(ledger)
        raise
    thread.save(ledger)


async def astreamed(begin: Callable[[], Opened]) -> AsyncIterator[Any]:
    """`streamed`, async."""
    opened = begin()
    thread = opened.thread
    source = _akept(opened, thread) if thread is not None else afiltered(*opened.alone())
    async with aclosing(source) as new:
        async for chunk in new:
            yield chunk


async def _akept(opened: Opened, thread: Thread) -> AsyncGenerator[Any]:
    ledger, run = await thread.aopen(), opened.run
    passing = opened.filter_of(ledger)
    if run is not None:
        run.was_hidden = ledger.hides

    async def keep(chunk: Any) -> None:
        if (step := passing.begun(chunk)) is not None:
            thread.note(step, ledger)
        await thread.asave_noted()

    try:
        async with aclosing(afiltered(opened.chunks, passing, opened.around_first, keep)) as new:
            async for chunk in new:
                yield chunk
    except BaseException:
        await asyncio.sleep(0)  # what was sent from other threads is on its way
        passing.owe(undelivered(run))
        await thread.asave(ledger)
        raise
    await thread.asave(ledger)


@contextmanager
def _told(done: str) -> Iterator[None]:
    """Say that a ledger is lost. No run fails of that: without one, some of it is told again."""
    try:
        yield
    except Exception as error:
        kind = type(error).__name__
        logger.warning("What the consumer of a stream has was not %s (%s)", done, kind)
