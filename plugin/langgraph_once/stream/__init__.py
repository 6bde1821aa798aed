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
from langgraph_once.stream.intake import StreamModes, Version, v2_part
from langgraph_once.stream.ledger import Ledger
from langgraph_once.stream.part import Part

__all__ = [
    "ChunkFilter",
    "Deduplicator",
    "Ledger",
    "Part",
    "StreamModes",
    "Version",
    "adedup",
    "afiltered",
    "chunk_filter",
    "dedup",
    "filtered",
    "once",
    "v2_part",
]
