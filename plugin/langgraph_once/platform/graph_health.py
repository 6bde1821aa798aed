"""Which factories of graphs failed when they were called last.

The server calls them, for each run; the app tells of it. So they share `graph_health`, which is
the process's: the server imports the modules of both by their names.
"""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

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
