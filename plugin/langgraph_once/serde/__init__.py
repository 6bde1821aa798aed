"""Objects to tagged bytes and back."""

from langgraph_once.serde.serializer import OnceSerializer

__all__ = ["OnceSerializer"]
