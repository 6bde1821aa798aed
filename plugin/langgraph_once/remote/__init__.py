"""A URL goes in; the chunks of a local graph come out, each once, through every cut.

graph.py       `OnceRemoteGraph`: stream, invoke, v3
threads.py     its part that reads and writes states
recipients.py  who gets a part: the caller of `stream`, and the graphs around a node
node.py        a remote graph as a node of a local graph
own_server.py  a node that asks the server that runs it
runs.py        `stream_run` and `join_run`, with a user's own SDK client
run_stream.py  what these return: an iterator that knows its position
v3.py          v3 runs, with our channel
signatures.py  what `help` shows of methods that pass `**kwargs` on
following/     frames to parts, each once; what to do after a cut (no I/O)
wire/          connections, bytes to frames, and the loop that reconnects
shapes/        the server's JSON to objects of a local graph, and back
"""

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
