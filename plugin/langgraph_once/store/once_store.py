"""The store that LangGraph calls, and from a path or a URL to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from copy import copy
from importlib import import_module
from typing import Any, Final, TypeVar

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)
from langgraph.store.base.batch import AsyncBatchedBaseStore

from langgraph_once.checkpoint import Backend, backend_of
from langgraph_once.config import CheckpointConfig, StoreConfig
from langgraph_once.errors import ConfigError
from langgraph_once.serde import OnceSerializer
from langgraph_once.store.sealing import Field, Sealing, by_key, matches

_FILE: Final = "store.sqlite"


@asynccontextmanager
async def open_store(
    database: str,
    *,
    serde: OnceSerializer,
    config: CheckpointConfig | None = None,
    index: Any = None,
    ttl: Any = None,
) -> AsyncIterator[OnceStore]:
    """Open the store in a database, and close it at the end.

    Expired items are deleted meanwhile, where `ttl` says that there are any.

    Args:
        database: A path of SQLite, "sqlite:///path" or "postgresql://user@host/database".
        serde: Encrypts values, if it has keys.
        config: How PostgreSQL is connected to.
        index: Of upstream's store: which vectors it has, for semantic search.
        ttl: Of upstream's store: when items expire.

    Raises:
        ConfigError: A URL of another database, or settings that do not go together.
        StorageError: The database cannot be opened or written.
    """
    backend, config = backend_of(database), config or CheckpointConfig()
    upstream = _upstream(backend)
    async with AsyncExitStack() as stack:
        opening = upstream.open_rows(backend, config=config, index=index, ttl=ttl)
        rows = await stack.enter_async_context(opening)
        if ttl:
            await rows.start_ttl_sweeper()
            stack.push_async_callback(rows.stop_ttl_sweeper)
        yield OnceStore(rows, Sealing(serde, database), backend.name, field=upstream.FIELD)


def _upstream(backend: Backend) -> Any:
    """The module that opens upstream's store in a database."""
    return import_module(backend.store_module)


def default_database(threads: str) -> str:
    """Where the store is, beside the database of threads: a file of the same folder, or in it.

    Args:
        threads: A path or a URL.
    """
    if backend_of(threads).file is None:
        return threads
    folder = max(threads.rfind("/"), threads.rfind("\\")) + 1
    return threads[:folder] + _FILE


def check_place(database: str, *, config: CheckpointConfig, index: Any) -> None:
    """Prove that a database can have the store. Nothing is made in it, and no file is left behind.

    Args:
        database: A path of SQLite, or a URL.
        config: How PostgreSQL is connected to.
        index: Which vectors it has.

    Raises:
        ConfigError: A URL of another database, or settings that it cannot obey.
        StorageError: It cannot be used.
    """
    backend = backend_of(database)
    _upstream(backend).check_rows(backend, config=config, index=index)


def check_index(index: Any, config: StoreConfig, *, must_encrypt: bool) -> None:
    """Refuse vectors, which are not encrypted, where everything must be.

    Args:
        index: Which vectors it has.
        config: Whether they are allowed all the same.
        must_encrypt: Whether everything must be encrypted.

    Raises:
        ConfigError: They are not.
    """
    if index and must_encrypt and not config.allow_vectors:
        raise ConfigError(
            "langgraph.json: store.index",
            "the vectors of values are stored unencrypted, and tell something of them, which "
            "`encryption` forbids; remove the index, or allow it: "
            "ONCE_STORE__ALLOW_VECTORS=true",
        )


AnyItem = TypeVar("AnyItem", bound=Item)

# Most filters find their page among so many; a larger window begins anew.
_FIRST_WINDOW: Final = 128


