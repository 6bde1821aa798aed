"""How long to wait before the next try."""

from __future__ import annotations

from tenacity import (
    RetryCallState,
    Retrying,
    stop_after_attempt,
    stop_never,
    wait_exponential,
    wait_random,
)

from langgraph_once.config import RemoteConfig
from langgraph_once.remote.following.failures import MAX_TOLD_S, told_s

__all__ = ["Backoff"]


class Backoff:
    """Counts failed tries.

    Args:
        config: How many there may be, and how long to wait before each.
        is_bounded: There may be no more than `max_retries`.
    """

    def __init__(self, config: RemoteConfig, *, is_bounded: bool = True) -> None:
        self._strategy = Retrying(
            stop=stop_after_attempt(config.max_retries + 1) if is_bounded else stop_never,
            wait=wait_exponential(multiplier=config.backoff_s, max=config.max_backoff_s)
            + wait_random(0, config.backoff_s),
        )
        self.reset()

    def reset(self) -> None:
        """Note that a try succeeded."""
        self._state = RetryCallState(self._strategy, None, (), {})

    @property
    def tries(self) -> int:
        """How many there have been."""
        return self._state.attempt_number - 1

    def next_s(self, error: Exception | None = None) -> float | None:
        """How long to wait before the next; None if there have been enough.

        Args:
            error: What the last try ended with. The server may say in it when to come back.
        """
        if self._strategy.stop(self._state):
            return None
        wait_s = self._strategy.wait(self._state)
        self._state.attempt_number += 1
        return max(wait_s, min(told_s(error) or 0, MAX_TOLD_S))
