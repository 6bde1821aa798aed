"""Streams of events: iterate, pick by type, call handlers, collect."""

from __future__ import annotations

import inspect
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterator,
)
from contextlib import aclosing, closing
from typing import Any, Generic, TypeVar, overload

from langgraph_once.errors import CallbackError
from langgraph_once.events.vocabulary import BaseEvent, called

E = TypeVar("E", bound=BaseEvent)
K = TypeVar("K", bound=BaseEvent)
L = TypeVar("L", bound=BaseEvent)
M = TypeVar("M", bound=BaseEvent)


class Events(Generic[E]):
    """Events as they happen. Closing it closes what they come from."""

    def __init__(self, source: Generator[E, None, None]) -> None:
        self._source = source

    def __iter__(self) -> Iterator[E]:
        """The events. It is the source itself, so that a loop does not pass through here."""
        return self._source

    def __next__(self) -> E:
        """The next event."""
        return next(self._source)

    def close(self) -> None:
        """Stop early."""
        self._source.close()

    @overload
    def of(self, kind: type[K], /) -> Events[K]: ...
    @overload
    def of(self, kind: type[K], other: type[L], /) -> Events[K | L]: ...
    @overload
    def of(self, kind: type[K], other: type[L], third: type[M], /) -> Events[K | L | M]: ...
    @overload
    def of(self, *types: type[K]) -> Events[K]: ...
    def of(self, *types: type[Any]) -> Events[Any]:
        """The events of these types alone."""
        return Events(self._only(types))

    def _only(self, types: tuple[type[K], ...]) -> Generator[K, None, None]:
        with closing(self._source):
            for event in self._source:
                if isinstance(event, types):
                    yield event

    def on(self, kind: type[K], handler: Callable[[K], object]) -> Events[E]:
        """The same events; `handler` is called with each of this type as it passes.

        Raises:
            CallbackError: From the stream: the handler raised.
        """
        return Events(self._handled(kind, handler))

    def _handled(self, kind: type[K], handler: Callable[[K], object]) -> Generator[E, None, None]:
        with closing(self._source):
            for event in self._source:
                if isinstance(event, kind):
                    called(handler, event)
                yield event

    def collect(self) -> list[E]:
        """All events, when the stream has ended."""
        return list(self)


class AsyncEvents(Generic[E]):
    """`Events`, async."""

    def __init__(self, source: AsyncGenerator[E, None]) -> None:
        self._source = source

    def __aiter__(self) -> AsyncIterator[E]:
        """The events. It is the source itself, so that a loop does not pass through here."""
        return self._source

    def __anext__(self) -> Awaitable[E]:
        """The next event."""
        return self._source.__anext__()

    async def aclose(self) -> None:
        """Stop early."""
        await self._source.aclose()

    @overload
    def of(self, kind: type[K], /) -> AsyncEvents[K]: ...
    @overload
    def of(self, kind: type[K], other: type[L], /) -> AsyncEvents[K | L]: ...
    @overload
    def of(self, kind: type[K], other: type[L], third: type[M], /) -> AsyncEvents[K | L | M]: ...
    @overload
    def of(self, *types: type[K]) -> AsyncEvents[K]: ...
    def of(self, *types: type[Any]) -> AsyncEvents[Any]:
        """The events of these types alone."""
        return AsyncEvents(self._only(types))

    async def _only(self, types: tuple[type[K], ...]) -> AsyncGenerator[K, None]:
        async with aclosing(self._source):
            async for event in self._source:
                if isinstance(event, types):
                    yield event

    def on(self, kind: type[K], handler: Callable[[K], Any]) -> AsyncEvents[E]:
        """The same events; `handler`, a function or coroutine function, is called with each of
        this type as it passes.

        Raises:
            CallbackError: From the stream: the handler raised.
        """
        return AsyncEvents(self._handled(kind, handler))

    async def _handled(self, kind: type[K], handler: Callable[[K], Any]) -> AsyncGenerator[E, None]:
        async with aclosing(self._source):
            async for event in self._source:
                if isinstance(event, kind):
                    result = called(handler, event)
                    if inspect.isawaitable(result):
                        await _finished(result, event, handler)
                yield event

    async def collect(self) -> list[E]:
        """All events, when the stream has ended."""
        return [event async for event in self]


async def _finished(result: Awaitable[Any], event: BaseEvent, handler: object) -> None:
    try:
        await result
    except Exception as error:
        raise CallbackError(event, handler) from error