class OnceStore(BaseStore):
    """A store whose rows are upstream's, with values that are encrypted where there are keys.

    Namespaces, keys, times and vectors stay readable. Of plain rows, filters are the database's;
    of encrypted ones they are applied here, to what was decrypted.

    Args:
        rows: Upstream's store, of the running event loop.
        sealing: Makes rows of values, and values of rows.
        name: Where it is, for a log.
        field: How a key of a filter names a field, as in upstream's store.
    """

    supports_ttl = True

    def __init__(
        self,
        rows: AsyncBatchedBaseStore,
        sealing: Sealing,
        name: str = "",
        *,
        field: Field = by_key,
    ) -> None:
        self._rows = rows
        self._upkeep: Any = rows  # the classes of both databases have it, their base has not
        self._sealing = sealing
        self.name = name
        self._field = field
        self._loop = asyncio.get_running_loop()
        self.ttl_config = rows.ttl_config

    async def setup(self) -> None:
        """Make the tables, as upstream's store does; `open_store` has made them."""
        await self._upkeep.setup()

    async def sweep_ttl(self) -> int:
        """Delete what has expired, and return how many items that were."""
        deleted: int = await self._upkeep.sweep_ttl()
        return deleted

    async def start_ttl_sweeper(
        self, sweep_interval_minutes: int | None = None
    ) -> asyncio.Task[None]:
        """Delete what expires from time to time, as upstream's store does.

        Args:
            sweep_interval_minutes: How often; as `ttl` says, or every five minutes.
        """
        task: asyncio.Task[None] = await self._upkeep.start_ttl_sweeper(sweep_interval_minutes)
        return task

    async def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:  # noqa: ASYNC109  # as upstream
        """End that, and return whether it ended in time.

        Args:
            timeout: How many seconds to wait; without one, until it has ended.
        """
        has_ended: bool = await self._upkeep.stop_ttl_sweeper(timeout)
        return has_ended

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do operations from a thread without an event loop.

        Raises:
            InvalidStateError: Within the store's event loop, which would wait for itself.
            SerdeError: A value cannot be written, or not be opened.
        """
        try:
            is_within = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            is_within = False
        if is_within:
            raise asyncio.InvalidStateError(
                "a synchronous call within the event loop of the store would wait for itself: "
                "use `await store.aget(…)` and its like"
            )
        return asyncio.run_coroutine_threadsafe(self.abatch(ops), self._loop).result()

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do operations; those of all callers at a time are one batch of upstream's store.

        Raises:
            SerdeError: A value cannot be written, or not be opened.
        """
        return await asyncio.gather(*map(self._do, ops))

    async def _do(self, op: Op) -> Result:
        match op:
            case GetOp(namespace, key, refresh):
                found = await self._rows.aget(namespace, key, refresh_ttl=refresh)
                return found and self._item(found)
            case PutOp(namespace, key, value, index, ttl):
                if value is None:
                    await self._rows.adelete(namespace, key)
                else:
                    row = self._sealing.row(namespace, key, value)
                    await self._rows.aput(namespace, key, row, index, ttl=ttl)
                return None
            case SearchOp():
                return await self._search(op)
            case ListNamespacesOp():
                return (await self._rows.abatch([op]))[0]

    async def _search(self, op: SearchOp) -> list[SearchItem]:
        if not (self._sealing.is_on and op.filter):
            return [*map(self._item, await self._found(op))]
        matches({}, op.filter, self._field)  # a filter that is wrong is told, if there is no item
        found = await self._matching(op, op.filter)
        if op.refresh_ttl:
            await self._rows.abatch([GetOp(each.namespace, each.key) for each in found])
        return found

    async def _matching(self, op: SearchOp, wanted: dict[str, Any]) -> list[SearchItem]:
        """Those that match, from `offset` on, in the database's order.

        It looks through more and more of what is stored, each time from the first: among items of
        one moment the order is another for each page.
        """
        end, window = op.offset + op.limit, max(_FIRST_WINDOW, 4 * (op.offset + op.limit))
        while True:
            asked = op._replace(filter=None, limit=window, offset=0, refresh_ttl=False)
            rows = await self._found(asked)
            items = await asyncio.to_thread(self._chosen, rows, wanted, end)
            if len(items) >= end or len(rows) < window:
                return items[op.offset : end]
            window *= 4

    def _chosen(
        self, rows: Sequence[SearchItem], wanted: dict[str, Any], end: int
    ) -> list[SearchItem]:
        chosen: list[SearchItem] = []
        for row in rows:
            if len(chosen) == end:
                break
            item = self._item(row)
            if matches(item.value, wanted, self._field):
                chosen.append(item)
        return chosen

    async def _found(self, op: SearchOp) -> list[SearchItem]:
        return await self._rows.asearch(
            op.namespace_prefix,
            query=op.query,
            filter=op.filter,
            limit=op.limit,
            offset=op.offset,
            refresh_ttl=op.refresh_ttl,
        )

    def _item(self, row: AnyItem) -> AnyItem:
        """A new one: upstream's store gives one row to all who ask for it at a time."""
        item = copy(row)
        item.value = self._sealing.value(row.namespace, row.key, row.value)
        return item
