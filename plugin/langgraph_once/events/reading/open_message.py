"""A message while it streams: its chunks, kept small, and the message they add up to.

Chunks that differ only in their text are kept as text. So a long message takes the room of its
text, not of a chunk object for each token, and adding it up does not copy it each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from langchain_core.messages import AIMessageChunk, BaseMessage, BaseMessageChunk, ToolCallChunk
from langchain_core.messages.ai import UsageMetadata, add_ai_message_chunks
from langchain_core.messages.utils import message_chunk_to_message

from langgraph_once.events.reading.content_blocks import REASONING_KEY, Kind, Saying
from langgraph_once.events.vocabulary.growing_text import Growing
from langgraph_once.stream.part.where import Where

__all__ = ["OpenMessage"]

TEXT_KEYS = ("text", "thinking", "reasoning")
BLOCK_KINDS: Mapping[tuple[str, str], Kind] = {
    ("text", "text"): "text",
    ("thinking", "thinking"): "reasoning",
    ("reasoning", "reasoning"): "reasoning",
}
"""What the blocks say that are most of a stream, by their type and the key of their text."""

PLAIN = "plain"
ARGS = "args"
BLOCK_SIZE = 3
"""Type, index and text."""
NO_CALLS: dict[str, Any] = {"tool_call_chunks": [], "tool_calls": [], "invalid_tool_calls": []}
CALL_TEXT_KEYS = ("partial_json", "arguments", "args")


class OpenMessage:
    """One message that streams.

    Args:
        message_id: Its id.
        where: Where it is said.
        is_shown: Whether its events are told.

    Attributes:
        text: What it has said.
        reasoning: What it has thought.
        refusal: What it has said to refuse.
        usage: What it has cost.
    """

    __slots__ = (
        "_args_meta",
        "_block_meta",
        "_chunks",
        "_run",
        "_run_meta",
        "_run_start",
        "_run_text",
        "is_shown",
        "message_id",
        "reasoning",
        "refusal",
        "text",
        "usage",
        "where",
    )

    def __init__(self, message_id: str, where: Where, *, is_shown: bool = True) -> None:
        self.message_id: str = message_id
        self.where: Where = where
        self.is_shown: bool = is_shown
        self.text: Growing = Growing()
        self.reasoning: Growing = Growing()
        self.refusal: Growing = Growing()
        self.usage: UsageMetadata | None = None
        self._chunks: list[BaseMessageChunk] = []
        self._run: tuple[Any, ...] | None = None
        self._run_meta: Any = None
        self._block_meta: Any = None
        self._args_meta: Any = None
        self._run_start = 0
        self._run_text: list[str] = []

    def of_kind(self, kind: Kind) -> Growing:
        """What it has said of one kind."""
        return {"text": self.text, "reasoning": self.reasoning, "refusal": self.refusal}[kind]

    def goes_on(self, meta: Any) -> bool:
        """Whether a chunk of text alone, with this response metadata, is like the one before it.
        Then its text is enough, and it need not be added."""
        return bool(meta == self._run_meta)

    def next_of_block(self, content: Any, meta: Any) -> Saying | None:
        """What a chunk says that is one content block, like the chunk before it. Then `keep` is
        enough for its text, and it need not be added. None for any other chunk."""
        run = self._run
        if run is None or meta != self._block_meta:
            return None
        said = BLOCK_KINDS.get((run[0], run[1]))
        text = _next_text(content, run) if said is not None else None
        return Saying(said, run[2], text) if said is not None and text else None

    def next_of_args(self, content: Any, meta: Any) -> str | None:
        """The text to keep of a chunk of arguments, if it is like the chunk before it."""
        run = self._run
        if run is None or meta != self._args_meta:
            return None
        if run[0] == ARGS:
            return "" if content == "" else None
        return _next_text(content, run)

    def keep(self, text: str) -> None:
        """Keep the text of a chunk for which `next_of_block` or `next_of_args` gave it."""
        self._run_text.append(text)

    def add(self, chunk: BaseMessageChunk) -> None:
        """Keep a chunk. Its text joins that of the next ones; its tool calls are left to the
        tracker."""
        place, said = _only_text(chunk)
        if place is not None and place == self._run:
            self._run_text.append(said)
            return
        self._end()
        if getattr(chunk, "tool_call_chunks", None):
            chunk = chunk.model_copy(update=NO_CALLS)
        self._chunks.append(chunk)
        if place is not None:
            self._run, self._run_text = place, [said]
            if place[0] == PLAIN:
                self._run_meta, self._run_start = chunk.response_metadata, len(self.text)
            elif place[:2] in BLOCK_KINDS:
                self._block_meta = chunk.response_metadata
            elif place[0] == ARGS or (place[1:2] and place[1] in CALL_TEXT_KEYS):
                self._args_meta = chunk.response_metadata

    def _end(self) -> None:
        """Put the text of the chunks that were alike into the first of them."""
        if self._run is not None:
            is_plain = self._run[0] == PLAIN
            text = self.text.since(self._run_start) if is_plain else "".join(self._run_text)
            self._chunks[-1] = _with_text(self._chunks[-1], text)
        self._run, self._run_text = None, []
        self._run_meta, self._block_meta, self._args_meta = None, None, None

    def message(self, calls: Iterable[ToolCallChunk] = ()) -> BaseMessage:
        """What the chunks add up to.

        Args:
            calls: Its tool calls. They are linked by the tracker, since upstream leaves fragments
                without an index apart.
        """
        self._end()
        whole = _sum(self._chunks)
        self._chunks = [whole]
        if not isinstance(whole, AIMessageChunk):
            return message_chunk_to_message(whole.model_copy(update={"id": self.message_id}))
        made = AIMessageChunk(
            content=whole.content,
            additional_kwargs=whole.additional_kwargs,
            response_metadata=whole.response_metadata,
            usage_metadata=whole.usage_metadata,
            chunk_position=whole.chunk_position,
            tool_call_chunks=list(calls),
            name=whole.name,
            id=self.message_id,
        )
        return message_chunk_to_message(made)


def _next_text(content: Any, run: tuple[Any, ...]) -> str | None:
    """The text of content that is one block like those of a run."""
    block = content[0] if type(content) is list and len(content) == 1 else None
    if type(block) is not dict or len(block) != BLOCK_SIZE:
        return None
    kind, key, index = run[:3]
    text = block.get(key)
    is_alike = block.get("type") == kind and block.get("index") == index
    return text if is_alike and text and type(text) is str else None


def _sum(chunks: list[BaseMessageChunk]) -> BaseMessageChunk:
    ai = [chunk for chunk in chunks if isinstance(chunk, AIMessageChunk)]
    if len(ai) == len(chunks):
        return add_ai_message_chunks(ai[0], *ai[1:])
    whole: Any = chunks[0]
    for chunk in chunks[1:]:
        whole = whole + chunk
    return cast("BaseMessageChunk", whole)


def _only_text(chunk: Any) -> tuple[tuple[Any, ...] | None, str]:
    """Where the one text of a chunk belongs, and the text; None if it says more than that."""
    if type(chunk) is not AIMessageChunk or chunk.chunk_position or chunk.usage_metadata:
        return None, ""
    content, pieces, extra = chunk.content, chunk.tool_call_chunks, chunk.additional_kwargs
    meta = tuple(sorted((k, str(v)) for k, v in chunk.response_metadata.items()))
    if meta and meta[0][0] != "model_provider":
        return None, ""
    if isinstance(content, str) and not pieces:
        if not extra:
            return (PLAIN, *meta), content
        if not content and extra.keys() == {REASONING_KEY} and type(extra[REASONING_KEY]) is str:
            return (REASONING_KEY, *meta), extra[REASONING_KEY]
        return None, ""
    if extra or any(p.get("id") or p.get("name") for p in pieces) or len(pieces) > 1:
        return None, ""
    if isinstance(content, str):
        return (None, "") if content else ((ARGS, *meta), "")
    if len(content) != 1 or not isinstance(content[0], dict):
        return None, ""
    return _only_block_text(content[0], meta)


def _only_block_text(block: dict[str, Any], meta: tuple[Any, ...]) -> tuple[Any, str]:
    keys = block.keys() - {"type", "index"}
    if len(keys) != 1 or "index" not in block:
        return None, ""
    (key,) = keys
    if (key not in TEXT_KEYS and key not in CALL_TEXT_KEYS) or type(block[key]) is not str:
        return None, ""
    return (block["type"], key, block["index"], *meta), block[key]


def _with_text(chunk: Any, text: str) -> BaseMessageChunk:
    """A copy of a chunk of nothing but text, with another text."""
    if chunk.additional_kwargs:
        return _copy(chunk, additional_kwargs={REASONING_KEY: text})
    if isinstance(chunk.content, list):
        block = chunk.content[0]
        (key,) = block.keys() - {"type", "index"}
        return _copy(chunk, content=[{**block, key: text}])
    return _copy(chunk, content=text) if chunk.content or text else cast("AIMessageChunk", chunk)


def _copy(chunk: AIMessageChunk, **update: Any) -> AIMessageChunk:
    return chunk.model_copy(update=update)
