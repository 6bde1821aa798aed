"""v3: what the filter of a run tells the transformers of that run about an event.

It is an attribute of the metadata, so nobody else is sent it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from langgraph_once.stream.part.content import Content
from langgraph_once.stream.part.envelope import Part

__all__ = ["UNMARKED", "Mark", "mark_of", "marked"]


class Mark(NamedTuple):
    """Which readers get an event, and what the transformers need to know to write it."""

    to: Literal["all", "log", "channel", "log and channel"] = "all"
    """Who reads it. In the log are the events of a run, also as they go over a network;
    `run.messages` and the transformers of users read it only where all do."""

    node: str | None = None
    """The node that it is to name."""

    had: Content | None = None
    """What a removal takes back, where its task said it in an earlier run."""


UNMARKED: Final = Mark()


class _Marked(dict[str, Any]):
    """Metadata that bear a mark."""

    __slots__ = ("mark",)

    def __init__(self, metadata: Mapping[str, Any], mark: Mark) -> None:
        super().__init__(metadata)
        self.mark = mark


def marked(part: Part, **how: Any) -> Part:
    """A part with a mark; what is marked already keeps the rest of that."""
    return part._replace(meta=_Marked(part.meta, mark_of(part.meta)._replace(**how)))


def mark_of(metadata: Any) -> Mark:
    """The mark of metadata; they may be of others, who made something else of them."""
    return metadata.mark if type(metadata) is _Marked else UNMARKED
