"""What may go well the next time, and how long to wait before that."""

from __future__ import annotations

from typing import Final

from langgraph_sdk.errors import APIStatusError
from tenacity import (
    RetryCallState,
    Retrying,
    stop_after_attempt,
    wait_exponential,
    wait_random,
)

from langgraph_once.config import RemoteConfig

__all__ = ["Backoff", "is_transient"]

TRANSIENT: Final = frozenset({408, 425, 429})
"""Statuses below 500 with which a server says that it may answer the next time."""


def is_transient(error: Exception) -> bool:
    """Whether what failed may go well the next time: all but what a server refuses to do."""
    if not isinstance(error, APIStatusError):
        return True
    return error.status_code in TRANSIENT or error.status_code >= 500


class Backoff:
    """Counts tries in vain.

    Args:
        config: How many there may be, and how long to wait before each.
    """

    def __init__(self, config: RemoteConfig) -> None:
        self._strategy = Retrying(
            stop=stop_after_attempt(config.max_retries + 1),
            wait=wait_exponential(multiplier=config.backoff_s, max=config.max_backoff_s)
            + wait_random(0, config.backoff_s),
        )
        self.reset()

    def reset(self) -> None:
        """Note that a try was not in vain."""
        self._state = RetryCallState(self._strategy, None, (), {})

    @property
    def tries(self) -> int:
        """How many there have been."""
        return self._state.attempt_number - 1

    def next_s(self) -> float | None:
        """How long to wait before the next; None if there have been enough."""
        if self._strategy.stop(self._state):
            return None
        wait_s = self._strategy.wait(self._state)
        self._state.attempt_number += 1
        return wait_s
