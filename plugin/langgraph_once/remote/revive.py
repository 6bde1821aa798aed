"""JSON from the server back into what the graph sent."""

from langgraph_once.stream.revive import revive

__all__ = ["revive"]
