"""A command to the parent of a graph that has none here, told so that a client can pass it on.

A graph that is served hands over by failing: `ParentCommand` leaves its stream, and the server
writes the error as JSON, by its `model_dump` where it has one. `OnceRemoteGraph` reads the
command there and raises it to the graph around it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from langgraph.errors import ParentCommand

__all__ = ["HandedOver", "handing_over"]


class HandedOver(ParentCommand):
    """A `ParentCommand` that tells itself in JSON."""

    def model_dump(self) -> dict[str, Any]:
        """The error as the server writes it, with the command."""
        command = self.args[0]
        told = {"update": command.update, "goto": _targets(command.goto)}
        return {"error": "ParentCommand", "message": "to the graph around", "command": told}


def _targets(goto: Any) -> list[Any]:
    return list(goto) if isinstance(goto, list | tuple) else [goto]


@contextmanager
def handing_over() -> Iterator[None]:
    """Raises a `ParentCommand` as one that tells itself."""
    try:
        yield
    except HandedOver:
        raise
    except ParentCommand as error:
        raise HandedOver(error.args[0]) from error
