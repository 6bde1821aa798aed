"""langgraph-once: each piece of a stream once, each checkpoint value as it went in.

    from langgraph_once import once, dedup, OnceRemoteGraph, OnceSerializer

The rooms: `serde` (objects and bytes), `checkpoint` (threads and databases), `stream`
(chunks, each once), `events` (what they say, typed), `remote` (the same over a URL),
`platform` (what `langgraph.json` points at).
"""

from typing import TYPE_CHECKING

from langgraph_once.floors import blame_old_packages, refuse_old_packages
from langgraph_once.lazy import lazily

refuse_old_packages()

with blame_old_packages():
    from langgraph_once.config import (
        READER_CHECKPOINT,
        DedupConfig,
        HideConfig,
        RemoteConfig,
        SerdeConfig,
    )
    from langgraph_once.stream import Deduplicator, Ledger, adedup, dedup, once

if TYPE_CHECKING:
    from langgraph_once.events import (
        ChannelConfig,
        ChannelMode,
        ChannelStreamingProcessor,
        TokenStreamingConfig,
        Transcript,
    )
    from langgraph_once.remote import OnceRemoteGraph, join_run, stream_run
    from langgraph_once.serde import OnceSerializer, storable
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "langgraph_once.events": (
                "ChannelConfig",
                "ChannelMode",
                "ChannelStreamingProcessor",
                "TokenStreamingConfig",
                "Transcript",
            ),
            "langgraph_once.remote": ("OnceRemoteGraph", "join_run", "stream_run"),
            "langgraph_once.serde": ("OnceSerializer", "storable"),
        },
    )

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
