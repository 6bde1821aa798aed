"""One transaction at a time on a connection. It is ended, and its error told, whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from typing import TYPE_CHECKING

from langgraph_once.checkpoint.failures import failed, is_known, with_advice

if TYPE_CHECKING:
    from types import TracebackType

    import aiosqlite


class TransactionLock(asyncio.Lock):
    """The lock of an `AsyncSqliteSaver`. Leaving it by an exception undoes the transaction.

    A cancelled coroutine does not stop the statement it awaits, which runs in the
    connection's thread. Upstream's `aput` and `aput_writes`, cancelled there, leave the
    transaction open: other connections find the database locked until this one commits
    something else. Here the rollback joins the same queue before the lock is free.

    An error that says something about the database (its disk is full, it is damaged, another
    process holds it) leaves the lock as a `StorageError`.
    """

    def __init__(self, conn: aiosqlite.Connection) -> None:
        super().__init__()
        self._conn = conn

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        path = None
        try:
            if exc_type is not None:
                # ValueError: the connection is closed, and its transaction gone with it.
                with contextlib.suppress(ValueError, sqlite3.Error):
                    await self._conn.rollback()
                    path = await self._path() if is_known(exc) else None
        finally:
            self.release()
        if path is not None and isinstance(exc, sqlite3.Error):
            raise failed(path, "use", with_advice(exc)) from exc

    async def _path(self) -> str:
        async with self._conn.execute("PRAGMA database_list") as cursor:
            found = {name: file async for _, name, file in cursor}
        return found["main"] or ":memory:"
