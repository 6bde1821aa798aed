"""The state of the research graph and of its researchers."""

import operator
from dataclasses import dataclass
from typing import Annotated, TypedDict

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages

__all__ = ["Finding", "ResearchState", "ResearcherState"]


@dataclass(frozen=True)
class Finding:
    """What a researcher worked from; the words of its summary are in `notes`."""

    topic: str
    sources: list[str]
    tools_used: int
    """How many tool results the summary rests on."""


class ResearchState(TypedDict):
    """The supervisor's thread. Notes and findings of earlier turns are kept."""

    messages: Annotated[list[AnyMessage], add_messages]
    topics: list[str]
    """The topics of this turn."""
    notes: Annotated[list[AnyMessage], add_messages]
    """The summaries, in the order of the topics."""
    findings: Annotated[list[Finding], operator.add]


class ResearcherState(TypedDict):
    """One topic, the conversation about it, and what goes back to the supervisor.

    `notes` and `findings` are handed in because the supervisor has channels of these names;
    it has none called `conversation`, so that stays with the researcher.
    """

    topic: str
    conversation: Annotated[list[AnyMessage], add_messages]
    notes: list[AnyMessage]
    findings: list[Finding]
