"""May we connect to a run again, and when? No I/O."""

from __future__ import annotations

import time
from typing import Final

from langgraph_once.config import RemoteConfig
from langgraph_once.remote.following.backoff import Backoff

__all__ = ["Retries"]

MIN_HELD_S: Final = 0.1


class Retries:
    """Counts connections that bring nothing new, and bounds them.

    Args:
        config: How many there may be in a row, and how long to wait before each.

    Attributes:
        error: What cut the last connection; None if it ended by itself.
        is_first: The connection is the first.
        has_told: The connection has brought something new.
    """

    def __init__(self, config: RemoteConfig) -> None:
        self._config = config
        self._backoff = Backoff(config)
        self._opened_at: float | None = None
        self.error: Exception | None = None
        self.is_first = True
        self.has_told = False

    @property
    def in_vain(self) -> int:
        """How many there have been in vain."""
        return self._backoff.tries

    def opened(self) -> None:
        """Note that the server has answered."""
        self._opened_at = time.monotonic()

    def next_s(self, *, may_be_silent: bool) -> float | None:
        """How long to wait before the next; None if there have been enough.

        Args:
            may_be_silent: A connection that held but brought nothing does not count as failed.
        """
        if self.has_told:
            self._backoff.reset()
            if self.error is None:
                return 0
        elif may_be_silent and self._has_held:
            self._backoff.reset()
        return self._backoff.next_s(self.error)

    def begin(self) -> None:
        """Note that the next is made."""
        self.has_told = False
        self.is_first = False
        self._opened_at = None

    @property
    def _has_held(self) -> bool:
        """Whether the connection was open for as long as anyone waits for another.

        Some proxies end every connection after a time. A client that comes back only after the
        longest wait does a server no harm, however long a node is silent.
        """
        if self._opened_at is None:
            return False
        return time.monotonic() - self._opened_at >= max(self._config.max_backoff_s, MIN_HELD_S)
