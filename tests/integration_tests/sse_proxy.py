"""A TCP proxy that cuts the first streams after so many bytes, as real networks do."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

HEAD_END = b"\r\n\r\n"
FRAME_END = b"\r\n\r\n"


@dataclass(frozen=True)
class Cut:
    """Where an event stream is cut: at its event number `frame`, from 0."""

    frame: int
    at: Literal["end", "middle", "character"] = "end"
    """Behind the event, amid it, or amid a character in it that takes several bytes."""

    away_s: float = 0
    """How long the next connections wait after that."""

    def find(self, body: bytes | bytearray) -> int | None:
        """How many bytes of the body pass; None if that is not known yet."""
        start = 0
        for _ in range(self.frame):
            start = body.find(FRAME_END, start) + len(FRAME_END)
            if start < len(FRAME_END):
                return None
        end = body.find(FRAME_END, start)
        if end < 0:
            return None
        if self.at == "end":
            return end + len(FRAME_END)
        if self.at == "middle":
            return (start + end) // 2
        wide = next((i for i in range(start, end) if body[i] >= 0xC0), None)
        return (start + end) // 2 if wide is None else wide + 1


class CuttingProxy:
    """Passes HTTP connections on to a local port, and cuts event streams.

    Args:
        port: Where the server listens.
        cuts: For each event stream in turn, after how many bytes of its body it is cut, or at
            which event; those after them are left alone.
        away_s: How long nobody gets through after the first cut. A server repeats to whoever
            comes back amid a run what that says in the meantime; a stock client takes it twice.

    Attributes:
        bodies: What came of the bodies of the event streams, as on the wire.
    """

    def __init__(self, port: int, *, cuts: Sequence[int | Cut], away_s: float = 0) -> None:
        self._port = port
        self._cuts: list[int | Cut] = list(cuts)
        self._away_s = away_s
        self._away_until = 0.0
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

    def __exit__(self, *_: object) -> None:
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
            await asyncio.sleep(self._away_until - self._loop.time())
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
        cut: int | Cut | None = None
        while data := await reader.read(65536):
            head, end, rest = data.partition(HEAD_END)
            if body is None and b"text/event-stream" in head:
                client.write(head + end)
                cut = self._cuts.pop(0) if self._cuts else None
                body, data = bytearray(), rest
                self.bodies.append(body)
            limit: int | None = None
            if body is not None:
                limit = cut.find(bytes(body) + data) if isinstance(cut, Cut) else cut
                data = data if limit is None else data[: max(limit - len(body), 0)]
                body += data
            client.write(data)
            await client.drain()
            if limit is not None and body is not None and len(body) >= limit:
                await asyncio.sleep(0.05)  # or the reset overtakes what was written
                away_s = cut.away_s if isinstance(cut, Cut) else self._away_s
                if away_s:
                    self._away_s, self._away_until = 0, self._loop.time() + away_s
                return


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
