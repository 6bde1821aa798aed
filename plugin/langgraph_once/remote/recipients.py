"""Who gets the parts of a remote run: the caller of `stream`, and the graphs around a node."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from langgraph.errors import ParentCommand

from langgraph_once.remote.following.consumer import Recipient
from langgraph_once.remote.node import Caller
from langgraph_once.stream import GAP_MODE, Ledger, Part

__all__ = ["Recipients", "Wanted"]

logger = logging.getLogger("langgraph_once.remote")


class Wanted(NamedTuple):
    """What is asked for."""

    modes: frozenset[str]
    """The modes, as a local graph names them. Without `gap`, gaps are logged alone."""

    subgraphs: bool
    """Whether from the graphs inside too."""

    ledger: Ledger | None = None
    """What the consumer has; None if it takes everything."""


class Recipients(Recipient):
    """Passes the parts of a run to its caller and to the graphs around a node.

    Args:
        wanted: What was asked for.
        caller: The task that runs it, if one does.
    """

    def __init__(self, wanted: Wanted, caller: Caller | None) -> None:
        super().__init__(wanted.ledger)
        self._wanted = wanted
        self._caller = caller
        self._depth = len(caller.ns) if caller else 0

    @property
    def modes(self) -> frozenset[str]:
        """What to ask the server for."""
        own = self._wanted.modes - {GAP_MODE}
        return own | self._caller.modes if self._caller else own

    @property
    def subgraphs(self) -> bool:
        """Whether to ask it for the graphs inside."""
        return self._wanted.subgraphs or bool(self._caller and self._caller.modes)

    def feed(self, part: Part) -> Iterable[Part]:
        """The part, if it was asked for."""
        self.note_gap(part)
        if part.mode == GAP_MODE:
            logger.warning("something may be missing from a remote run: %s", part.data)
            return (part,) if GAP_MODE in self._wanted.modes else ()
        if self._caller is not None:
            part = self._caller.placed(part)
            self._caller.forward(part)
        # If the graphs around want subgraphs, the server sends an inner message in its subgraph
        # and not at the root as well. So messages pass from any depth, or they would be lost.
        is_near = len(part.ns) == self._depth or part.mode == "messages"
        is_wanted = part.mode in self._wanted.modes and (is_near or self._wanted.subgraphs)
        return (part,) if is_wanted else ()

    def ran_again(self) -> None:
        """Start a new epoch, for the graphs around as well."""
        super().ran_again()
        if self._caller is not None:
            self._caller.ran_again()

    def close(self) -> Iterable[Part]:
        """Nothing: note that the run has ended well.

        Raises:
            GraphInterrupt: It was interrupted, and so is the task that runs it.
        """
        if self._caller is not None:
            self._caller.finish()
        return ()

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Address a command to the graph around by its name, which the server does not know."""
        try:
            with super().ending():
                yield
        except ParentCommand as error:
            raise self.addressed(error) from error

    def addressed(self, error: ParentCommand) -> ParentCommand:
        """The command, addressed to the graph around the remote one by its name."""
        graph = self._caller.task if self._caller else ""
        return ParentCommand(replace(error.args[0], graph=graph))
