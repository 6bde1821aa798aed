"""What reading one value may take: one number that the writer, too, goes by.

A unit is about 0.15 µs, or 30 bytes of memory; `weight` tells how many the bytes of a value take
before they are read. What only shows while they are read is taken from a `Budget`: copies of what
occurs more than once, hashes of what holds others, and patterns to compile.
"""

from __future__ import annotations

from langgraph_once.errors import SizeLimitError

__all__ = ["Budget"]


class Budget:
    """The units that are left for one value."""

    __slots__ = ("_left", "limit", "tag")

    def __init__(self, limit: int, tag: str) -> None:
        self.limit = self._left = limit
        self.tag = tag

    def take(self, units: int) -> None:
        """Take so many.

        Raises:
            SizeLimitError: They are more than are left.
        """
        self._left -= units
        if self._left < 0:
            raise self.exceeded()

    def exceeded(self, how: str = "") -> SizeLimitError:
        """Return the error that says so.

        Args:
            how: In which form the value takes that, with a space behind it.
        """
        return SizeLimitError(
            f"the value {how}takes more to rebuild than `max_decoded_objects` ({self.limit:,}) "
            "allows; raise it if you trust what wrote the value",
            limit_objects=self.limit,
            tag=self.tag,
        )
