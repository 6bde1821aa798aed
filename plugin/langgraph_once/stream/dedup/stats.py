"""What a deduplicator has decided, counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from langgraph_once.stream.dedup.operations import ATTEMPTS, Because, Kind, Operation

__all__ = ["DedupStats"]


@dataclass(slots=True)
class DedupStats:
    """Counts of what became of the parts of a stream."""

    suppressed: int = 0
    """Parts of which the consumer had everything."""

    repaired: int = 0
    """Gaps closed by a chunk with the missing rest."""

    replaced: int = 0
    """Messages that came again with other content."""

    retracted: int = 0
    """Messages taken back, as their task ran again."""

    held: int = 0
    """Chunks withheld while a task that ran again repeated what it said."""

    inferred: int = 0
    """Decisions made by content and order, for want of an annotation."""

    hidden: int = 0
    """Parts that were left out because of who says them."""

    malformed: int = 0
    """Parts of another shape than was asked for, passed on."""

    unknown: Counter[str] = field(default_factory=Counter)
    """Parts of modes and types that this version does not know, passed on, by mode."""

    reasons: Counter[str] = field(default_factory=Counter)
    """What was decided on messages and why, as `commit D1`; but for tokens that simply go on."""

    def count(self, operation: Operation) -> None:
        """Count one decision."""
        kind, because, part = operation
        self.reasons[f"{kind} {because}"] += 1
        if kind is Kind.REPLACE:
            self.replaced += 1
        elif because is Because.REST:
            self.repaired += 1
        elif because in ATTEMPTS and kind is Kind.REMOVE:
            self.retracted += 1
        elif because in ATTEMPTS and part is None:
            self.held += 1
        elif kind is Kind.COMMIT and part is None:
            self.suppressed += 1
