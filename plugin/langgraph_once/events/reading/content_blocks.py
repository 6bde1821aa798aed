"""Text, reasoning and tool calls in one chunk or message, in any provider's form.

A new provider's form of content blocks belongs here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage

__all__ = ["CallPiece", "TextKind", "TextPiece", "call_pieces", "text_pieces", "whole_calls"]

REASONING_KEY = "reasoning_content"
REFUSAL_KEY = "refusal"
TextKind: TypeAlias = Literal["text", "reasoning", "refusal"]


class TextPiece(NamedTuple):
    """Some text of one content block."""

    kind: TextKind
    block_index: int | str
    text: str


class CallPiece(NamedTuple):
    """A fragment of a tool call; what it does not carry is None or empty."""

    id: str | None
    name: str | None
    args: str
    place: int | str | None
    """Its index among the blocks or calls of the message, as the provider counts."""

    is_server: bool = False
    """Whether the provider runs the tool itself: the graph is not asked to."""


def text_pieces(message: BaseMessage) -> Iterator[TextPiece]:
    """The text, the reasoning and the refusal in a chunk or message, in order."""
    content: Any = message.content
    thought = message.additional_kwargs.get(REASONING_KEY)
    found = []
    for at, block in enumerate(content if isinstance(content, list) else ()):
        kind, text = _block_text_piece(block)
        if text:
            index = block.get("index", at) if isinstance(block, dict) else at
            found.append(TextPiece(kind, index, text))
    kinds = {said.kind for said in found}
    # Some say their thoughts in both places.
    if isinstance(thought, str) and thought and "reasoning" not in kinds:
        yield TextPiece("reasoning", 0, thought)
    yield from found
    if isinstance(content, str) and content:
        yield TextPiece("text", 0, content)
    refusal = message.additional_kwargs.get(REFUSAL_KEY)  # Chat Completions
    if isinstance(refusal, str) and refusal and "refusal" not in kinds:
        yield TextPiece("refusal", 0, refusal)


def _block_text_piece(block: Any) -> tuple[TextKind, str]:
    """What a block says, and of which kind; no text for a block that says nothing."""
    if isinstance(block, str):
        return "text", block
    match block.get("type"):
        case "text" | "text_delta" | "output_text":
            return "text", str(block.get("text") or "")
        case "reasoning" | "thinking" | "reasoning_content":
            return "reasoning", "".join(_thoughts(block))
        case "refusal":
            return "refusal", str(block.get(REFUSAL_KEY) or "")
        case _:
            return "text", ""


def _thoughts(block: Mapping[str, Any]) -> Iterator[str]:
    """The words of a block of reasoning. Each provider has a key of its own for them."""
    for key in ("reasoning", "thinking", "text", REASONING_KEY):
        said = block.get(key)
        if isinstance(said, Mapping):
            said = said.get("text")
        if isinstance(said, str):
            yield said
            break
    for part in block.get("summary") or ():
        yield str(part.get("text", "")) if isinstance(part, Mapping) else str(part)


def call_pieces(chunk: Any) -> Iterator[CallPiece]:
    """The fragments of tool calls in a chunk."""
    pieces = getattr(chunk, "tool_call_chunks", None)
    if pieces:
        for piece in pieces:
            yield CallPiece(
                piece.get("id"), piece.get("name"), piece.get("args") or "", piece.get("index")
            )
        return
    if isinstance(chunk.content, list):
        for block in chunk.content:
            if isinstance(block, dict) and (piece := _block_piece(block)) is not None:
                yield piece


def _block_piece(block: Mapping[str, Any]) -> CallPiece | None:
    """The fragment in a content block, where an integration gives no `tool_call_chunks`."""
    index, block_id, name = block.get("index"), block.get("id"), block.get("name")
    match block.get("type"):
        case "tool_use":
            given = block.get("partial_json") or block.get("input")
            return CallPiece(block_id, name, _as_json(given), index)
        case "server_tool_use" | "mcp_tool_use":
            # Anthropic streams the arguments of both as `input_json_delta`, under this index.
            return CallPiece(None, None, "", index, is_server=True)
        case "input_json_delta":
            return CallPiece(None, None, block.get("partial_json") or "", index)
        case "function_call":
            call_id = block.get("call_id") or block_id
            return CallPiece(call_id, name, block.get("arguments") or "", index)
        case "tool_call_chunk" | "tool_call":
            return CallPiece(block_id, name, _as_json(block.get("args")), index)
        case _:
            return None


def _as_json(args: Any) -> str:
    """Arguments as text. An empty object opens a call whose arguments are still to come."""
    if not args:
        return ""
    return args if isinstance(args, str) else json.dumps(args)


class WholeCall(NamedTuple):
    """A tool call in a whole message."""

    id: str | None
    name: str
    args: dict[str, Any] | None
    """None for arguments that cannot be read."""

    text: str
    error: str = ""


def whole_calls(message: AIMessage) -> Iterator[WholeCall]:
    """The tool calls of a whole message, those with bad arguments last."""
    for call in message.tool_calls:
        text = json.dumps(call["args"], default=str)
        yield WholeCall(call["id"], call["name"], call["args"], text)
    for bad in message.invalid_tool_calls:
        error = bad["error"] or "the arguments are no JSON object"
        yield WholeCall(bad["id"], bad["name"] or "", None, bad["args"] or "", error)
