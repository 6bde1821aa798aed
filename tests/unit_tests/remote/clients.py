"""Reads runs with an SDK client, sync or async: what comes must be the same."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from langgraph_sdk import get_client, get_sync_client

from langgraph_once.config import RemoteConfig
from langgraph_once.remote import join_run, stream_run
from langgraph_once.stream import Part
from tests.unit_tests.remote.raw_server import RUN, THREAD, RawServer, answer, events, stream

BEGUN = ("metadata", {"run_id": RUN, "attempt": 1}, "1-0")
SUCCESS = answer({"run_id": RUN, "status": "success"})
QUICK = RemoteConfig(max_retries=2)
RUN_UNKNOWN = "the server no longer knows the run"
EVENTS_LOST = "the server no longer has the events of the run"
EVENTS_MISSING = "the server no longer has all events of the run"
CUSTOM: Any = {"stream_mode": "custom", "remote": QUICK}


def custom(*numbers: int) -> list[tuple[str, Any, str | None]]:
    """Events that say numbers."""
    return [("custom", {"n": n}, f"{n + 1}-0") for n in numbers]


def run_of(*numbers: int) -> bytes:
    """The stream of a run that says numbers."""
    return stream(events([BEGUN, *custom(*numbers)]))


def cut_run(*numbers: int) -> bytes:
    """As `run_of`, but then the connection is cut."""
    return stream(events([BEGUN, *custom(*numbers)]), whole=False)


def rest_of(*numbers: int) -> bytes:
    """What the stream of a run says to one who joins it later."""
    return stream(events(custom(*numbers)))


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

    def numbers(self, *answers: Any, **options: Any) -> list[Any]:
        """The numbers of a run of a server that gives these answers."""
        with RawServer(*answers) as server:
            return numbers(self.run(server, **options))

    def fails(
        self, error: type[BaseException], *answers: Any, match: str | None = None, **options: Any
    ) -> tuple[Any, RawServer]:
        """The error of a run of a server that gives these answers, and what was asked there."""
        with RawServer(*answers) as server, pytest.raises(error, match=match) as caught:
            self.run(server, **options)
        return caught.value, server

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
