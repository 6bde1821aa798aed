"""ROOM 4: a URL in, the same chunks as of a local graph out."""

from langgraph_once.remote.graph import OnceRemoteGraph
from langgraph_once.remote.run_stream import AsyncRunStream, RunStream
from langgraph_once.remote.runs import RunOptions, join_run, stream_run

__all__ = [
    "AsyncRunStream",
    "OnceRemoteGraph",
    "RunOptions",
    "RunStream",
    "join_run",
    "stream_run",
]
