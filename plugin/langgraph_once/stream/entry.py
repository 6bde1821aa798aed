"""One message that the consumer has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from langchain_core.messages import AIMessageChunk, BaseMessageChunk

from langgraph_once.stream.annotation import Annotation
from langgraph_once.stream.content import Content, Details, StreamedContent
from langgraph_once.stream.places import akin, home


class State(StrEnum):
    """How a message stands; `docs/repetitions.md` tells what leads to which."""

    OPEN = "open"
    """A model is saying it."""

    COMPLETE = "complete"
    """A model has said it, and no task has returned it yet."""

    COMMITTED = "committed"
    """A task returned it, or it came in a state."""

    STALE = "stale"
    """An attempt that failed said it. What the next one says is held against it."""

    GONE = "gone"
    """The consumer was told to drop it, or the ledger knows it no longer."""


@dataclass(slots=True, eq=False)
class Entry:
    """One message that the consumer has, in whole or in part.

    Attributes:
        task: The task that sent it: its `langgraph_checkpoint_ns`; `""` where the message
            came inside a state, which does not tell.
        id: The id under which the consumer has it.
        said: What the consumer has of it.
        ids: The id of the message, and then the ids of its copies.
        within: The task that runs the graph in whose state it came, where it came in one.
        run: The model run that made it, where that is known.
        steps: The steps in which its task and the tasks around it run, outermost first; empty
            where that is not known.
        epoch: The number of the stream that delivered it.
        began_in: The number of the stream that delivered it first.
        number: How many messages the ledger had got with it.
        is_model: A model said it, so a message of the same task may be its copy.
        state: How it stands.
        has_usage: The consumer has its usage; of a whole message that is taken for granted.
        claimed: The tasks in which a later message has been found to be this one. For each it
            stands for one copy, so that a node may say the same thing twice.
        details: What else the consumer has of it, beside what it says; None if that is not known.
        metadata: Those of its first chunk, while it is open and in want of an annotation.
    """

    task: str
    id: str
    said: Content | StreamedContent
    ids: list[str] = field(default_factory=list)
    within: str = ""
    run: str | None = None
    steps: list[int] = field(default_factory=list)
    epoch: int = 0
    began_in: int = 0
    number: int = 0
    is_model: bool = False
    state: State = State.COMMITTED
    has_usage: bool = True
    claimed: set[str] = field(default_factory=set)
    details: Details | None = None
    metadata: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        self.ids = self.ids or [self.id]
        if self.is_open:
            self.is_model, self.has_usage = True, False

    @property
    def is_open(self) -> bool:
        """Whether more chunks of it may come."""
        return isinstance(self.said, StreamedContent)

    @property
    def content(self) -> Content:
        """What the consumer has of it."""
        return self.said.content() if isinstance(self.said, StreamedContent) else self.said

    @property
    def size(self) -> int:
        """How many characters of it the consumer has."""
        return self.said.size if isinstance(self.said, StreamedContent) else len(self.said.text)

    @property
    def place(self) -> str:
        """The task that sent it, or that runs the graph in whose state it came."""
        return self.task or self.within

    def stand(self) -> None:
        """It counts as what was said, whatever it was before."""
        if self.claimed or not self.is_model:
            self.state = State.COMMITTED
        else:
            self.state = State.OPEN if self.is_open else State.COMPLETE

    def note(self, annotation: Annotation | None, steps: list[int]) -> None:
        """Keep what is known about where it comes from."""
        self.steps = steps
        self.run = None if annotation is None else annotation.get("run")

    def extend(self, chunk: BaseMessageChunk) -> None:
        """Add the next chunk of a message that is open."""
        self.said.extend(chunk)  # type: ignore[union-attr]  # it is open

    def accumulates(self, chunk: AIMessageChunk) -> bool:
        """Whether a last chunk says all of this open message over again (D8)."""
        return self.said.accumulates(chunk)  # type: ignore[union-attr]  # it is open

    def extended(self, chunk: BaseMessageChunk) -> Content:
        """What it says with a chunk that comes after the last one."""
        said = self.content
        return said._replace(text=said.text + StreamedContent(chunk).content().text)

    def settle(self) -> None:
        """Keep the text as one, now that no more of it is expected."""
        self.metadata = None
        if isinstance(self.said, StreamedContent):
            self.has_usage = self.said.has_usage
            self.details = self.said.details
            self.said = self.said.content()
        if self.state is State.OPEN:
            self.state = State.COMPLETE

    def is_of(self, annotation: Annotation | None) -> bool:
        """Whether a chunk with this annotation is the next of the same model run.

        One that brings another id is not simply the next.
        """
        if annotation is None:
            return self.run is None
        return self.run == annotation.get("run") and "named" not in annotation

    def is_beside(self, runner: str) -> bool:
        """Whether it is of a graph beside the one that task `runner` runs: neither in the other."""
        graph = home(self.task) if self.task else self.within
        return bool(graph) and not akin(runner, graph)

    def akin(self, task: str) -> bool:
        """Whether `task` may be speaking of this message: the same task, or parent and child.

        Parallel tasks may send equal messages under one id; none of them is a duplicate.
        """
        return akin(self.task, task)
