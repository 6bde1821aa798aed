"""Two consumers of one graph on a server, as view events: LangGraph's own stream beside ours.

sides.py     `SideRequest`: what one consumer asks for; `followed`: its runs as view events;
             `all_followed`: those of several, each event as it comes
client.py    an SDK client that counts the bytes of its event streams
together.py  several streams at once

The stock side asks as any client does, but uncompressed, as LangGraph sends; a wrapped graph is
asked for what it would stream without `once`. Each side has a thread of its own, so the graph runs
once for each. All runs are resumable, and go on when nobody listens: `SideRequest(run_ids=…)` joins
them again from their beginning.
"""

from langgraph_once.compare.client import counting_client
from langgraph_once.compare.sides import SideRequest, all_followed, followed

__all__ = ["SideRequest", "all_followed", "counting_client", "followed"]
