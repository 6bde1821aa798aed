"""Who gets the parts of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from langgraph_once.errors import StreamInterrupted
from langgraph_once.stream import Ledger, Part

__all__ = ["Recipient"]


class Recipient:
    """Gets each part as it comes.

    Args:
        ledger: What it has; None where nobody keeps that.
    """

    def __init__(self, ledger: Ledger | None = None) -> None:
        self.ledger = ledger

    def feed(self, part: Part) -> Iterable[Part]:
        """What it lacks of a part."""
        return (part,)

    def close(self) -> Iterable[Part]:
        """What remains to be said when the run has ended well."""
        return ()

    def ran_again(self) -> None:
        """Note that the run goes on from its last checkpoint, so what comes is said anew."""
        if self.ledger is not None:
            self.ledger.begin()

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Give errors the form that the recipient is to get."""
        try:
            yield
        except StreamInterrupted as error:
            error.ledger = self.ledger
            raise
