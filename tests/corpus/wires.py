"""The chunks in which providers send an answer: one function for each shape on the wire."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias
from uuid import uuid4

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.tool import ToolCallChunk, tool_call_chunk

from tests.corpus.units import USAGE_TOKENS

Wire: TypeAlias = Callable[[AIMessage], list[AIMessageChunk]]
"""The chunks of one answer, made anew for each call of the model."""

USAGE: Any = {"input_tokens": 3, "output_tokens": 5, "total_tokens": USAGE_TOKENS}


def openai(answer: AIMessage) -> list[AIMessageChunk]:
    """Chat completions: one id on all chunks, calls in fragments by index, usage last."""
    last = AIMessageChunk(content="", usage_metadata=USAGE, chunk_position="last")
    chunks = [AIMessageChunk(content=""), *_texts(answer), *_fragments(answer), last]
    return _named(chunks, answer.id or f"chatcmpl-{uuid4().hex}")


def numbered(where: str, *, last: bool = True) -> Wire:
    """A provider whose id comes on some chunks only.

    Args:
        where: On the "first", on "some", on the "last", on "none"; or "empty", as "".
        last: Whether the last chunk says that it is the last; where it does not, LangChain
            adds an empty one under the id of the run.
    """

    def wire(answer: AIMessage) -> list[AIMessageChunk]:
        chunks = [*_texts(answer), *_fragments(answer)]
        if last:
            chunks.append(AIMessageChunk(content="", usage_metadata=USAGE, chunk_position="last"))
        own = answer.id or f"chatcmpl-{uuid4().hex}"
        for at, chunk in enumerate(chunks):
            is_last = at == len(chunks) - 1
            carries = {
                "first": at == 0,
                "some": at % 2 == 0,
                "last": is_last,
                "all": True,
                "empty": False,
                "none": False,
            }[where]
            chunk.id = own if carries else ("" if where == "empty" else None)
        return chunks

    return wire


def accumulated(answer: AIMessage) -> list[AIMessageChunk]:
    """A final chunk that says everything again."""
    calls = [
        tool_call_chunk(name=c["name"], args=json.dumps(c["args"]), id=c["id"])
        for c in answer.tool_calls
    ]
    whole = AIMessageChunk(content=str(answer.text), tool_call_chunks=calls, chunk_position="last")
    chunks = [*_texts(answer), *_fragments(answer), whole]
    return _named(chunks, answer.id or f"acc-{uuid4().hex}")


def accumulated_unnamed(answer: AIMessage) -> list[AIMessageChunk]:
    """A final chunk that says everything again and has no id of the provider's."""
    chunks = accumulated(answer)
    chunks[-1].id = None
    return chunks


def accumulated_each(answer: AIMessage) -> list[AIMessageChunk]:
    """Every chunk says all of the text so far."""
    words = _words(str(answer.text))
    chunks = [AIMessageChunk(content="".join(words[: at + 1])) for at in range(len(words))]
    chunks[-1].chunk_position = "last"
    return _named(chunks, answer.id or f"acc-{uuid4().hex}")


def anthropic(answer: AIMessage) -> list[AIMessageChunk]:
    """Messages: content in blocks by index, thinking first, the id on the first chunk only."""
    own = answer.id or f"msg_{uuid4().hex}"
    chunks = [AIMessageChunk(content=[], id=own, usage_metadata=USAGE)]
    at = 0
    if said := answer.additional_kwargs.get("reasoning_content"):
        for word in _words(str(said)):
            block = {"type": "thinking", "thinking": word, "index": at}
            chunks.append(AIMessageChunk(content=[block], id=own))
        at += 1
    if answer.text:
        chunks += _text_blocks(answer, at, id=own)
        at += 1
    for made in answer.tool_calls:
        opening: Any = {"type": "tool_use", "id": made["id"], "name": made["name"], "input": {}}
        for piece in _call_pieces(made, at):
            delta = {"type": "input_json_delta", "partial_json": piece["args"]}
            block = {**(opening if piece["name"] else delta), "index": at}
            chunks.append(AIMessageChunk(content=[block], tool_call_chunks=[piece], id=own))
        at += 1
    chunks.append(AIMessageChunk(content=[], id=own, chunk_position="last"))
    for chunk in chunks:
        chunk.response_metadata = {"model_provider": "anthropic"}
    return chunks


