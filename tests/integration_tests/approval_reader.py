"""An approval UI in a process of its own: it plays one stream of each thread, and ends.

It reads the streams as JSON, writes the typed events of each, and keeps nothing.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from langgraph.pregel.remote import RemoteGraph
from langgraph.types import Command
from langgraph_sdk import get_sync_client

from langgraph_once import READER_CHECKPOINT, Ledger, OnceRemoteGraph
from langgraph_once.events import (
    ChannelConfig,
    ChannelStreamingProcessor,
    TokenStreamingConfig,
    to_dict,
)

KINDS: Any = {"client": None, "RemoteGraph": RemoteGraph, "OnceRemoteGraph": OnceRemoteGraph}


def played(client: Any, kind: str, graph: str, thread_id: str, asked: Any, had: Any) -> Any:
    """The events of one stream, and what its reader has then, if it keeps that by itself."""
    ledger = None if had is None else Ledger.from_bytes(bytes.fromhex(had)) if had else Ledger()
    processor = ChannelStreamingProcessor(
        [ChannelConfig(key="messages")],
        TokenStreamingConfig(),
        include=["interrupts"],
        ledger=ledger,
    )
    source = KINDS[kind]
    config: Any = {"configurable": {"thread_id": thread_id}}
    if source is None:
        chunks = client.runs.stream(
            thread_id,
            graph,
            **asked,
            stream_mode=["messages-tuple", "values"],
            checkpoint=READER_CHECKPOINT,
        )
        events = processor.stream_sync(chunks)
    else:
        value = Command(**asked["command"]) if "command" in asked else asked["input"]
        events = processor.stream_sync(source(graph, sync_client=client), value, config)
    return [to_dict(event) for event in events], ledger and ledger.to_bytes().hex()


def main() -> None:
    """Play the streams that stdin has, side by side: on the server each waits for its turn."""
    url, streams = sys.argv[1], json.loads(sys.stdin.readline())
    client = get_sync_client(url=url)
    with ThreadPoolExecutor(len(streams)) as pool:
        told = pool.map(lambda stream: played(client, **stream), streams)
    json.dump([*told], sys.stdout)


if __name__ == "__main__":
    main()
