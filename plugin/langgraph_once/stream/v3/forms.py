"""v3: what its readers need, whose parts are events."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import replace

from langchain_core.messages import RemoveMessage

from langgraph_once.config import DedupConfig
from langgraph_once.stream.dedup.forms.exact import ExactForm
from langgraph_once.stream.dedup.operations import Operation
from langgraph_once.stream.part.envelope import Part
from langgraph_once.stream.v3.reading import EventReader, run_of

__all__ = ["EventForm", "ExactEvents"]


class EventForm(ExactForm):
    """A form of v3. Its reader is sent events, and whole messages for what is left at the end.

    Attributes:
        reader: What the stream has said so far.
    """

    reader: EventReader

    def policy(self, config: DedupConfig) -> DedupConfig:
        """What runs again is retracted, also where it is to be held.

        Of a model whose first event was withheld, upstream's projections understand no later one.
        """
        return replace(config, reexecution="retract") if config.reexecution == "hold" else config

    @abstractmethod
    def told(self, part: Part, operations: Iterable[Operation]) -> Iterator[Part]:
        """What to send of a part: the operations on it, whose parts are events."""


class ExactEvents(EventForm):
    """The form of a reader in this process, or one over a network that announced itself."""

    def told(self, part: Part, operations: Iterable[Operation]) -> Iterator[Part]:
        """The events, each after the end of what it takes back."""
        for out in (operation.part for operation in operations):
            if out is not None:
                if isinstance(out.data, RemoveMessage):
                    yield from self.reader.void(out, by=run_of(part))
                yield out
