"""A new attempt beside the one before."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessageChunk

from langgraph_once import DedupConfig, Deduplicator, Ledger
from langgraph_once.stream import Part

META = {"langgraph_checkpoint_ns": "n:1", "ls_model_type": "chat"}
HOLD = DedupConfig(reexecution="hold")


def said(message_id: str, *blocks: Any) -> Part:
    return Part((), "messages", AIMessageChunk(content=list(blocks), id=message_id), META)


def test_what_goes_on_in_blocks_goes_on_in_the_same_block() -> None:
    """Consumers add blocks up by their index."""
    ledger, thought = Ledger(), {"type": "thinking", "thinking": "Hm.", "index": 0}
    outs = []
    for message_id, text in (("a", "Hel"), ("b", "Hello")):
        block = {"type": "text", "text": text, "index": 1}
        dedup = Deduplicator(HOLD, ledger=ledger)
        for part in (said(message_id, thought), said(message_id, block)):
            outs += [(out.data.id, out.data.content) for out in dedup.feed(part)]
    assert outs[2:] == [("a", [{"type": "text", "text": "lo", "index": 1}])]
