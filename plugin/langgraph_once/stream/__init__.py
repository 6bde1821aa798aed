"""ROOM 3: chunks in, the chunks that the consumer lacks out."""

from langgraph_once.stream.deduplicator import Deduplicator
from langgraph_once.stream.dropin import (
    ChunkFilter,
    adedup,
    afiltered,
    chunk_filter,
    dedup,
    filtered,
)
from langgraph_once.stream.graph import once
from langgraph_once.stream.intake import StreamModes, Version, event_part, sdk_part, v2_part
from langgraph_once.stream.ledger import Ledger
from langgraph_once.stream.part import Part
from langgraph_once.stream.render import event_of, sdk_chunk
from langgraph_once.stream.resume import (
    InMemoryStreamStateStore,
    StreamAddress,
    StreamStateStore,
)
from langgraph_once.stream.stats import DedupStats

__all__ = [
    "ChunkFilter",
    "DedupStats",
    "Deduplicator",
    "InMemoryStreamStateStore",
    "Ledger",
    "Part",
    "StreamAddress",
    "StreamModes",
    "StreamStateStore",
    "Version",
    "adedup",
    "afiltered",
    "chunk_filter",
    "dedup",
    "event_of",
    "event_part",
    "filtered",
    "once",
    "sdk_chunk",
    "sdk_part",
    "v2_part",
]
