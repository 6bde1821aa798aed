"""Reads runs with an SDK client, sync or async: what comes must be the same."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from langgraph_sdk import get_client, get_sync_client

from langgraph_once.config import RemoteConfig
from langgraph_once.remote import join_run, stream_run
from langgraph_once.stream import Part
from tests.unit_tests.remote.raw_server import RUN, THREAD, RawServer, answer

__all__ = ["BEGUN", "CUSTOM", "QUICK", "SUCCESS", "Client", "custom", "numbers"]

BEGUN = ("metadata", {"run_id": RUN, "attempt": 1}, "1-0")
SUCCESS = answer({"run_id": RUN, "status": "success"})
QUICK = RemoteConfig(max_retries=2, backoff_s=0, max_backoff_s=0)
CUSTOM: Any = {"stream_mode": "custom", "remote": QUICK}


def custom(*numbers: int) -> list[tuple[str, Any, str | None]]:
    """Events that say numbers."""
    return [("custom", {"n": n}, f"{n + 1}-0") for n in numbers]


def numbers(parts: list[Part]) -> list[Any]:
    """The numbers that parts say, and the reasons of gaps."""
    return [part.data if part.mode == "gap" else part.data["n"] for part in parts]


@dataclass(frozen=True)
class Client:
    """One of the two kinds."""

    is_async: bool
    settings: Any = None
    """As `get_client`."""

    def run(self, server: RawServer, **options: Any) -> list[Part]:
        """The parts of a run that begins."""
        call = {"thread_id": THREAD, "input": {}, **CUSTOM, **options}
        return self._read(server.url, lambda client: stream_run(client, assistant_id="g", **call))

    def join(self, server: RawServer, **options: Any) -> list[Part]:
        """The parts of a run that was begun by another."""
        call = {"thread_id": THREAD, "remote": QUICK, **options}
        return self._read(server.url, lambda client: join_run(client, run_id=RUN, **call))

    def _read(self, url: str, begin: Callable[[Any], Any]) -> list[Part]:
        settings = {"url": url, **(self.settings or {})}
        if not self.is_async:
            with get_sync_client(**settings) as client:
                return [*begin(client)]

        async def read() -> list[Part]:
            async with get_client(**settings) as client:
                return [part async for part in begin(client)]

        return asyncio.run(read())