def responses(answer: AIMessage) -> list[AIMessageChunk]:
    """OpenAI's Responses: blocks by index, the reasoning in summaries."""
    chunks = [AIMessageChunk(content=[], id=answer.id or f"resp_{uuid4().hex}")]
    at = 0
    if said := answer.additional_kwargs.get("reasoning_content"):
        for number, word in enumerate(_words(str(said))):
            summary = [{"index": 0, "type": "summary_text", "text": word}]
            own = {"id": "rs_1"} if number == 0 else {}
            block = {"type": "reasoning", "summary": summary, "index": at, **own}
            chunks.append(AIMessageChunk(content=[block]))
        at += 1
    chunks += _text_blocks(answer, at)
    for made in answer.tool_calls:
        at += 1
        for piece in _call_pieces(made, at):
            block = {"type": "function_call", "arguments": piece["args"], "index": at}
            if piece["name"]:
                block |= {"name": piece["name"], "call_id": piece["id"], "id": "fc_1"}
            chunks.append(AIMessageChunk(content=[block], tool_call_chunks=[piece]))
    chunks.append(AIMessageChunk(content=[], usage_metadata=USAGE, chunk_position="last"))
    for chunk in chunks:
        chunk.id = chunks[0].id
        chunk.response_metadata = {"model_provider": "openai"}
    return chunks


def gemini(answer: AIMessage) -> list[AIMessageChunk]:
    """Whole calls in one chunk without an index, no id of the provider's."""
    chunks = _texts(answer)
    for made in answer.tool_calls:
        piece = tool_call_chunk(name=made["name"], args=json.dumps(made["args"]), id=made["id"])
        chunks.append(AIMessageChunk(content="", tool_call_chunks=[piece]))
    return [*chunks, AIMessageChunk(content="", usage_metadata=USAGE, chunk_position="last")]


def deepseek(answer: AIMessage) -> list[AIMessageChunk]:
    """Reasoning in `additional_kwargs`, then the text."""
    thought = _words(str(answer.additional_kwargs.get("reasoning_content", "")))
    chunks = [
        AIMessageChunk(content="", additional_kwargs={"reasoning_content": w}) for w in thought
    ]
    last = AIMessageChunk(content="", usage_metadata=USAGE, chunk_position="last")
    return _named([*chunks, *_texts(answer), *_fragments(answer), last], f"ds-{uuid4().hex}")


def interleaved(answer: AIMessage) -> list[AIMessageChunk]:
    """The fragments of several calls in turn."""
    pieces = [list(_call_pieces(made, at)) for at, made in enumerate(answer.tool_calls)]
    longest = max(map(len, pieces), default=0)
    turns = [fragments[at] for at in range(longest) for fragments in pieces if at < len(fragments)]
    chunks = [AIMessageChunk(content="", tool_call_chunks=[turn]) for turn in turns]
    last = AIMessageChunk(content="", usage_metadata=USAGE, chunk_position="last")
    return _named([*_texts(answer), *chunks, last], f"chatcmpl-{uuid4().hex}")


def _named(chunks: list[AIMessageChunk], own: str) -> list[AIMessageChunk]:
    for chunk in chunks:
        chunk.id = own
    return chunks


def _texts(answer: AIMessage) -> list[AIMessageChunk]:
    return [AIMessageChunk(content=word) for word in _words(str(answer.text))]


def _text_blocks(answer: AIMessage, index: int, **how: Any) -> list[AIMessageChunk]:
    return [
        AIMessageChunk(content=[{"type": "text", "text": word, "index": index}], **how)
        for word in _words(str(answer.text))
    ]


def _fragments(answer: AIMessage) -> list[AIMessageChunk]:
    return [
        AIMessageChunk(content="", tool_call_chunks=[piece])
        for at, made in enumerate(answer.tool_calls)
        for piece in _call_pieces(made, at)
    ]


def _call_pieces(made: Any, index: int) -> Iterator[ToolCallChunk]:
    args = json.dumps(made["args"])
    yield tool_call_chunk(name=made["name"], args="", id=made["id"], index=index)
    for at in range(0, len(args), 6):
        yield tool_call_chunk(args=args[at : at + 6], index=index)


def _words(text: str) -> list[str]:
    """`text` in words, each with the white space before it."""
    return re.findall(r"\s*\S+|\s+", text)
