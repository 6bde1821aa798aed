"""The parts of one remote run, for who asked for them and for the graphs around."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from langgraph.errors import ParentCommand

from langgraph_once.remote.node import Caller
from langgraph_once.stream import GAP_MODE, Ledger, Part

__all__ = ["Recipients", "Wanted"]

logger = logging.getLogger("langgraph_once.remote")


class Wanted(NamedTuple):
    """What is asked for."""

    modes: frozenset[str]
    """As a local graph names them."""

    subgraphs: bool
    """From the graphs inside too."""

    ledger: Ledger | None = None
    """What the consumer has; None if it takes everything."""

    tells_gaps: bool = False
    """A part may say that something may be missing; else only the log does."""


class Recipients:
    """Reads one run.

    Args:
        wanted: What was asked for.
        caller: The task that runs it, if one does.
    """

    def __init__(self, wanted: Wanted, caller: Caller | None) -> None:
        self._wanted = wanted
        self._caller = caller
        self._depth = len(caller.ns) if caller else 0

    @property
    def modes(self) -> frozenset[str]:
        """What to ask the server for."""
        own = self._wanted.modes
        return own | self._caller.modes if self._caller else own

    @property
    def subgraphs(self) -> bool:
        """Whether to ask it for the graphs inside."""
        return self._wanted.subgraphs or bool(self._caller and self._caller.modes)

    def feed(self, part: Part) -> Iterable[Part]:
        """The part, if it was asked for."""
        if part.mode == GAP_MODE:
            logger.warning("something may be missing from a remote run: %s", part.data)
            return (part,) if self._wanted.tells_gaps else ()
        if self._caller is not None:
            part = self._caller.placed(part)
            self._caller.tell(part)
        # Where the graphs around want those inside too, the server says an inner message there
        # and not once more at the root: it is told here rather than lost.
        is_near = len(part.ns) == self._depth or part.mode == "messages"
        is_wanted = part.mode in self._wanted.modes and (is_near or self._wanted.subgraphs)
        return (part,) if is_wanted else ()

    def ran_again(self) -> None:
        """Note that the server runs it again, from its last checkpoint."""
        if self._wanted.ledger is not None:
            self._wanted.ledger.begin()
        if self._caller is not None:
            self._caller.ran_again()

    def finish(self) -> None:
        """Note that the run has ended well.

        Raises:
            GraphInterrupt: It was interrupted, and so is the task that runs it.
        """
        if self._caller is not None:
            self._caller.finish()

    def addressed(self, error: ParentCommand) -> ParentCommand:
        """A command for the graph around the remote one, by the name that graph goes by."""
        graph = self._caller.task if self._caller else ""
        return ParentCommand(replace(error.args[0], graph=graph))
