"""A graph's stream in, each piece of it once out.

A chunk becomes a `Part`, is held against the `Ledger` of its consumer, and what is new of it
becomes a chunk again. `ledger` keeps what a consumer has, `dedup` decides, `running` knows what
only the running graph can tell, and these are the faces:

graph     `once(graph)`: what a graph streams, wherever it runs.
chunk_filter `dedup(chunks)`: chunks of any graph, with nothing else known of it.
readers   Who reads a stream, gets which form, and whether its messages are numbered.
recording  One run for two consumers: what LangGraph streams of it, and what we do.
announcement  How a reader in this process says who it is.
session   One stream of a thread: its ledger is opened as the run begins, and saved at the end.
bookkeeping  What is asked of savers and stores: it fails no stream, nor holds it up.
v3        The same for protocol v3.

Imports go one way:
graph > session > bookkeeping | readers | recording > v3 > chunk_filter > announcement | running >
dedup > ledger > part.
"""

from langgraph_once.stream.chunk_filter import adedup, dedup
from langgraph_once.stream.dedup.deduplicator import Deduplicator
from langgraph_once.stream.dedup.operations import DedupStats
from langgraph_once.stream.graph import OnceStreams, once
from langgraph_once.stream.ledger.keeping import (
    InMemoryStreamStateStore,
    StreamAddress,
    StreamStateStore,
)
from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.part.annotation import Annotation, annotation_of
from langgraph_once.stream.part.shapes import GAP_MODE, Part, event_part, sdk_part, v2_part
from langgraph_once.stream.v3.transformer import CHANNEL

__all__ = [
    "CHANNEL",
    "GAP_MODE",
    "Annotation",
    "DedupStats",
    "Deduplicator",
    "InMemoryStreamStateStore",
    "Ledger",
    "OnceStreams",
    "Part",
    "StreamAddress",
    "StreamStateStore",
    "adedup",
    "annotation_of",
    "dedup",
    "event_part",
    "once",
    "sdk_part",
    "v2_part",
]
