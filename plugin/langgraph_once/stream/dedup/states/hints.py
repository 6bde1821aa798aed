"""What `HintsHandler` heard of a run beside its states, for those that decide on states."""

from __future__ import annotations

from collections import deque

__all__ = ["Hints"]


class Hints:
    """What is known of a run beside its states.

    Attributes:
        copies: For the id of a copy the id of what it is a copy of.
        rerun: The tasks that ran again, each when it did.
        void: The ids of what nodes inside them had returned: the states that hold it may be
            read only later.
    """

    __slots__ = ("copies", "rerun", "void")

    def __init__(self) -> None:
        self.copies: dict[str, str] = {}
        self.rerun: deque[str] = deque()
        self.void: set[str] = set()
