"""Whether runs can be served: which factories of graphs fail, and whether the databases answer.

The server calls the factories, for each run; the app tells of it. So they share `graph_health`,
which is the process's: the server imports the modules of both by their names.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from langgraph_once.checkpoint import backend_of

_COUNTS_S: Final = 60.0
"""How long a failure keeps a server from being ready: then the next run may find it mended."""


class _Failure(NamedTuple):
    problem: str
    at: float
    may_be_of_the_request: bool


class GraphHealth:
    """The last failure of each factory, until it makes a graph again. Thread-safe.

    Args:
        clock: Tells the time, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures: dict[str, _Failure] = {}

    @contextmanager
    def watching(self, graph_id: str, factory: Callable[..., Any]) -> Iterator[None]:
        """Take an error for a failure of the factory, and raise it again."""
        try:
            yield
        except Exception as error:
            # Not the message: it may hold a secret, and everybody may ask.
            problem = f"graph {graph_id!r}: its factory raised {type(error).__name__}"
            has_arguments = bool(inspect.signature(factory).parameters)
            with self._lock:
                self._failures[graph_id] = _Failure(problem, self._clock(), has_arguments)
            raise

    def made(self, graph_id: str) -> None:
        """Forget the failure: a graph was made."""
        if graph_id in self._failures:
            with self._lock:
                self._failures.pop(graph_id, None)

    def problems(self) -> list[str]:
        """Each failure in one line, without what the error said."""
        with self._lock:
            return [failure.problem for failure in self._failures.values()]

    def keeps_from_serving(self) -> bool:
        """Whether a factory fails, for whoever asks.

        One that takes arguments may have failed for what one client sent; it does not count, or
        that client could stop the server for all. Neither does a failure of long ago: a server
        that gets no requests would never hear that it was mended.
        """
        since = self._clock() - _COUNTS_S
        with self._lock:
            return any(
                failure.at > since and not failure.may_be_of_the_request
                for failure in self._failures.values()
            )


graph_health: Final = GraphHealth()
"""Of this process."""


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
