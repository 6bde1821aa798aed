"""What a deduplicator has decided, counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

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
