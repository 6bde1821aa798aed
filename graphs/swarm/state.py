"""The state of the swarm: one conversation, and who leads it."""

from typing import NotRequired

from langgraph.graph import MessagesState

__all__ = ["SwarmState"]


class SwarmState(MessagesState):
    """All desks work on the same messages."""

    active: NotRequired[str]
    """The desk that spoke last, which the next question goes to; at first `flights`."""
