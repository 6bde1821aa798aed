"""langgraph-once: each piece of a stream once, each checkpoint value as it went in.

    from langgraph_once import once, dedup, OnceRemoteGraph, OnceSerializer

The rooms: `serde` (objects and bytes), `checkpoint` (threads and databases), `stream`
(chunks, each once), `events` (what they say, typed), `remote` (the same over a URL),
`platform` (what `langgraph.json` points at).
"""

from langgraph_once.floors import refuse_old_packages

with refuse_old_packages():
    from langgraph_once.config import (
        READER_CHECKPOINT,
        DedupConfig,
        HideConfig,
        RemoteConfig,
        SerdeConfig,
    )
    from langgraph_once.events import (
        ChannelConfig,
        ChannelMode,
        ChannelStreamingProcessor,
        TokenStreamingConfig,
        Transcript,
    )
    from langgraph_once.remote import OnceRemoteGraph, join_run, stream_run
    from langgraph_once.serde import OnceSerializer, storable
    from langgraph_once.stream import Deduplicator, Ledger, adedup, dedup, once

__all__ = [
    "READER_CHECKPOINT",
    "ChannelConfig",
    "ChannelMode",
    "ChannelStreamingProcessor",
    "DedupConfig",
    "Deduplicator",
    "HideConfig",
    "Ledger",
    "OnceRemoteGraph",
    "OnceSerializer",
    "RemoteConfig",
    "SerdeConfig",
    "TokenStreamingConfig",
    "Transcript",
    "adedup",
    "dedup",
    "join_run",
    "once",
    "storable",
    "stream_run",
]
