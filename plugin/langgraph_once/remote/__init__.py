"""A URL goes in; the chunks of a local graph come out, each once, through every cut.

graph.py       `OnceRemoteGraph`: stream, invoke, v3, states; who gets the parts
node.py        a remote graph as a node of a local graph, perhaps on its own server
runs.py        `stream_run` and `join_run`, with a user's own SDK client
v3.py          v3 runs, with our channel
reconnect.py   the loop: connect, read, ask what became of the run, connect again; who gets it
connection.py  one HTTP connection to an event stream, sync and async; its bytes to frames
run_reader.py  frames to parts, each once; what to do when a connection ends, and when the run does
alignment.py   after a cut: which of the events that the server repeats do we have already?
reconcile.py   which checkpoints tell what became of the run? What do they prove to be missing?
retries.py     may we ask again, and when? Which errors may pass, or let a run begin again?
shapes.py      the server's JSON to objects of a local graph, and back

The last five do no I/O.
"""

from langgraph_once.floors import blame_old_packages

with blame_old_packages():
    from langgraph_once.remote.graph import OnceRemoteGraph
    from langgraph_once.remote.reconnect import (
        Reading as Reading,
        aread_run as aread_run,
        at_once as at_once,
    )
    from langgraph_once.remote.run_reader import RunReader as RunReader
    from langgraph_once.remote.runs import (
        AsyncRunStream,
        RunOptions,
        RunStream,
        join_run,
        stream_run,
    )
    from langgraph_once.remote.shapes import wire_mode as wire_mode

__all__ = [
    "AsyncRunStream",
    "OnceRemoteGraph",
    "RunOptions",
    "RunStream",
    "join_run",
    "stream_run",
]
