"""Why a value, or the bytes of one, cannot be taken: raised and caught inside of this room.

What they say is shown to users, so no message quotes a value.
"""

from __future__ import annotations

from typing import Any


class UnwritableError(ValueError):
    """Why an object cannot be written, in words that quote nothing of it: they are shown.

    Attributes:
        value: The object, where it is known: errors tell its place.
    """

    def __init__(self, reason: str, value: Any = None) -> None:
        super().__init__(reason)
        self.value = value


class UnreadableError(ValueError):
    """Why data cannot be rebuilt, in words that quote nothing of it: they are shown."""


class UnavailableError(ValueError):
    """Why an object cannot be rebuilt here: its class is gone, or is another one today."""


class TooDeepError(ValueError):
    """The value contains itself, or extensions stand in each other too deep: it takes a `GRAPH`."""
