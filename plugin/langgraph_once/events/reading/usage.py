"""What messages cost, each counted once."""

from __future__ import annotations

from collections.abc import Callable

from langchain_core.messages.ai import UsageMetadata, add_usage

from langgraph_once.events.vocabulary.event import UsageEvent
from langgraph_once.stream.part.where import Where

__all__ = ["UsageTotals"]


class UsageTotals:
    """The sum over a stream.

    What a model said in vain, in an attempt that failed, was paid for and counts too.

    Args:
        seq: Numbers the events.
    """

    def __init__(self, seq: Callable[[], int]) -> None:
        self._seq = seq
        self._total = UsageMetadata(input_tokens=0, output_tokens=0, total_tokens=0)

    def count(self, usage: UsageMetadata, message_id: str | None, where: Where) -> UsageEvent:
        """Add what a message cost."""
        self._total = add_usage(self._total, usage)
        return UsageEvent(
            seq=self._seq(), where=where, message_id=message_id, usage=usage, total=self._total
        )
