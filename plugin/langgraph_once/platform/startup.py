"""How a user's mistake ends the start of the server: in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from langgraph_once.errors import OnceError

__all__ = ["user_mistakes_stop_the_server"]


@contextmanager
def user_mistakes_stop_the_server() -> Iterator[None]:
    """Turn our errors into `SystemExit` with their message.

    An exception would reach the user as a page of traceback through the server's own code;
    `SystemExit` passes uvicorn and asyncio and leaves one line and exit code 1.
    """
    try:
        yield
    except OnceError as error:
        message = f"langgraph-once: {error}"
        raise SystemExit(message) from None
