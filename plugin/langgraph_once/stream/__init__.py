"""ROOM 3: chunks in, the chunks that the consumer lacks out."""

from langgraph_once.stream.annotation import Annotation, annotated, annotation_of, repairing
from langgraph_once.stream.deduplicator import Deduplicator
from langgraph_once.stream.dropin import (
    ChunkFilter,
    adedup,
    afiltered,
    chunk_filter,
    dedup,
    filtered,
    itself,
)
from langgraph_once.stream.events import EventReader
from langgraph_once.stream.fingerprint import fingerprint
from langgraph_once.stream.graph import TASK_ID_KEY, OnceStreams, once
from langgraph_once.stream.handler import OnceMessagesHandler
from langgraph_once.stream.intake import (
    StreamModes,
    Version,
    event_part,
    mode_set,
    reader,
    sdk_part,
    v2_part,
)
from langgraph_once.stream.ledger import Ledger
from langgraph_once.stream.namespace import NS_SEP, TASK_NS_KEY, lineage
from langgraph_once.stream.part import GAP_MODE, INTERRUPT_KEY, Part
from langgraph_once.stream.recognized import recognize
from langgraph_once.stream.render import event_of, sdk_chunk, writer
from langgraph_once.stream.resume import (
    InMemoryStreamStateStore,
    StreamAddress,
    StreamStateStore,
)
from langgraph_once.stream.revive import MESSAGE_KEYS, MESSAGE_TYPES, revive, revive_part
from langgraph_once.stream.run import DEFAULT_KEY
from langgraph_once.stream.stats import DedupStats
from langgraph_once.stream.transformer import CHANNEL, CHANNEL_METHODS
from langgraph_once.stream.walk import found_in_input, found_in_update
from langgraph_once.stream.where import (
    NODE_KEY,
    NOWHERE,
    Pattern,
    Where,
    format_namespace,
    node_names,
    where_of,
)

__all__ = [
    "CHANNEL",
    "CHANNEL_METHODS",
    "DEFAULT_KEY",
    "GAP_MODE",
    "INTERRUPT_KEY",
    "MESSAGE_KEYS",
    "MESSAGE_TYPES",
    "NODE_KEY",
    "NOWHERE",
    "NS_SEP",
    "TASK_ID_KEY",
    "TASK_NS_KEY",
    "Annotation",
    "ChunkFilter",
    "DedupStats",
    "Deduplicator",
    "EventReader",
    "InMemoryStreamStateStore",
    "Ledger",
    "OnceMessagesHandler",
    "OnceStreams",
    "Part",
    "Pattern",
    "StreamAddress",
    "StreamModes",
    "StreamStateStore",
    "Version",
    "Where",
    "adedup",
    "afiltered",
    "annotated",
    "annotation_of",
    "chunk_filter",
    "dedup",
    "event_of",
    "event_part",
    "filtered",
    "fingerprint",
    "format_namespace",
    "found_in_input",
    "found_in_update",
    "itself",
    "lineage",
    "mode_set",
    "node_names",
    "once",
    "reader",
    "recognize",
    "repairing",
    "revive",
    "revive_part",
    "sdk_chunk",
    "sdk_part",
    "v2_part",
    "where_of",
    "writer",
]
