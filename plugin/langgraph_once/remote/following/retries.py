"""May we ask a server again, and when? No I/O."""

from __future__ import annotations

import random
import time
from typing import Final

from langgraph_once.config import RemoteConfig
from langgraph_once.remote.following.sdk_errors import MAX_RETRY_AFTER_S, retry_after_s

__all__ = ["Backoff", "Retries"]

MIN_HELD_S: Final = 0.1
"""A shorter connection counts as cut at once, also while there is no wait to compare it with."""

MAX_DOUBLINGS: Final = 64
"""`2.0 ** 1024` would raise."""

MAX_VERIFIED: Final = 3
"""How often in a row a response may end as if it were whole before that is waited for."""


class Backoff:
    """Counts failed tries, and doubles the wait with each.

    Args:
        config: How many there may be, and how long to wait before each.
        is_bounded: There may be no more than `max_retries`.

    Attributes:
        tries: How many there have been.
    """

    def __init__(self, config: RemoteConfig, *, is_bounded: bool = True) -> None:
        self._config = config
        self._is_bounded = is_bounded
        self.tries = 0

    def reset(self) -> None:
        """Note that a try succeeded."""
        self.tries = 0

    def next_s(self, error: Exception | None = None) -> float | None:
        """How long to wait before the next; None if there have been enough.

        Args:
            error: What the last try ended with. The server may say in it when to come back.
        """
        config = self._config
        if self._is_bounded and self.tries >= config.max_retries:
            return None
        wait_s = min(config.backoff_s * 2.0 ** min(self.tries, MAX_DOUBLINGS), config.max_backoff_s)
        self.tries += 1
        # A server that comes back is not to meet all its clients at the same moment.
        wait_s += random.uniform(0, config.backoff_s)  # noqa: S311  # no secret
        return max(wait_s, min(retry_after_s(error) or 0, MAX_RETRY_AFTER_S))


class Retries:
    """Spaces connections, and bounds those that bring nothing new.

    Args:
        config: How many may do so in a row, and how long to wait before each.

    Attributes:
        error: What cut the last connection; None if it ended by itself.
        is_first: The connection is the first.
        has_progressed: The connection has brought something new.
    """

    def __init__(self, config: RemoteConfig) -> None:
        self._config = config
        self._vain = Backoff(config)
        self._short = Backoff(config, is_bounded=False)
        self._waited_s = 0.0
        self._opened_at: float | None = None
        self.error: Exception | None = None
        self.is_first = True
        self.has_progressed = False

    @property
    def in_vain(self) -> int:
        """How many there have been in vain."""
        return self._vain.tries

    def opened(self) -> None:
        """Note that the server has answered."""
        self._opened_at = time.monotonic()

    def next_s(self, *, may_be_silent: bool) -> float | None:
        """How long to wait before the next; None if there have been enough.

        Args:
            may_be_silent: A connection that held but brought nothing does not count as failed.
        """
        if self.has_progressed:
            self._vain.reset()
            self._waited_s = self._between_short_ones_s()
            if self.error is None:
                return self._waited_s
            wait_s = self._vain.next_s(self.error)
            return None if wait_s is None else max(wait_s, self._waited_s)
        if may_be_silent and self._has_held(self._config.max_backoff_s):
            self._vain.reset()
        return self._vain.next_s(self.error)

    def begin(self) -> None:
        """Note that the next is made."""
        self.has_progressed = False
        self.is_first = False
        self._opened_at = None

    def _between_short_ones_s(self) -> float:
        """How long to wait after a connection that brought something new.

        The wait grows as long as each connection ends sooner than it was waited for. A server
        that cuts each connection behind one event was asked 91 times in 15 seconds before.
        """
        if self._has_held(self._waited_s):
            self._short.reset()
        is_verified = self.error is None and self._short.tries < MAX_VERIFIED
        wait_s = self._short.next_s() or 0
        return 0 if is_verified else wait_s

    def _has_held(self, at_least_s: float) -> bool:
        """Whether the connection was open for so long.

        Some proxies end every connection after a time. A client that comes back only after the
        longest wait does a server no harm, however long a node is silent.
        """
        if self._opened_at is None:
            return False
        return time.monotonic() - self._opened_at >= max(at_least_s, MIN_HELD_S)
