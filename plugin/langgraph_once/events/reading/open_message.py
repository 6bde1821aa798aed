"""A message while it streams: its chunks, kept small, and the message they add up to.

Chunks that differ only in their text are kept as text. So a long message takes the room of its
text, not of a chunk object for each token, and adding it up does not copy it each time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import InitVar, dataclass, field
from typing import Any, NamedTuple, cast

from langchain_core.messages import AIMessageChunk, BaseMessage, BaseMessageChunk, ToolCallChunk
from langchain_core.messages.ai import UsageMetadata, add_ai_message_chunks
from langchain_core.messages.utils import message_chunk_to_message

from langgraph_once.events.reading.content_blocks import REASONING_KEY, TextKind, TextPiece
from langgraph_once.events.reading.tool_calls import MessageCalls
from langgraph_once.events.vocabulary import Event, Growing
from langgraph_once.stream.part.places import Where

__all__ = ["OpenMessage"]


class TextSlot(NamedTuple):
    """Where in a chunk the one text stands that it carries."""

    block: str | None
    """The type of its content block; for a chunk without blocks, one of the constants below."""

    key: str = ""
    index: Any = 0


PLAIN = TextSlot("plain")
THOUGHT = TextSlot("thought")
ARGS = TextSlot("args")

BLOCK_KINDS: Mapping[tuple[str | None, str], TextKind] = {
    ("text", "text"): "text",
    ("thinking", "thinking"): "reasoning",
    ("reasoning", "reasoning"): "reasoning",
}
"""What the blocks say that are most of a stream, by their type and the key of their text."""

ARGS_KEYS = ("partial_json", "arguments", "args")
TEXT_KEYS = ("text", "thinking", "reasoning", *ARGS_KEYS)
BLOCK_SIZE = 3
"""Type, index and text."""

PROVIDER_KEYS = frozenset({"model_provider"})
"""What the metadata of each chunk of some providers hold."""

NO_CALLS: dict[str, Any] = {"tool_call_chunks": [], "tool_calls": [], "invalid_tool_calls": []}


@dataclass(slots=True, eq=False)
class OpenMessage:
    """One message that streams."""

    message_id: str
    where: Where
    kinds: InitVar[Collection[TextKind]]
    calls: MessageCalls
    """Its tool calls. Its chunks are kept without them."""

    is_shown: bool = True
    """Whether its events are told."""

    said: dict[TextKind, Growing] = field(init=False)
    """What it has said, of each kind that is told."""

    usage: UsageMetadata | None = None
    _name: str | None = None
    _chunks: list[BaseMessageChunk] = field(default_factory=list)

    # The last chunks, if they are alike: their place, metadata and texts.
    _run: TextSlot | None = None
    _run_meta: Any = None
    _run_text: list[str] = field(default_factory=list)

    def __post_init__(self, kinds: Collection[TextKind]) -> None:
        self.said = {kind: Growing() for kind in kinds}

    def next(self, content: Any, meta: Any) -> TextPiece | None:
        """Keep a chunk that differs from the one before it only in its text; what it says. None
        for any other chunk, which is for `add`."""
        run = self._run
        if run is None or meta != self._run_meta:
            return None
        if run is PLAIN:
            if not content or type(content) is not str:
                return None
            self._run_text.append(content)
            return TextPiece("text", 0, content)
        kind = BLOCK_KINDS.get(run[:2])
        if kind not in self.said or not (text := _block_text(content, run)):
            return None
        self._run_text.append(text)
        return TextPiece(kind, run.index, text)

    def next_of_args(self, content: Any, meta: Any, pieces: list[ToolCallChunk]) -> Event | None:
        """`next`, of a chunk with a piece of the arguments of a call; the event of that piece."""
        run = self._run
        if run is None or meta != self._run_meta or len(pieces) != 1:
            return None
        text = "" if run is ARGS and content == "" else None
        if run.key in ARGS_KEYS:
            text = _block_text(content, run)
        event = self.calls.next_of_args(pieces[0]) if text is not None else None
        if text and event is not None:
            self._run_text.append(text)
        return event

    def add(self, chunk: BaseMessageChunk) -> None:
        """Keep a chunk. Its text joins that of the next ones; its tool calls are in `calls`."""
        place, text = _placed(chunk)
        if place is not None and place == self._run and chunk.response_metadata == self._run_meta:
            self._run_text.append(text)
            return
        self._end_run()
        self._name = chunk.name or self._name
        if getattr(chunk, "tool_call_chunks", None):
            chunk = chunk.model_copy(update=NO_CALLS)
        self._chunks.append(chunk)
        if place is not None:
            self._run, self._run_meta, self._run_text = place, chunk.response_metadata, [text]

    def _end_run(self) -> None:
        """Put the text of the chunks that were alike into the first of them."""
        if self._run is not None:
            text = "".join(self._run_text)
            self._chunks[-1] = _with_text(self._chunks[-1], self._run, text)
        self._run, self._run_text = None, []

    def message(self) -> BaseMessage:
        """What the chunks add up to.

        The calls are linked by `calls`, since upstream leaves fragments without an index apart.
        """
        self._end_run()
        whole = _sum(self._chunks)
        self._chunks = [whole]
        # Only messages of models have calls and usage.
        if not isinstance(whole, AIMessageChunk):
            return message_chunk_to_message(whole.model_copy(update={"id": self.message_id}))
        made = AIMessageChunk(
            content=whole.content,
            additional_kwargs=whole.additional_kwargs,
            response_metadata=whole.response_metadata,
            usage_metadata=whole.usage_metadata,
            chunk_position=whole.chunk_position,
            tool_call_chunks=self.calls.so_far(),
            name=self._name,
            id=self.message_id,
        )
        return message_chunk_to_message(made)


def _sum(chunks: list[BaseMessageChunk]) -> BaseMessageChunk:
    # `+` copies what is there for each chunk, so it takes the square of their number.
    ai = [chunk for chunk in chunks if isinstance(chunk, AIMessageChunk)]
    if len(ai) == len(chunks):
        return add_ai_message_chunks(ai[0], *ai[1:])
    whole: Any = chunks[0]
    for chunk in chunks[1:]:
        whole = whole + chunk
    return cast("BaseMessageChunk", whole)


def _placed(chunk: Any) -> tuple[TextSlot | None, str]:
    """Where the one text of a chunk stands, and the text; no place if it carries more than that."""
    if type(chunk) is not AIMessageChunk or chunk.chunk_position or chunk.usage_metadata:
        return None, ""
    content, pieces, extra = chunk.content, chunk.tool_call_chunks, chunk.additional_kwargs
    if not chunk.response_metadata.keys() <= PROVIDER_KEYS:
        return None, ""
    if len(pieces) > 1 or any(p.get("id") or p.get("name") for p in pieces):
        return None, ""
    thought = extra.get(REASONING_KEY)
    if isinstance(content, list):
        return _placed_block(content) if not extra else (None, "")
    if not extra and not pieces:
        return PLAIN, content
    if not extra and not content:
        return ARGS, ""
    if not pieces and not content and len(extra) == 1 and type(thought) is str:
        return THOUGHT, thought
    return None, ""


def _placed_block(blocks: list[Any]) -> tuple[TextSlot | None, str]:
    block = blocks[0] if len(blocks) == 1 else None
    if type(block) is not dict or len(block) != BLOCK_SIZE or not block.keys() >= {"type", "index"}:
        return None, ""
    (key,) = block.keys() - {"type", "index"}
    if key not in TEXT_KEYS or type(block[key]) is not str:
        return None, ""
    return TextSlot(block["type"], key, block["index"]), block[key]


def _block_text(content: Any, run: TextSlot) -> str | None:
    """The text of content that is one block like those of a run."""
    block = content[0] if type(content) is list and len(content) == 1 else None
    if type(block) is not dict or len(block) != BLOCK_SIZE:
        return None
    text = block.get(run.key)
    is_alike = block.get("type") == run.block and block.get("index") == run.index
    return text if is_alike and text and type(text) is str else None


def _with_text(chunk: BaseMessageChunk, place: TextSlot, text: str) -> BaseMessageChunk:
    """A copy of a chunk with another text in its place."""
    content: Any = chunk.content
    if place is THOUGHT:
        return chunk.model_copy(update={"additional_kwargs": {REASONING_KEY: text}})
    written = [{**content[0], place.key: text}] if place.key else text
    return chunk.model_copy(update={"content": written})
