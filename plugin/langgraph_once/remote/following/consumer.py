"""Who gets the parts of a run, and what of each part."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

from langchain_core.messages import BaseMessageChunk

from langgraph_once.config import DedupConfig
from langgraph_once.errors import StreamInterrupted
from langgraph_once.stream import GAP_MODE, Deduplicator, Ledger, Part
from langgraph_once.stream.dedup.states.after_gap import alias_messages_after_gap
from langgraph_once.stream.part.annotation import flagged

__all__ = ["Consumer", "Recipient", "new_ledger"]


class Recipient:
    """Gets each part as it comes.

    Args:
        ledger: What the recipient has; None where no ledger is kept.
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


class Consumer(Recipient):
    """Gets what it lacks.

    Args:
        config: What counts as a repetition.
        ledger: What the consumer has from before.
        modes: The modes of the stream.
        only: Parts of other modes than these are not for it; None if all are.
        goes_on: The ledger was written by an earlier part of the same stream. What it holds was
            said by this stream, not by another.
    """

    ledger: Ledger

    def __init__(
        self,
        config: DedupConfig | None,
        ledger: Ledger | None,
        modes: Collection[str],
        *,
        only: Collection[str] | None = None,
        goes_on: bool = False,
    ) -> None:
        super().__init__(new_ledger(config) if ledger is None else ledger)
        if goes_on:
            self.ledger.epoch -= 1  # the deduplicator counts this as a stream of its own
        self._dedup = Deduplicator(config, ledger=self.ledger, modes=modes)
        self._only = only
        self._begun = _reopened(self.ledger) if goes_on else set()
        self._has_gap = False

    def feed(self, part: Part) -> Iterable[Part]:
        """What the consumer lacks of a part."""
        if part.mode == GAP_MODE:
            self._has_gap = True
        elif self._only is not None and part.mode not in self._only:
            return ()
        elif self._has_gap and part.mode == "values":
            alias_messages_after_gap(self.ledger, part.data)
        if self._begun and isinstance(part.data, BaseMessageChunk) and part.data.id in self._begun:
            # The ledger holds the message for finished, since it was written before.
            part = part._replace(meta=flagged(part.meta, "repairs"))
        return self._dedup.feed(part)

    def close(self) -> Iterable[Part]:
        """What remains to be said at the end."""
        return self._dedup.close()

    def ran_again(self) -> None:
        """Note that what comes is said anew."""
        self._begun = set()
        super().ran_again()


def new_ledger(config: DedupConfig | None) -> Ledger:
    """The ledger of a consumer that has nothing yet."""
    return Ledger.within(config or DedupConfig())


def _reopened(ledger: Ledger) -> set[str]:
    """Mark what the stream has said as its own. A ledger that begins a stream forgets that.

    Returns:
        The ids of the messages.
    """
    said = [entry for entry in ledger.known() if entry.epoch == ledger.epoch]
    for entry in said:
        ids = entry.ids
        ledger.drop(entry)
        entry.ids = ids[:1]
        ledger.add(entry)
        for copy_id in ids[1:]:
            ledger.alias(entry, copy_id)
    return {entry.id for entry in said}
