"""What reading one value may take: one number that the writer, too, goes by.

A unit is about 0.15 µs, or 30 bytes of memory; `weight` tells how many the bytes of a value take
before they are read. What only shows while they are read is taken from a `Budget`: copies of what
occurs more than once, hashes of what holds others, and patterns to compile. A small row may take
a part of that: nobody writes a megabyte that costs minutes to read.
"""

from __future__ import annotations

from typing import Final

from langgraph_once.errors import SizeLimitError

__all__ = ["Budget", "allowed_for"]

_LEAST_SHARE: Final = 22
"""Of 2**28 units, that is two seconds."""

_UNITS_OF_A_BYTE: Final = 12
"""More takes no byte but on purpose; a megabyte takes two seconds."""


def allowed_for(size: int, limit: int) -> int:
    """Return how much of `limit` the `Budget` of a value read from `size` bytes holds."""
    return min(limit, max(limit // _LEAST_SHARE, size * _UNITS_OF_A_BYTE))


class Budget:
    """The units that are left for one value."""

    __slots__ = ("_left", "limit", "tag")

    def __init__(self, limit: int, tag: str, *, size: int | None = None) -> None:
        """Take what any value may take, and the bytes that this one is read from, if they count."""
        self.limit = limit
        self._left = limit if size is None else allowed_for(size, limit)
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
