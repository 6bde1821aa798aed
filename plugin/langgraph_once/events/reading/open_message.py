"""A message while it streams: its chunks, and the message they add up to."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import InitVar, dataclass, field
from typing import Any, Final, cast

from langchain_core.messages import AIMessageChunk, BaseMessage, BaseMessageChunk, merge_content
from langchain_core.messages.ai import UsageMetadata, add_ai_message_chunks
from langchain_core.messages.utils import message_chunk_to_message

from langgraph_once.events.reading.content_blocks import TextKind
from langgraph_once.events.reading.tool_calls import MessageCalls
from langgraph_once.events.vocabulary import Growing
from langgraph_once.stream import Where

MAX_KEPT: Final = 512
"""How many chunks are kept before they are added up: a long message takes the room of its text, and
is not copied for each token."""

PROVIDER_KEYS: Final = frozenset({"model_provider"})
"""What the metadata of each chunk of some providers hold."""


@dataclass(slots=True, eq=False)
class OpenMessage:
    """One message that streams."""

    message_id: str
    where: Where
    kinds: InitVar[Collection[TextKind]]
    calls: MessageCalls
    """Its tool calls."""

    is_shown: bool = True
    """Whether its events are told."""

    said: dict[TextKind, Growing] = field(init=False)
    """What it has said, of each kind that is told."""

    usage: UsageMetadata | None = None

    _name: str | None = None
    _form: type | None = None
    _meta: Mapping[str, Any] | None = None
    """Those of the last chunk, if they say no more than who the provider is."""

    _chunks: list[BaseMessageChunk] = field(default_factory=list)
    _contents: list[Any] = field(default_factory=list)
    """Of the chunks behind these, which are like the last one."""

    def __post_init__(self, kinds: Collection[TextKind]) -> None:
        self.said = {kind: Growing() for kind in kinds}

    def is_like_last(self, content: Any, meta: Mapping[str, Any]) -> bool:
        """Whether a chunk that has only content, metadata and calls is kept by its content. Text
        and blocks are not joined: together they add up to something else than one by one."""
        return type(content) is self._form and meta == self._meta

    def go_on(self, content: Any) -> None:
        """Keep such a chunk."""
        if content:
            self._contents.append(content)
            if len(self._contents) > MAX_KEPT:
                self._join()

    def add(self, chunk: BaseMessageChunk) -> None:
        """Keep a chunk, without its calls."""
        self._join()
        self._name = chunk.name or self._name
        if getattr(chunk, "tool_call_chunks", None):
            chunk = chunk.model_copy(update={"tool_call_chunks": []})
        self._chunks.append(chunk)
        meta = chunk.response_metadata
        self._form = type(chunk.content)
        self._meta = meta if meta.keys() <= PROVIDER_KEYS else None
        if len(self._chunks) > MAX_KEPT:
            self._chunks = [_sum(self._chunks)]

    def _join(self) -> None:
        """Put what was kept of contents into the chunk before them."""
        if self._contents:
            last = self._chunks[-1]
            # By themselves first: each step of a merge of blocks copies the text that is there.
            content = merge_content(last.content, merge_content(*self._contents))
            self._chunks[-1], self._contents = last.model_copy(update={"content": content}), []

    def message(self) -> BaseMessage:
        """What the chunks add up to.

        The calls are linked by `calls`, since upstream leaves fragments without an index apart.
        """
        self._join()
        whole = _sum(self._chunks)
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
        return add_ai_message_chunks(*ai)
    whole: Any = chunks[0]
    for chunk in chunks[1:]:
        whole = whole + chunk
    return cast("BaseMessageChunk", whole)
