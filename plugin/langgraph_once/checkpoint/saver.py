"""A checkpointer on an engine: the methods that LangGraph calls, sync and async."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Generator, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from time import perf_counter_ns
from typing import Any, Final, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from langgraph_once.checkpoint.database import Engine, Program
from langgraph_once.checkpoint.stored import CheckpointRef, ListedCheckpoint, first_id_at, moment_of
from langgraph_once.checkpoint.tables import Query, Tables
from langgraph_once.checkpoint.threads import Threads
from langgraph_once.checkpoint.values import Values
from langgraph_once.metrics import storage
from langgraph_once.serde import OnceSerializer
from langgraph_once.stream import StreamAddress

T = TypeVar("T")


class OnceSaver(BaseCheckpointSaver[str]):
    """What the savers of all databases share.

    Each operation is one transaction: an error in the middle leaves the database as it was. What
    is stored once, and by whom it is read, is told in `docs/checkpoints.md`.

    Args:
        engine: Runs programs on the database.
        tables: Its statements.
        serde: Turns values into bytes and back; `OnceSerializer()` by default.
        store_once: Whether long values are stored in pieces, each piece once for a thread.
    """

    def __init__(
        self,
        engine: Engine,
        tables: type[Tables],
        *,
        serde: SerializerProtocol | None = None,
        store_once: bool = True,
    ) -> None:
        super().__init__(serde=serde or OnceSerializer())
        self.engine = engine
        self._tables = tables
        self._store_once = store_once
        self._known: tuple[SerializerProtocol, Threads] | None = None

    @property
    def name(self) -> str:
        """The database, as errors name it."""
        return self.engine.name

    def setup(self) -> Awaitable[None]:
        """Make what is missing in the database. Every operation does this first.

        Returns:
            What may be awaited, as with upstream's async savers; it is done in any case.
        """
        self.engine.set_up()
        return _DONE

    def close(self) -> None:
        """Close what the saver has open, once the operation under way is done."""
        self.engine.close()

    @property
    def threads(self) -> Threads:
        """Programs with the serializer of this saver, which `with_allowlist` may have changed."""
        if self._known is None or self._known[0] is not self.serde:
            packs_short = self._tables.packs_short
            values = Values(self.serde, store_once=self._store_once, packs_short=packs_short)
            self._known = self.serde, Threads(self._tables(values))
        return self._known[1]

    def tables_with(self, values: Values) -> Tables:
        """The statements of this database, for other values than those of this saver."""
        return self._tables(values)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that a config names, or the latest of its thread.

        Raises:
            SerdeError: A value cannot be decoded.
            StorageError: The database cannot be read.
        """
        found = self._read(self.threads.get(self.threads.tables.place(config)))
        began = perf_counter_ns()
        decoded = next(found.tuples(), None)
        if decoded is not None:
            storage.reads += 1
            storage.decode_seconds.add(perf_counter_ns() - began)
        return decoded

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """`get_tuple`, async."""
        return await self.engine.run_in_thread(self.get_tuple, config, thread_id=_thread_id(config))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[ListedCheckpoint]:
        """List checkpoints, newest first; each is decoded when someone asks for it.

        Args:
            config: The thread, and its namespace if there is one; all threads if None.
            filter: What their metadata must hold.
            before: Only checkpoints with smaller ids.
            limit: The most to list.
        """
        for page in self.threads.pages(Query(config, filter, before), limit=limit):
            yield from self._read(page).listed()

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[ListedCheckpoint]:
        """`list`, async."""
        for page in self.threads.pages(Query(config, filter, before), limit=limit):
            found = await self.engine.run_in_thread(self._read, page, thread_id=_thread_id(config))
            for each in found.listed():
                yield each

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint.

        Args:
            config: The parent of the checkpoint.
            checkpoint: The checkpoint.
            metadata: What is known about it.
            new_versions: The versions of the channels that changed.

        Returns:
            The config of the checkpoint.
        """
        self._write(self.threads.put(config, checkpoint, metadata, new_versions))
        return _config(config, checkpoint)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """`put`, async."""
        program = self.threads.put(config, checkpoint, metadata, new_versions)
        await self._awrite(program, _thread_id(config))
        return _config(config, checkpoint)

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store the writes of a task, and which run made them.

        Args:
            config: The checkpoint the writes belong to.
            writes: Pairs of channel and value.
            task_id: The task that wrote them.
            task_path: Where the task is in its superstep; readers order by it.
        """
        self._write(self.threads.put_writes(config, writes, task_id, task_path))

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """`put_writes`, async."""
        program = self.threads.put_writes(config, writes, task_id, task_path)
        await self._awrite(program, _thread_id(config))

    def delete_thread(self, thread_id: str) -> None:
        """Delete all that a thread has; an unknown one is no error."""
        self._write(self.threads.delete_threads([str(thread_id)]))

    async def adelete_thread(self, thread_id: str) -> None:
        """`delete_thread`, async."""
        await self._awrite(self.threads.delete_threads([str(thread_id)]), str(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete what these runs stored, as though they had never run; unknown ones are no error.

        A copy of a thread has no runs: it stays as it is.
        """
        self._write(self.threads.delete_for_runs([str(each) for each in run_ids]))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """`delete_for_runs`, async."""
        await self._awrite(self.threads.delete_for_runs([str(each) for each in run_ids]))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Make one thread a copy of another, with its whole history and pending writes.

        What the target had is replaced, as on the in-memory server. Copying a thread onto itself,
        or one that has no checkpoints, does nothing.
        """
        self._write(self.threads.copy(str(source_thread_id), str(target_thread_id)))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """`copy_thread`, async."""
        await self._awrite(self.threads.copy(str(source_thread_id), str(target_thread_id)))

    def prune(
        self,
        thread_ids: Sequence[str],
        *,
        strategy: str = "keep_latest",
        keep_last: int = 1,
        older_than: datetime | None = None,
    ) -> None:
        """Delete the history of threads, each in a transaction of its own.

        Args:
            thread_ids: The threads; unknown ones are no error.
            strategy: "keep_latest" keeps the latest checkpoints of each namespace with their
                pending writes, and what these need: the ancestors that delta channels are rebuilt
                from, and what a replay finds in subgraphs that remember their calls.
                "delete" (the word of `BaseCheckpointSaver`) and "delete_all" (the server's) keep
                nothing.
            keep_last: How many checkpoints of each namespace are kept.
            older_than: Only what was stored before is deleted.

        Raises:
            TypeError: `thread_ids` is one string.
            ValueError: Another strategy, or nothing would be kept.
        """
        for program in self.threads.prune(thread_ids, strategy, keep_last, older_than):
            self._write(program)

    async def aprune(
        self,
        thread_ids: Sequence[str],
        *,
        strategy: str = "keep_latest",
        keep_last: int = 1,
        older_than: datetime | None = None,
    ) -> None:
        """`prune`, async."""
        for program in self.threads.prune(thread_ids, strategy, keep_last, older_than):
            await self._awrite(program)

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """What delta channels are rebuilt from: one walk for all of them."""
        place = self.threads.tables.place(config)
        return self._read(self.threads.delta_history(place, channels)).decoded()

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """`get_delta_channel_history`, async."""
        get = partial(self.get_delta_channel_history, config=config, channels=channels)
        return await self.engine.run_in_thread(get, thread_id=_thread_id(config))

    def load_stream_state(self, address: StreamAddress) -> bytes | None:
        """The ledger of a thread, if there is one."""
        found = self._read(self.threads.load_stream_state(CheckpointRef.of_thread(*address)))
        return None if found is None else found.ledger()

    def save_stream_state(self, address: StreamAddress, data: bytes) -> None:
        """Store the ledger of a thread; it is copied and deleted with that."""
        self._write(self.threads.save_stream_state(CheckpointRef.of_thread(*address), data))

    async def aload_stream_state(self, address: StreamAddress) -> bytes | None:
        """`load_stream_state`, async."""
        return await self.engine.run_in_thread(
            self.load_stream_state, address, thread_id=address[0]
        )

    async def asave_stream_state(self, address: StreamAddress, data: bytes) -> None:
        """`save_stream_state`, async."""
        program = self.threads.save_stream_state(CheckpointRef.of_thread(*address), data)
        await self._awrite(program, address[0])

    def get_next_version(self, current: Any, channel: None) -> str:
        """The version after another, as upstream's savers make them: comparable as text."""
        number = int(str(current).partition(".")[0]) + 1 if current is not None else 1
        return f"{number:032}.{random.random():016}"  # noqa: S311  # no secret

    def _read(self, program: Program[T]) -> T:
        return self.engine.run(program, writes=False)

    def _write(self, program: Program[T]) -> T:
        return self.engine.run(program, writes=True)

    async def _awrite(self, program: Program[T], thread_id: str | None = None) -> T:
        # Values were encoded before: in the loop, where nobody changes them meanwhile.
        return await self.engine.run_in_thread(self._write, program, thread_id=thread_id)


class _Done:
    """What has been done, for those who await it."""

    def __await__(self) -> Generator[None, None, None]:
        yield from ()


_DONE: Final = _Done()


def _thread_id(config: RunnableConfig | None) -> str | None:
    """The thread that an operation is about; None if it may be any."""
    thread_id = (config or {}).get("configurable", {}).get("thread_id")
    return None if thread_id is None else str(thread_id)


def _config(config: RunnableConfig, checkpoint: Checkpoint) -> RunnableConfig:
    at = config["configurable"]
    return {
        "configurable": {
            "thread_id": at["thread_id"],
            "checkpoint_ns": at["checkpoint_ns"],
            "checkpoint_id": checkpoint["id"],
        }
    }


_RECENTLY: Final = timedelta(days=1)


def stock_wrote(saver: OnceSaver) -> str | None:
    """When a saver of LangGraph's last wrote here, and what that means, if it was within a day.

    Args:
        saver: The database.

    Raises:
        StorageError: It cannot be read, or not in the time that this may take.
    """
    id_ = saver.engine.run(_newest(saver.threads.tables), writes=False)
    when = moment_of(id_) if id_ else None
    if when is None:
        return None
    return (
        f"LangGraph's saver, or ours up to 0.2.0, stored a checkpoint at {when:%Y-%m-%d %X} UTC. "
        "If that is after your last deploy, a replica still runs it, and cannot read what ours "
        "writes, unless ONCE_SERDE__COMPATIBLE=true"
    )


def _newest(tables: Tables) -> Program[str | None]:
    bound = first_id_at(datetime.now(UTC) - _RECENTLY)
    return (yield from tables.newest_of_others(bound))
