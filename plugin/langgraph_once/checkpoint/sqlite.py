"""A SQLite saver with every operation that the server asks of one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
from typing import TYPE_CHECKING, Any

import aiosqlite
from langgraph.checkpoint.base import WRITES_IDX_MAP, get_checkpoint_metadata
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from langgraph_once.checkpoint import statements
from langgraph_once.checkpoint.failures import kind
from langgraph_once.checkpoint.lineage import needed_to_read
from langgraph_once.checkpoint.lock import TransactionLock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Iterable, Sequence

    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
    from langgraph.checkpoint.serde.base import SerializerProtocol


class OnceSqliteSaver(AsyncSqliteSaver):
    """`AsyncSqliteSaver` with rollback, copy and prune.

    Each operation is one transaction: an error or a cancellation in the middle leaves the
    database as it was, and no lock on it. Upstream's own tables are used, so that its savers
    read what this one writes. Two columns are added: which run made a write, because a run also
    writes on the checkpoint it starts from, which is not its own; and which checkpoints are
    copies, which no rollback of the original's run takes. Reading needs neither.

    Where the database fails (it is damaged, read-only, locked, its disk is full), a
    `StorageError` says so.
    """

    def __init__(
        self, conn: aiosqlite.Connection, *, serde: SerializerProtocol | None = None
    ) -> None:
        super().__init__(conn, serde=serde)
        self.lock = TransactionLock(conn)
        self._has_ours = False

    async def setup(self) -> None:
        """Create what is missing in the database. Every operation calls this first."""
        await super().setup()
        async with self.lock:
            if self._has_ours:
                return
            try:
                await self._add_ours()
            except aiosqlite.OperationalError as error:
                # Reading needs nothing of ours, and a database that cannot be changed, or not
                # now, can be read. What is written first adds it.
                if kind(error) not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_BUSY):
                    raise
            else:
                self._has_ours = True

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint. Upstream drops lone surrogates from its metadata: they are kept.

        Args:
            config: The parent of the checkpoint.
            checkpoint: The checkpoint.
            metadata: What is known about it.
            new_versions: The versions of its channels.

        Returns:
            The config of the checkpoint.
        """
        stored = get_checkpoint_metadata(config, metadata)
        if _is_text(json.dumps(stored, ensure_ascii=False)):
            return await super().aput(config, checkpoint, metadata, new_versions)
        at = config["configurable"]
        key = {"thread_id": at["thread_id"], "checkpoint_ns": at["checkpoint_ns"]}
        type_, blob = self.serde.dumps_typed(checkpoint)
        ids = (str(key["thread_id"]), key["checkpoint_ns"], checkpoint["id"])
        row = (*ids, at.get("checkpoint_id"), type_, blob, json.dumps(stored).encode())
        async with self._transaction() as conn:
            await conn.execute(statements.PUT_CHECKPOINT, row)
        return {"configurable": {**key, "checkpoint_id": checkpoint["id"]}}

    async def aput_writes(
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
        at = config["configurable"]
        key = (str(at["thread_id"]), str(at["checkpoint_ns"]), str(at["checkpoint_id"]))
        run_id = _run_id(config)
        rows = []
        for position, (channel, value) in enumerate(writes):
            index = WRITES_IDX_MAP.get(channel, position)
            type_, blob = self.serde.dumps_typed(value)
            rows.append((*key, task_id, task_path, index, channel, type_, blob, run_id))
        replaces = all(channel in WRITES_IDX_MAP for channel, _ in writes)
        async with self._transaction() as conn:
            await conn.executemany(
                statements.REPLACE_WRITES if replaces else statements.IGNORE_WRITES, rows
            )

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete the checkpoints and writes of a thread.

        Args:
            thread_id: The thread; an unknown one is no error.
        """
        # langgraph-checkpoint-sqlite 3.1.2 does not call `setup` here: on a new database the
        # first operation that is a deletion fails with "no such table".
        await self.aprune([thread_id], strategy="delete")

    async def adelete_for_runs(self, run_ids: Iterable[str]) -> None:
        """Delete what these runs stored, as though they had never run. Copies of it stay.

        Args:
            run_ids: The runs; unknown ones are no error.
        """
        runs = {str(run_id) for run_id in run_ids}
        async with self._transaction() as conn:
            for statement in statements.DELETE_RUNS:
                await conn.execute(statement, (_json_array(runs),))
            async with conn.execute(statements.NOT_FOR_SQLITE) as cursor:
                found = [tuple(key) async for *key, data in cursor if _run_of(data) in runs]
            for statement in statements.DELETE_CHECKPOINT:
                await conn.executemany(statement, found)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Make one thread a copy of another, with its whole history and pending writes.

        What the target had is replaced, as on the in-memory server. Copying a thread onto
        itself, or one that has no checkpoints, does nothing.

        Args:
            source_thread_id: The thread to copy.
            target_thread_id: The thread that becomes the copy.
        """
        threads = {"source": str(source_thread_id), "target": str(target_thread_id)}
        if threads["source"] == threads["target"]:
            return
        async with self._transaction() as conn:
            async with conn.execute(statements.LATEST, (threads["source"],)) as cursor:
                if await cursor.fetchone() is None:
                    return
            for statement in statements.DELETE_THREADS:
                await conn.execute(statement, (_json_array([target_thread_id]),))
            await conn.execute(statements.COPY_CHECKPOINTS, threads)
            await conn.execute(statements.COPY_WRITES, threads)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete the history of threads.

        Args:
            thread_ids: The threads; unknown ones are no error.
            strategy: "keep_latest" keeps the latest checkpoint of each namespace with its
                pending writes, and the ancestors that its delta channels are rebuilt from.
                "delete" (the word of `BaseCheckpointSaver`) and "delete_all" (the server's)
                keep nothing.

        Raises:
            ValueError: Another strategy.
        """
        if strategy not in ("keep_latest", "delete", "delete_all"):
            msg = f"strategy {strategy!r}: allowed are 'keep_latest', 'delete' and 'delete_all'"
            raise ValueError(msg)
        async with self._transaction() as conn:
            if strategy == "keep_latest":
                for thread_id in thread_ids:
                    await self._keep_latest(conn, str(thread_id))
                return
            for statement in statements.DELETE_THREADS:
                await conn.execute(statement, (_json_array(thread_ids),))

    def delete_for_runs(self, run_ids: Iterable[str]) -> None:
        """Sync `adelete_for_runs`, from another thread than the event loop's."""
        self._wait_for(self.adelete_for_runs(run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Sync `acopy_thread`, from another thread than the event loop's."""
        self._wait_for(self.acopy_thread(source_thread_id, target_thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Sync `aprune`, from another thread than the event loop's."""
        self._wait_for(self.aprune(thread_ids, strategy=strategy))

    async def _keep_latest(self, conn: aiosqlite.Connection, thread_id: str) -> None:
        async with conn.execute(statements.LATEST, (thread_id,)) as cursor:
            latest = list(await cursor.fetchall())
        for ns, checkpoint_id in latest:
            kept = await needed_to_read(
                conn,
                self.serde,
                thread_id=thread_id,
                checkpoint_ns=ns,
                checkpoint_id=checkpoint_id,
            )
            for statement in statements.DELETE_OTHERS:
                await conn.execute(statement, (thread_id, ns, _json_array(kept)))

    @contextlib.asynccontextmanager
    async def _transaction(self) -> AsyncIterator[aiosqlite.Connection]:
        await self.setup()
        async with self.lock:
            # Not deferred: a transaction that reads first and writes later cannot wait for
            # another writer, it fails at once.
            await self.conn.execute("BEGIN IMMEDIATE")
            if not self._has_ours:
                await self._add_ours()
            yield self.conn
            await self.conn.commit()
            self._has_ours = True

    async def _add_ours(self) -> None:
        for statement in statements.ADD_COLUMNS:
            try:
                await self.conn.execute(statement)
            except aiosqlite.OperationalError as error:
                # As in upstream's `setup`: another saver was first.
                if "duplicate column name" not in str(error):
                    raise
        for statement in statements.ADD_INDEXES:
            await self.conn.execute(statement)

    def _wait_for(self, coroutine: Coroutine[Any, Any, None]) -> None:
        with contextlib.suppress(RuntimeError):
            if asyncio.get_running_loop() is self.loop:
                coroutine.close()
                msg = "in the event loop's own thread this would wait for ever; await its `a…` twin"
                raise asyncio.InvalidStateError(msg)
        asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()


def _run_id(config: RunnableConfig) -> str | None:
    """Find the run where the server looks for it, in the same order."""
    for place in (config.get("metadata"), config.get("configurable"), config):
        if place and (run_id := place.get("run_id")):
            return str(run_id)
    return None


def _run_of(metadata: bytes) -> str | None:
    """Read the run from metadata that Python wrote and SQLite does not take for JSON."""
    with contextlib.suppress(ValueError, TypeError, LookupError):
        return str(json.loads(metadata)["run_id"])
    return None


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _json_array(ids: Iterable[object]) -> str:
    return json.dumps([str(id_) for id_ in ids])
