"""What a stream is given to begin with: an input, or nothing new."""

from __future__ import annotations

from typing import Any

from langgraph.types import Command

__all__ = ["is_resume"]


def is_resume(given: Any) -> bool:
    """Whether a stream that is given this goes on from a checkpoint."""
    return given is None or isinstance(given, Command)
