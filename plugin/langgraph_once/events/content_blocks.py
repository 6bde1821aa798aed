"""Text, reasoning and tool calls in one chunk or message, in any provider's form.

A new provider's form of content blocks belongs here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage

REASONING_KEY = "reasoning_content"
REFUSAL_KEY = "refusal"
TextKind: TypeAlias = Literal["text", "reasoning", "refusal"]

TEXTS: Mapping[str, tuple[TextKind, str]] = {
    "text": ("text", "text"),
    "text_delta": ("text", "text"),
    "output_text": ("text", "text"),
    "refusal": ("refusal", REFUSAL_KEY),
}
"""By the type of a block, what its text is, and the key of it."""

NO_TEXT: tuple[TextKind, str] = ("text", "")

THOUGHTS = frozenset({"reasoning", "thinking", "reasoning_content"})
SERVER_TOOLS = frozenset({"server_tool_use", "mcp_tool_use"})

ARGS: Mapping[str, tuple[str, ...]] = {
    "tool_use": ("partial_json", "input"),
    "input_json_delta": ("partial_json",),
    "function_call": ("arguments",),
    "tool_call_chunk": ("args",),
    "tool_call": ("args",),
}
"""By the type of a block, the keys that may hold the arguments of a call."""


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


def only_piece(blocks: list[Any]) -> TextPiece | None:
    """What one block says, perhaps nothing; None if there are more blocks, or none."""
    if len(blocks) != 1:
        return None
    (block,) = blocks
    kind, text = _block_text_piece(block)
    return TextPiece(kind, block.get("index", 0) if type(block) is dict else 0, text)


def _block_text_piece(block: Any) -> tuple[TextKind, str]:
    """What a block says, and of which kind; no text for a block that says nothing."""
    if isinstance(block, str):
        return "text", block
    block_type = str(block.get("type"))
    if block_type in THOUGHTS:
        return "reasoning", "".join(_thoughts(block))
    kind, key = TEXTS.get(block_type, NO_TEXT)
    return kind, str(block.get(key) or "")


def _thoughts(block: Mapping[str, Any]) -> Iterator[str]:
    """The words of a block of reasoning. Each provider has a key of its own for them."""
    for key in ("reasoning", "thinking", "text", REASONING_KEY):
        said = block.get(key)
        if isinstance(said, Mapping):
            said = said.get("text")
        if isinstance(said, str):
            yield said
            break
    # OpenAI's Responses give thoughts as summaries only.
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
    block_type, index = str(block.get("type")), block.get("index")
    if block_type in SERVER_TOOLS:
        # Anthropic streams the arguments of both as `input_json_delta`, under this index.
        return CallPiece(None, None, "", index, is_server=True)
    if block_type not in ARGS:
        return None
    args = next((block[key] for key in ARGS[block_type] if block.get(key)), "")
    # OpenAI's Responses have both: `id` names the block, `call_id` the call.
    call_id = block.get("call_id") or block.get("id")
    return CallPiece(call_id, block.get("name"), _as_json(args), index)


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
