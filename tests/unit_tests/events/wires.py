"""Shapes on the wire that the corpus has none of."""

from __future__ import annotations

from langchain_core.messages import AIMessage, AIMessageChunk

from tests.corpus.wires import openai

__all__ = ["unnumbered"]


def unnumbered(answer: AIMessage) -> list[AIMessageChunk]:
    """Calls in fragments, one call after the other, without an index."""
    chunks = openai(answer)
    for chunk in chunks:
        for piece in chunk.tool_call_chunks:
            piece["index"] = None
    return chunks
