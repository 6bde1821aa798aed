"""One transaction at a time on a connection. It is ended, whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

    import aiosqlite


class TransactionLock(asyncio.Lock):
    """The lock of an `AsyncSqliteSaver`. Leaving it by an exception undoes the transaction.

    A cancelled coroutine does not stop the statement it awaits, which runs in the
    connection's thread. Upstream's `aput` and `aput_writes`, cancelled there, leave the
    transaction open: other connections find the database locked until this one commits
    something else. Here the rollback joins the same queue before the lock is free.
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
        try:
            if exc_type is not None:
                # ValueError: the connection is closed, and its transaction gone with it.
                with contextlib.suppress(ValueError):
                    await self._conn.rollback()
        finally:
            self.release()
