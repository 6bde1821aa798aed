"""What does an error say: may we ask the server again, and when? No I/O.

Only the error classes of the SDK are known here; a new error that may pass belongs here.
"""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from langgraph_sdk.errors import APIStatusError, NotFoundError

RATE_LIMITED: Final = 429
UNAVAILABLE: Final = 503

MAX_RETRY_AFTER_S: Final = 60
"""The longest wait that `Retry-After` may ask for. Who asks for hours would stop the consumer."""

TRANSIENT: Final = frozenset({408, 425, 429})
"""Statuses below 500 with which a server says that it may answer the next time."""


class UnknownRunError(Exception):
    """The server says that it does not know the run."""


def says_unknown(error: Exception | None) -> bool:
    """Whether an error says that the server does not know the run."""
    return isinstance(error, NotFoundError | UnknownRunError)


def is_transient(error: Exception) -> bool:
    """Whether what failed may go well the next time: all but what a server refuses to do."""
    if not isinstance(error, APIStatusError):
        return True
    return error.status_code in TRANSIENT or error.status_code >= 500


def refusal(error: Exception) -> int | None:
    """The status with which a server refuses for good; None if it does not."""
    if not isinstance(error, APIStatusError) or isinstance(error, NotFoundError):
        return None
    return None if is_transient(error) else error.status_code


def may_begin_again(error: Exception) -> bool:
    """Whether it is certain that the request that failed has begun no run.

    The API takes no id for a run that is to begin. A run that may have begun must not be asked
    for again, or it is there twice. Two answers are certain: 429, and 503 with `Retry-After`;
    both say that the request was not taken on. These are not: 502 and 504, by which a proxy
    says that the server behind it took the request and did not answer; 500; a 503 without
    `Retry-After`; a connection that was cut. If no connection could be made, the SDK's own
    transport has tried again already. If a server asks for more than a minute, the caller gets
    the error at once.
    """
    if not isinstance(error, APIStatusError):
        return False
    asked_s = retry_after_s(error)
    if asked_s is None:
        return error.status_code == RATE_LIMITED
    return error.status_code in (RATE_LIMITED, UNAVAILABLE) and asked_s <= MAX_RETRY_AFTER_S


def retry_after_s(error: Exception | None) -> float | None:
    """For how long a server does not want to be asked again, if it says so; in seconds."""
    if not isinstance(error, APIStatusError):
        return None
    headers = error.response.headers
    asked = headers.get("retry-after", "").strip()
    if asked.isdecimal():
        return float(asked)
    # A date is by the server's clock, and so is `Date`; ours may be hours off.
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


FIRST_WAIT_S: Final = 0.1
"""Before the second try; twice as long before each next, and up to as much again at random."""

# A server that restarts is back by then; who waits for it sees that within the next try.
MAX_WAIT_S: Final = 10.0

MIN_HELD_S: Final = 0.1
"""A shorter connection counts as cut at once, also while there is no wait to compare it with."""

MAX_DOUBLINGS: Final = 64
"""`2.0 ** 1024` would raise."""

MAX_VERIFIED: Final = 3
"""How often in a row a response may end as if it were whole before that is waited for."""


class Backoff:
    """Counts failed tries, and doubles the wait with each.

    Args:
        most: How many there may be; None for any number.

    Attributes:
        tries: How many there have been.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self.tries = 0

    def reset(self) -> None:
        """Note that a try succeeded."""
        self.tries = 0

    def next_s(self, error: Exception | None = None) -> float | None:
        """How long to wait before the next; None if there have been enough.

        Args:
            error: What the last try ended with. The server may say in it when to come back.
        """
        if self._most is not None and self.tries >= self._most:
            return None
        wait_s = min(FIRST_WAIT_S * 2.0 ** min(self.tries, MAX_DOUBLINGS), MAX_WAIT_S)
        self.tries += 1
        # A server that comes back is not to meet all its clients at the same moment.
        wait_s += random.uniform(0, FIRST_WAIT_S)  # noqa: S311  # no secret
        return max(wait_s, min(retry_after_s(error) or 0, MAX_RETRY_AFTER_S))


class Retries:
    """Spaces connections, and bounds those that bring nothing new.

    Args:
        most: How many may do so in a row.

    Attributes:
        error: What cut the last connection; None if it ended by itself.
        is_first: The connection is the first.
        has_progressed: The connection has brought something new.
    """

    def __init__(self, most: int) -> None:
        self._vain = Backoff(most)
        self._short = Backoff()
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
        if may_be_silent and self._has_held(MAX_WAIT_S):
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
