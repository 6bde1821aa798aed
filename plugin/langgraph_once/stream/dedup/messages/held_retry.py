"""A new attempt beside the one before, while it may be repeating that.

The consumer has what the earlier attempt said. Under the policy "hold" the new attempt is held
back while it repeats those words. Where it differs, the earlier attempt is taken back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.messages import AIMessageChunk, BaseMessageChunk

from langgraph_once.stream.dedup.messages.fact import MessageFact
from langgraph_once.stream.dedup.operations import Because, Kind, Operation, removing
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
        because: How the attempt before was recognized.
        goes_on: Whether what the new attempt says beyond the old one comes under the old one's id.
            Else the new attempt comes as a whole then.

    Attributes:
        is_over: It is decided; the rest of the new message needs no comparison.
    """

    def __init__(self, ledger: Ledger, old: Entry, because: Because, *, goes_on: bool) -> None:
        self._ledger = ledger
        self._old = old
        self._because = because
        self._held: list[Part] = []
        self._said: Any = None
        self._may_go_on = goes_on
        self._continues = False
        self._is_gone = False
        self.is_over = False

    def feed(self, fact: MessageFact) -> Iterator[Operation]:
        """What the consumer gets of a chunk of the new message."""
        if self._continues:
            self.is_over = fact.is_last
            yield Operation(Kind.APPEND, Because.NEXT, self._as_old(fact.part, fact.message))
            return
        if self._said is None:
            self._said = StreamedContent(fact.message)
        else:
            self._said.extend(fact.message)
        yield from self._compared(fact)

    def old_is_gone(self) -> None:
        """Note that the consumer has lost what the earlier attempt said."""
        self._is_gone = True

    def _compared(self, fact: MessageFact) -> Iterator[Operation]:
        said, old, chunk = self._said.content(), self._old.content, fact.message
        beyond = self._beyond()
        if fact.is_last and said == old and not self._is_gone:
            self.is_over = True
            silent = chunk.model_copy(update={"content": "", "tool_call_chunks": []})
            yield Operation(Kind.COMMIT, self._because, self._as_old(fact.part, silent))
        elif fact.is_last or self._is_gone or not (old.text.startswith(said.text) or beyond):
            self.is_over = True
            self._ledger.drop(self._old)
            yield removing(fact.part, self._old.id, self._because)
            for part in (*self._held, fact.part):
                yield Operation(Kind.BEGIN, Because.NEW, part)
        elif beyond:
            self._continues = True
            rest = _end_of(chunk, len(beyond))
            yield Operation(Kind.APPEND, self._because, self._as_old(fact.part, rest))
        else:
            self._held.append(fact.part)
            yield Operation(Kind.HOLD, self._because)

    def _beyond(self) -> str | None:
        """What the new attempt says beyond the old one, if that may come under the old one's id."""
        return self._old.content.suffix_of(self._said.content()) if self._may_go_on else None

    def _as_old(self, part: Part, chunk: BaseMessageChunk) -> Part:
        return part._replace(data=chunk.model_copy(update={"id": self._old.id}))


def _end_of(chunk: BaseMessageChunk, size: int) -> AIMessageChunk:
    """The last `size` characters of a chunk's text, in the block it has them in.

    Consumers add blocks up by their index: a plain string would come to stand behind what follows.
    """
    text = str(chunk.text)[-size:]
    blocks = chunk.content if isinstance(chunk.content, list) else []
    own = next((each for each in reversed(blocks) if isinstance(each, dict) and "text" in each), {})
    return AIMessageChunk(content=[{**own, "text": text}] if own else text)
