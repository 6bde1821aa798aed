"""A task that runs again says again what it said.

The consumer has what the earlier attempt said. Under the policy "hold" the new attempt is held
back while it repeats those words. Where it differs, the earlier attempt is taken back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.messages import AIMessageChunk, BaseMessageChunk, RemoveMessage

from langgraph_once.stream.ledger.entry import Entry
from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.part.content import StreamedContent
from langgraph_once.stream.part.envelope import Part

__all__ = ["HeldRetry"]


class HeldRetry:
    """One message of a new attempt beside the one of the attempt before that it may repeat.

    Args:
        ledger: What the consumer has.
        old: What it has of the attempt before.
        goes_on: Whether what the new attempt says beyond the old one comes under the old one's id.
            Else the new attempt comes as a whole then.

    Attributes:
        is_over: It is decided; the rest of the new message needs no comparison.
    """

    def __init__(self, ledger: Ledger, old: Entry, *, goes_on: bool) -> None:
        self._ledger = ledger
        self._old = old
        self._old_content = old.content
        self._held: list[Part] = []
        self._said: Any = None
        self._may_go_on = goes_on
        self._continues = False
        self._is_gone = False
        self.is_over = False

    def feed(self, part: Part, chunk: BaseMessageChunk) -> Iterator[Part]:
        """What the consumer gets of a chunk of the new message."""
        if self._continues:
            self.is_over = _is_last(chunk)
            yield self._as_old(part, chunk)
            return
        if self._said is None:
            self._said = StreamedContent(chunk)
        else:
            self._said.extend(chunk)
        yield from self._held_back(part, chunk)

    def old_is_gone(self) -> None:
        """Note that the consumer has lost what the earlier attempt said."""
        self._is_gone = True

    def _held_back(self, part: Part, chunk: BaseMessageChunk) -> Iterator[Part]:
        said, old = self._said.content(), self._old_content
        is_last = _is_last(chunk)
        if is_last and said == old and not self._is_gone:
            self.is_over = True
            silent = chunk.model_copy(update={"content": "", "tool_call_chunks": []})
            yield self._as_old(part, silent)
        elif (
            is_last or self._is_gone or not (old.text.startswith(said.text) or self._goes_beyond())
        ):
            self.is_over = True
            yield self._take_back(part)
            yield from self._held
            yield part
        elif self._goes_beyond():
            self._continues = True
            yield self._as_old(part, _end_of(chunk, len(said.text) - len(old.text)))
        else:
            self._held.append(part)

    def _goes_beyond(self) -> bool:
        missing = self._old_content.suffix_of(self._said.content())
        return self._may_go_on and bool(missing)

    def _as_old(self, part: Part, chunk: BaseMessageChunk) -> Part:
        return part._replace(data=chunk.model_copy(update={"id": self._old.id}))

    def _take_back(self, part: Part) -> Part:
        self._ledger.drop(self._old)
        return part._replace(data=RemoveMessage(id=self._old.id))


def _end_of(chunk: BaseMessageChunk, size: int) -> AIMessageChunk:
    """The last `size` characters of a chunk's text, in the block it has them in.

    Consumers add blocks up by their index: a plain string would come to stand behind what follows.
    """
    text = str(chunk.text)[-size:]
    blocks = chunk.content if isinstance(chunk.content, list) else []
    own = next((each for each in reversed(blocks) if isinstance(each, dict) and "text" in each), {})
    return AIMessageChunk(content=[{**own, "text": text}] if own else text)


def _is_last(chunk: BaseMessageChunk) -> bool:
    return getattr(chunk, "chunk_position", None) == "last"
