"""Tables that several processes make at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random

__all__ = ["set_up"]

_ATTEMPTS: Final = 8
_LONGEST_WAIT_S: Final = 0.5


async def set_up(make: Callable[[], Awaitable[None]], races: tuple[type[Exception], ...]) -> None:
    """Make what is missing; who finds that another process was quicker looks again.

    Args:
        make: Upstream's set-up, which looks first how far the tables are.
        races: What it raises when another one made a table meanwhile.
    """
    trying = AsyncRetrying(
        retry=retry_if_exception_type(races),
        stop=stop_after_attempt(_ATTEMPTS),
        wait=wait_random(0, _LONGEST_WAIT_S),
        reraise=True,
    )
    async for attempt in trying:
        with attempt:
            await make()
