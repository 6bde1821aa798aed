"""A text that grows piece by piece, and views of it as it was after each piece.

Making a view costs the same for any length of text. The text is joined when a view is read.
"""

from __future__ import annotations

__all__ = ["Growing", "SoFar"]


class Growing:
    """The pieces of a text, in order."""

    __slots__ = ("_joined", "_joined_count", "_pieces")

    def __init__(self, text: str = "") -> None:
        self._pieces: list[str] = [text] if text else []
        self._joined = ""
        self._joined_count = 0

    def add(self, piece: str) -> SoFar:
        """Add a piece, and view the text as it is now."""
        self._pieces.append(piece)
        return SoFar(self, len(self._pieces))

    def so_far(self) -> SoFar:
        """View the text as it is now."""
        return SoFar(self, len(self._pieces))

    def __len__(self) -> int:
        """How many pieces there are."""
        return len(self._pieces)

    def upto(self, count: int) -> str:
        """The first `count` pieces, joined."""
        if count < self._joined_count:
            return "".join(self._pieces[:count])
        if count > self._joined_count:
            # Whoever reads along pays for one copy of the text, not for joining all pieces.
            self._joined = "".join((self._joined, *self._pieces[self._joined_count : count]))
            self._joined_count = count
        return self._joined

    def __str__(self) -> str:
        """All of it."""
        return self.upto(len(self._pieces))


class SoFar:
    """A growing text as it was at one moment; `str` gives it."""

    __slots__ = ("_count", "_growing")

    def __init__(self, growing: Growing, count: int) -> None:
        self._growing = growing
        self._count = count

    @classmethod
    def of(cls, text: str = "") -> SoFar:
        """A text that grows no more."""
        return Growing(text).so_far()

    def __str__(self) -> str:
        """The text."""
        return self._growing.upto(self._count)

    def __eq__(self, other: object) -> bool:
        """Whether the other is the same text."""
        return str(self) == str(other) if isinstance(other, SoFar) else NotImplemented

    def __hash__(self) -> int:
        """By the text."""
        return hash(str(self))
