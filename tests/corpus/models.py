"""A chat model that says what it is told, in the chunks of a given provider, and may break."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from pydantic import Field, PrivateAttr

from tests.corpus.wires import Wire, openai


class BrokenConnectionError(RuntimeError):
    """The connection to the provider broke."""


class WireModel(BaseChatModel):
    """Its n-th call gives its n-th answer, in the chunks of `wire`."""

    replies: Sequence[AIMessage] = Field(repr=False)  # LangChain asks for it with each call
    """The answers in order; the last is given again."""

    wire: Wire = openai

    breaks: Mapping[int, int] = {}
    """The chunks after which a call breaks, by the call's number from 0."""

    hangs: Mapping[int, int] = {}
    """The chunks after which a call says nothing more, by the call's number. In async graphs."""

    _calls: int = PrivateAttr(default=0)

    @property
    def _llm_type(self) -> str:
        return "wire"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Runnable[Any, AIMessage]:
        """The answers alone decide on calls."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        number, answer = self._next()
        if number in self.breaks:
            raise BrokenConnectionError("the connection broke")
        whole = answer.model_copy(deep=True)
        for chunk in self.wire(answer):
            whole.usage_metadata = chunk.usage_metadata or whole.usage_metadata
        return ChatResult(generations=[ChatGeneration(message=whole)])

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        if self._calls in self.hangs:
            self._next()
            await asyncio.sleep(3600)
        return self._generate(messages)

    def _stream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> Iterator[Any]:
        for _at, chunk in self._chunks(*self._next()):
            yield chunk

    async def _astream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> AsyncIterator[Any]:
        number, answer = self._next()
        for at, chunk in self._chunks(number, answer):
            if at == self.hangs.get(number):
                await asyncio.sleep(3600)
            yield chunk

    def _chunks(self, number: int, answer: AIMessage) -> Iterator[tuple[int, ChatGenerationChunk]]:
        for at, chunk in enumerate(self.wire(answer)):
            if at == self.breaks.get(number):
                raise BrokenConnectionError("the connection broke")
            yield at, ChatGenerationChunk(message=chunk)

    def _next(self) -> tuple[int, AIMessage]:
        number = self._calls
        self._calls += 1
        return number, self.replies[min(number, len(self.replies) - 1)]


def answers(*replies: str | AIMessage, wire: Wire = openai, **how: Any) -> WireModel:
    """A model that gives these answers, one for each call."""
    made = [AIMessage(reply) if isinstance(reply, str) else reply for reply in replies]
    return WireModel(replies=made, wire=wire, **how)
