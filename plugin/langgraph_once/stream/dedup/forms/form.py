"""What a form of a stream is: the object that stands for one kind of reader.

The deduplicator, the handler of a running graph and the opener of a stream ask the form what its
reader needs. A new form is a subclass of `Form`, and `readers.py` says which reader gets it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator
from typing import ClassVar

from langgraph_once.config import DedupConfig
from langgraph_once.stream.dedup.operations import Operation
from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.part.content import Space
from langgraph_once.stream.part.envelope import Part

__all__ = ["MESSAGE_MODES", "STATE_MODES", "Form"]

STATE_MODES = frozenset({"updates", "values"})
MESSAGE_MODES = STATE_MODES | {"messages"}


class Form(ABC):
    """One stream, as one kind of reader gets it. Each stream has a form of its own.

    What is not overridden is right for a reader that folds what it is sent by id.
    """

    takes_back: ClassVar[bool] = True
    """It drops what it is told to drop, and takes another text in its place."""

    folds: ClassVar[bool] = True
    """What folds to the state is said in `messages`: also what only a state names, for which
    `values` are asked for on our own account. Else `messages` has what plain LangGraph sends."""

    reads_annotations: ClassVar[bool] = True
    """It is sent the annotations of messages. Else they are for this process alone."""

    keeps_thread: ClassVar[bool] = True
    """It has what earlier streams of the thread told it. Else it may be new: nothing is kept
    between streams, and what LangGraph knows of the thread is not told once more."""

    merges_states: ClassVar[bool] = False
    """It keeps messages and states in one list, whose place each `values` takes. So states come
    whole, also one that equals the one before."""

    tells_details: ClassVar[bool] = False
    """It is told what changes of a message beside what it says: its name, `additional_kwargs` and
    `response_metadata`."""

    sees_tokens: ClassVar[bool] = False
    """`sent` is asked about each token; else not about one that simply goes on, to save time."""

    def begin(self, ledger: Ledger) -> None:
        """Begin the stream.

        Args:
            ledger: What the reader has.
        """
        self.ledger = ledger

    def policy(self, config: DedupConfig) -> DedupConfig:
        """What counts as a repetition to this reader, where the graph is configured so."""
        return config

    def cuts_states(self, config: DedupConfig, modes: Collection[str]) -> bool:
        """Whether states go without the messages that the reader has."""
        state = self.policy(config).state
        return len(MESSAGE_MODES & set(modes)) > 1 if state == "auto" else state == "new_messages"

    def goes_on(self, modes: Collection[str]) -> bool:
        """Whether an attempt that says more than the one before goes on under the id of that.

        The state has it under its own id: who merges states by id would show it under both.
        """
        return not (self.merges_states and STATE_MODES & set(modes))

    def space(self, config: DedupConfig) -> Space:
        """What white space a copy may differ in.

        Who takes nothing back keeps what was streamed in place of the copy, so that their words
        and what is between them must be the same.
        """
        if config.copies == "exact":
            return "same"
        return "any" if self.takes_back else "ends"

    @abstractmethod
    def sent(self, operations: Iterable[Operation]) -> Iterator[Part]:
        """What the reader is sent of some decisions, in order."""
