"""Whether the databases answer, asked by probes that come often and wait for little."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from langgraph_once.checkpoint import backend_of

logger = logging.getLogger(__name__)

_LIMIT_S: Final = 0.8
"""Kubernetes gives a probe one second, if nobody says otherwise."""


class DatabaseHealth:
    """Asks databases, each by one connection at a time, however many probes come. Thread-safe.

    Args:
        databases: By what is kept in them, their paths or URLs.
    """

    def __init__(self, databases: Mapping[str, str]) -> None:
        self._databases = databases
        self._threads = ThreadPoolExecutor(max(1, len(databases)), thread_name_prefix="once-health")
        self._lock = threading.Lock()
        self._asking: dict[str, Future[None]] = {}

    async def problems(self) -> list[str]:
        """What does not answer, each in one line without a path; the log says why."""
        asked = {kept: self._asked(kept) for kept in self._databases}
        waiting = [asyncio.wrap_future(answer) for answer in asked.values()]
        for each in waiting:  # nobody asks for the error of one that comes late
            each.add_done_callback(lambda late: late.cancelled() or late.exception())
        if waiting:
            await asyncio.wait(waiting, timeout=_LIMIT_S)
        found = []
        for kept, answer in asked.items():
            if not answer.done():
                found.append(f"the database of {kept} does not answer in time")
            elif (error := answer.exception()) is not None:
                logger.warning("%s", error)
                found.append(f"the database of {kept} does not answer")
        return found

    def _asked(self, kept: str) -> Future[None]:
        with self._lock:
            under_way = self._asking.get(kept)
            if under_way is None or under_way.done():
                under_way = self._threads.submit(lambda: backend_of(self._databases[kept]).ask())
                self._asking[kept] = under_way
            return under_way
