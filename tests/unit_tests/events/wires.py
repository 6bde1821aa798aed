"""Shapes on the wire that the corpus has none of."""

from __future__ import annotations

import json

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk

from tests.corpus.wires import openai

__all__ = ["unnumbered"]


def unnumbered(answer: AIMessage) -> list[AIMessageChunk]:
    """All calls whole in one chunk, without an index.

    Fragments without an index exist too, but LangChain does not join them: what enters the
    state is broken, and so is not to be compared with.
    """
    first, *middle, last = openai(answer)
    texts = [chunk for chunk in middle if not chunk.tool_call_chunks]
    pieces = [
        tool_call_chunk(name=call["name"], args=json.dumps(call["args"]), id=call["id"])
        for call in answer.tool_calls
    ]
    calls = AIMessageChunk(content="", tool_call_chunks=pieces, id=first.id)
    return [first, *texts, calls, last]
