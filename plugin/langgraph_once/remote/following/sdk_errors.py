"""What an error says: may the same go well the next time, and when?

Only the error classes of the SDK are known here; a new error that may pass belongs here.
"""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from langgraph_sdk.errors import APIStatusError, NotFoundError

__all__ = [
    "MAX_RETRY_AFTER_S",
    "UnknownRunError",
    "is_transient",
    "may_begin_again",
    "refusal",
    "retry_after_s",
    "says_unknown",
]

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
