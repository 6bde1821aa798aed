"""ROOM 4: a URL in, the same chunks as of a local graph out."""

from langgraph_once.remote.graph import OnceRemoteGraph

__all__ = ["OnceRemoteGraph"]
