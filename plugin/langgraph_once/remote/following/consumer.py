"""Who gets the parts of a run, and which of them are new to it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

from langchain_core.messages import BaseMessageChunk

from langgraph_once.config import DedupConfig
from langgraph_once.errors import ConfigError, StreamInterrupted
from langgraph_once.metrics import streams
from langgraph_once.stream import (
    GAP_MODE,
    Deduplicator,
    Ledger,
    Part,
    alias_messages_after_gap,
    flagged,
)


class Recipient:
    """Gets each part as it comes.

    Args:
        ledger: What the recipient has; None where no ledger is kept.
    """

    def __init__(self, ledger: Ledger | None = None) -> None:
        self.ledger = ledger
        self._has_gap = False

    def feed(self, part: Part) -> Iterable[Part]:
        """What it lacks of a part."""
        return (part,)

    def check_alone(self) -> None:
        """Check that no stream that began later writes into the ledger.

        One that was left before its end may stay open, so that the later stream goes on.

        Raises:
            ConfigError: One does.
        """
        if self.ledger is not None and self.ledger.reader is not self:
            raise ConfigError(
                "ledger",
                "was given to another stream while this one goes on; a ledger says what one "
                "consumer has: give each stream that runs beside another a ledger of its own",
            )

    def note_gap(self, part: Part) -> None:
        """Note a gap. Behind a gap, note the ids that a state has for known messages."""
        if part.mode == GAP_MODE:
            self._has_gap = True
            streams.gap()
        if self._has_gap and part.mode == "values" and self.ledger is not None:
            alias_messages_after_gap(self.ledger, part.data)

    def close(self) -> Iterable[Part]:
        """What is still to be sent when the run has ended well."""
        return ()

    def ran_again(self) -> None:
        """Start a new epoch: the run goes on from its last checkpoint, and repeats what it sent."""
        if self.ledger is not None:
            self.ledger.begin()

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Add to an error what the recipient has, for `join_run` to go on with."""
        if self.ledger is not None:
            self.ledger.reader = self
        try:
            yield
        except StreamInterrupted as error:
            error.ledger = self.ledger
            raise
        finally:
            if self.ledger is not None and self.ledger.reader is self:
                self.ledger.reader = None


class Consumer(Recipient):
    """Gets what it does not have yet.

    Args:
        config: What counts as a repetition.
        ledger: What the consumer has from before.
        modes: The modes of the stream.
        only: Parts of other modes than these are not for it; None if all are.
        goes_on: The ledger was written by an earlier part of the same stream, so its last epoch
            goes on.
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
        super().__init__(Ledger() if ledger is None else ledger)
        self._dedup = Deduplicator(config, ledger=self.ledger, modes=modes)
        self._taken = None if only is None else frozenset((*only, GAP_MODE))
        self._begun = _reopened(self.ledger) if goes_on else set()

    def feed(self, part: Part) -> Iterable[Part]:
        """What the consumer lacks of a part."""
        if self._taken is not None and part.mode not in self._taken:
            return ()
        self.note_gap(part)
        if self._begun and isinstance(part.data, BaseMessageChunk) and part.data.id in self._begun:
            # A ledger ends its open messages as a stream begins. The flag lets a chunk go on
            # with one that has ended.
            part = part._replace(meta=flagged(part.meta, "repairs"))
        return self._dedup.feed(part)

    def close(self) -> Iterable[Part]:
        """What is still to be sent at the end."""
        return self._dedup.close()

    def ran_again(self) -> None:
        """Start a new epoch; no chunk goes on with a message of the last one."""
        self._begun = set()
        super().ran_again()


def _reopened(ledger: Ledger) -> set[str]:
    """Take back that a stream has begun, and note the messages of its last epoch again, under
    their tasks.

    A ledger forgets as a stream begins which tasks run, and copies are found by their tasks.

    Returns:
        The ids of the messages, of those too that are hidden.
    """
    ledger.epoch -= 1
    last = [entry for entry in ledger.known() if entry.epoch == ledger.epoch]
    for entry in last:
        ledger.drop(entry)
        ledger.add(entry)
    hidden = _reopened(ledger.hidden) if ledger.hidden is not None else set[str]()
    return hidden.union(entry.id for entry in last)
