"""One stream of a wrapped graph, from the ledger it starts with to the one it leaves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, closing
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from langgraph_once.config import DedupConfig
from langgraph_once.stream.cut import listed_ids
from langgraph_once.stream.dropin import ChunkFilter, afiltered, filtered
from langgraph_once.stream.ledger import Ledger
from langgraph_once.stream.resume import StreamAddress, StreamStateStore
from langgraph_once.stream.run import Run
from langgraph_once.stream.walk import found_in_input

__all__ = ["Thread", "astreamed", "streamed"]

FilterOf = Callable[[Ledger], ChunkFilter]


class Thread:
    """The thread that a stream runs in, and where its ledgers are kept.

    Args:
        config: The config of the stream.
        checkpointer: Where the thread is kept.
        store: Where its ledgers are kept.
        dedup: The bounds of a new ledger.
    """

    def __init__(
        self,
        config: RunnableConfig,
        checkpointer: BaseCheckpointSaver[Any],
        store: StreamStateStore,
        dedup: DedupConfig,
    ) -> None:
        self._checkpointer = checkpointer
        self._store = store
        self._dedup = dedup
        self._start = config
        asked = config["configurable"]
        self._id = str(asked["thread_id"])
        self._ns = str(asked.get("checkpoint_ns", ""))
        self._head: RunnableConfig = {
            "configurable": {"thread_id": asked["thread_id"], "checkpoint_ns": self._ns}
        }

    def open(self) -> Ledger:
        """The ledger of the checkpoint that the stream starts from."""
        found = self._checkpointer.get_tuple(self._start)
        saved = self._store.load_stream_state(self._address(found)) if found else None
        return self._ledger(found, saved)

    async def aopen(self) -> Ledger:
        """`open`, async."""
        found = await self._checkpointer.aget_tuple(self._start)
        saved = await self._store.aload_stream_state(self._address(found)) if found else None
        return self._ledger(found, saved)

    def save(self, ledger: Ledger) -> None:
        """Keep the ledger with the checkpoint that the stream came to."""
        if (found := self._checkpointer.get_tuple(self._head)) is not None:
            self._store.save_stream_state(self._address(found), ledger.to_bytes())

    async def asave(self, ledger: Ledger) -> None:
        """`save`, async."""
        if (found := await self._checkpointer.aget_tuple(self._head)) is not None:
            await self._store.asave_stream_state(self._address(found), ledger.to_bytes())

    def _address(self, found: CheckpointTuple) -> StreamAddress:
        return StreamAddress(self._id, self._ns, found.checkpoint["id"])

    def _ledger(self, found: CheckpointTuple | None, saved: bytes | None) -> Ledger:
        if saved is not None:
            # A ledger of a newer version, or damaged: the state tells most of it.
            ledger = Ledger.from_bytes(saved, on_error="fresh")
        else:
            ledger = Ledger(max_messages=self._dedup.max_messages, max_bytes=self._dedup.max_bytes)
        if found is not None:
            state: Mapping[str, Any] = found.checkpoint["channel_values"]
            visible = {key: value for key, value in state.items() if not key.startswith("__")}
            ledger.seed(message for _, message in found_in_input(visible))
            if saved is None:
                ledger.snapshot((), listed_ids(visible))
        return ledger


def streamed(
    chunks: Iterator[Any], thread: Thread | None, filter_of: FilterOf, run: Run | None
) -> Iterator[Any]:
    """What the consumer lacks of `chunks`; the ledger is saved when they end, well or badly."""
    if thread is None:
        return filtered(chunks, filter_of(Ledger()), run)
    return _kept(chunks, thread, filter_of, run)


def _kept(
    chunks: Iterator[Any], thread: Thread, filter_of: FilterOf, run: Run | None
) -> Iterator[Any]:
    ledger = thread.open()
    try:
        with closing(filtered(chunks, filter_of(ledger), run)) as new:  # type: ignore[type-var]
            yield from new
    finally:
        thread.save(ledger)


def astreamed(
    chunks: AsyncIterator[Any], thread: Thread | None, filter_of: FilterOf, run: Run | None
) -> AsyncIterator[Any]:
    """`streamed`, async."""
    if thread is None:
        return afiltered(chunks, filter_of(Ledger()), run)
    return _akept(chunks, thread, filter_of, run)


async def _akept(
    chunks: AsyncIterator[Any], thread: Thread, filter_of: FilterOf, run: Run | None
) -> AsyncIterator[Any]:
    ledger = await thread.aopen()
    try:
        async with aclosing(afiltered(chunks, filter_of(ledger), run)) as new:  # type: ignore[type-var]
            async for chunk in new:
                yield chunk
    finally:
        await thread.asave(ledger)
