"""What a stream is given to begin with: an input, or nothing new."""

from __future__ import annotations

from typing import Any

from langgraph.types import Command

__all__ = ["is_resume", "may_repeat"]


def is_resume(given: Any) -> bool:
    """Whether a stream that is given this goes on from a checkpoint."""
    return given is None or isinstance(given, Command)


def may_repeat(given: Any) -> bool:
    """Whether it may begin with updates of the stream before.

    A command that goes to a node has that run, or its cache answer, anew.
    """
    return given is None or (isinstance(given, Command) and not given.goto)
