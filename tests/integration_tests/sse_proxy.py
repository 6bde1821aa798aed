"""A TCP proxy that cuts the first streams after so many bytes, as real networks do."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from types import TracebackType
from typing import Self

__all__ = ["CuttingProxy"]

HEAD_END = b"\r\n\r\n"


class CuttingProxy:
    """Passes HTTP connections on to a local port, and cuts event streams.

    Args:
        port: Where the server listens.
        cuts: For each event stream in turn, after how many bytes of its body it is cut; those
            after them are left alone.

    Attributes:
        bodies: What came of the bodies of the event streams, as on the wire.
    """

    def __init__(self, port: int, *, cuts: list[int]) -> None:
        self._port = port
        self._cuts = list(cuts)
        self.bodies: list[bytearray] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        start = asyncio.start_server(self._accept, "127.0.0.1", 0)
        self._server = asyncio.run_coroutine_threadsafe(start, self._loop).result()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _stop(self) -> None:
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None:
            return
        self._connections.add(task)
        with contextlib.suppress(OSError, asyncio.CancelledError):
            from_server, server = await asyncio.open_connection("127.0.0.1", self._port)
            upwards = asyncio.create_task(_copy(reader, server))
            try:
                await self._answer(from_server, client)
            finally:
                upwards.cancel()
                server.transport.abort()
                client.transport.abort()
        self._connections.discard(task)

    async def _answer(self, reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        """Copy what the server says; in an event stream, count, and cut."""
        body: bytearray | None = None
        cut: int | None = None
        while data := await reader.read(65536):
            head, end, rest = data.partition(HEAD_END)
            if body is None and b"text/event-stream" in head:
                client.write(head + end)
                cut = self._cuts.pop(0) if self._cuts else None
                body, data = bytearray(), rest
                self.bodies.append(body)
            if body is not None:
                data = data if cut is None else data[: cut - len(body)]
                body += data
            client.write(data)
            await client.drain()
            if cut is not None and body is not None and len(body) >= cut:
                await asyncio.sleep(0.05)  # or the reset overtakes what was written
                return


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
