"""What may go well the next time, and how long to wait before that."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
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

__all__ = ["Backoff", "is_transient", "may_begin_again"]

RATE_LIMITED: Final = 429
UNAVAILABLE: Final = 503

MAX_TOLD_S: Final = 60
"""The longest that a server is left alone because it says so."""

TRANSIENT: Final = frozenset({408, 425, 429})
"""Statuses below 500 with which a server says that it may answer the next time."""


def is_transient(error: Exception) -> bool:
    """Whether what failed may go well the next time: all but what a server refuses to do."""
    if not isinstance(error, APIStatusError):
        return True
    return error.status_code in TRANSIENT or error.status_code >= 500


def may_begin_again(error: Exception) -> bool:
    """Whether it is certain that the request that failed has begun no run.

    The API takes no id for a run that is to begin, so a run that may have begun must not be asked
    for again, or it is there twice. That is certain of a server that says 429, or 503 and when to
    come back: both are said in place of taking the request on. It is not of 502 and 504, by which
    a proxy says that the server behind it took the request and did not answer, nor of 500, of a
    503 without `Retry-After`, and of a connection that was cut. Where nobody could be connected
    to, the SDK's own transport has tried again already. Who asks for longer than a minute gets
    the error told at once.
    """
    if not isinstance(error, APIStatusError):
        return False
    told_s = _told_s(error)
    if told_s is None:
        return error.status_code == RATE_LIMITED
    return error.status_code in (RATE_LIMITED, UNAVAILABLE) and told_s <= MAX_TOLD_S


def _told_s(error: Exception | None) -> float | None:
    """For how long a server does not want to be asked again, if it says so; in seconds."""
    if not isinstance(error, APIStatusError):
        return None
    headers = error.response.headers
    told = headers.get("retry-after", "").strip()
    if told.isdecimal():
        return float(told)
    until, now = (_date(headers.get(name, "")) for name in ("retry-after", "date"))
    if until is None:
        return None
    return max((until - (now or datetime.now(UTC))).total_seconds(), 0)


def _date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


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

    def next_s(self, error: Exception | None = None) -> float | None:
        """How long to wait before the next; None if there have been enough.

        Args:
            error: What the last ended with; in it the server may say when to come back.
        """
        if self._strategy.stop(self._state):
            return None
        wait_s = self._strategy.wait(self._state)
        self._state.attempt_number += 1
        return max(wait_s, min(_told_s(error) or 0, MAX_TOLD_S))
