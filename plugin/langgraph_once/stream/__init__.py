"""ROOM 3: chunks in, the chunks that the consumer lacks out."""

from langgraph_once.stream.deduplicator import Deduplicator
from langgraph_once.stream.dropin import adedup, chunk_filter, dedup
from langgraph_once.stream.graph import once
from langgraph_once.stream.intake import StreamModes, Version, v2_part
from langgraph_once.stream.ledger import Ledger
from langgraph_once.stream.part import Part

__all__ = [
    "Deduplicator",
    "Ledger",
    "Part",
    "StreamModes",
    "Version",
    "adedup",
    "chunk_filter",
    "dedup",
    "once",
    "v2_part",
]
