"""The public surface, which users rely on."""

from __future__ import annotations

import inspect

import langgraph_once
from langgraph_once import stream


def test_the_public_names_are_these() -> None:
    assert langgraph_once.__all__ == [
        "READER_CHECKPOINT",
        "ChannelConfig",
        "ChannelStreamingProcessor",
        "DedupConfig",
        "Deduplicator",
        "HideConfig",
        "Ledger",
        "OnceRemoteGraph",
        "OnceSerializer",
        "RemoteConfig",
        "SerdeConfig",
        "StreamMode",
        "TokenStreamingConfig",
        "Transcript",
        "adedup",
        "dedup",
        "join_run",
        "once",
        "storable",
        "stream_run",
    ]
    assert all(hasattr(langgraph_once, name) for name in langgraph_once.__all__)


def test_the_signatures_are_these() -> None:
    expected = {
        "once": ["graph", "config", "stream_state"],
        "dedup": ["chunks", "stream_mode", "subgraphs", "version", "ledger", "config"],
        "adedup": ["chunks", "stream_mode", "subgraphs", "version", "ledger", "config"],
    }
    for name, parameters in expected.items():
        assert list(inspect.signature(getattr(langgraph_once, name)).parameters) == parameters


def test_of_streams_these_names_are_public() -> None:
    assert stream.__all__ == [
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
