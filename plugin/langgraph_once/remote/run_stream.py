"""A run under way, as its consumer sees it: an iterator of parts that knows where it is."""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, closing, contextmanager
from dataclasses import dataclass
from typing import Any

from langgraph.types import Command
from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient

from langgraph_once.config import READER_CHECKPOINT, DedupConfig, RemoteConfig
from langgraph_once.errors import StreamInterrupted
from langgraph_once.events import AsyncEvents, ChannelStreamingProcessor, Event, Events
from langgraph_once.remote.following.backoff import Backoff
from langgraph_once.remote.following.consumer import Consumer, for_events, new_ledger
from langgraph_once.remote.following.failures import is_transient
from langgraph_once.remote.following.history import goes_on
from langgraph_once.remote.following.questions import Steps, Unanswered, run_asked
from langgraph_once.remote.following.run_reader import RunReader
from langgraph_once.remote.shapes.request import wire_mode
from langgraph_once.remote.wire.reconnect import aanswered, answered, aread_run, read_run
from langgraph_once.stream import GAP_MODE, Ledger, Part
from langgraph_once.stream.part.intake import StreamModes, mode_set
from langgraph_once.stream.part.resume import may_repeat

__all__ = ["Asked", "AsyncRunStream", "RunStream"]


@dataclass(slots=True, kw_only=True)
class Asked:
    """The request for a stream: a run to begin, or one to join."""

    thread_id: str | None
    run_id: str | None = None
    position: str | None = None
    stream_mode: StreamModes | None = None
    subgraphs: bool | None = None
    ledger: Ledger | None
    dedup: DedupConfig | None
    remote: RemoteConfig | None
    headers: Mapping[str, str] | None
    create: Mapping[str, Any] | None = None
    """The arguments to begin the run with, apart from those above."""

    joined: Mapping[str, Any] | None = None
    """Those of the run that is joined, where the server was asked for them."""

    @property
    def goes_on(self) -> bool:
        """Whether the run goes on from a checkpoint, as far as is known."""
        if self.create is None:
            return self.joined is not None and "input" in self.joined and goes_on(self.joined)
        return goes_on(self.create)

    def take_modes_of(self, run: Mapping[str, Any] | None) -> None:
        """Take the modes of the run that is joined, if the caller named none.

        A run that the server does not know has none. Reading it will say so.
        """
        self.joined = (run or {}).get("kwargs")
        kwargs = self.joined or {}
        self.stream_mode = self.stream_mode or kwargs.get("stream_mode")
        self.subgraphs = bool(kwargs.get("subgraphs"))


class _Stream:
    """What sync and async streams have in common."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._ledger = new_ledger(asked.dedup) if asked.ledger is None else asked.ledger
        self._reader: RunReader | None = None

    @property
    def ledger(self) -> Ledger:
        """What the consumer has."""
        return self._ledger

    @property
    def thread_id(self) -> str | None:
        """The thread of the run; None if it has none."""
        return self._asked.thread_id if self._reader is None else self._reader.thread_id

    @property
    def run_id(self) -> str | None:
        """The run; None until the server has said it."""
        return self._asked.run_id if self._reader is None else self._reader.run_id

    @property
    def position(self) -> str:
        """Where in the run's log the stream is, for `join_run` to go on from."""
        return self._asked.position or "" if self._reader is None else self._reader.position

    def _begin(self) -> tuple[RunReader, Consumer]:
        asked = self._asked
        if asked.create is not None:
            asked.stream_mode = asked.stream_mode or "values"
            command, given = asked.create.get("command"), asked.create.get("input")
            if not may_repeat(Command(goto=command.get("goto") or ()) if command else given):
                self._ledger.forget_updates()
        modes = _wire_modes(asked.stream_mode)
        consumer = Consumer(
            asked.dedup,
            self._ledger,
            mode_set(modes or ()),
            goes_on=bool(asked.position) and asked.ledger is not None,
        )
        self._reader = RunReader(
            self._config,
            thread_id=asked.thread_id,
            run_id=asked.run_id,
            modes=modes,
            subgraphs=bool(asked.subgraphs),
            goes_on=asked.goes_on,
            resumable=asked.create is None or bool(asked.create.get("stream_resumable")),
            position=asked.position,
            ran_again=consumer.ran_again,
        )
        return self._reader, consumer

    @property
    def _config(self) -> RemoteConfig:
        return self._asked.remote or RemoteConfig()

    def _wait_s(self, tries: Backoff, error: Exception) -> float:
        """How long to wait before the run is asked for again.

        Raises:
            APIStatusError: The server refuses to answer.
            StreamInterrupted: It was asked for too often in vain.
        """
        if not is_transient(error):
            raise error
        wait_s = tries.next_s(error)
        if wait_s is None:
            raise StreamInterrupted(
                f"run {self.run_id}: gave up after {tries.tries} tries to ask for it in vain; "
                "call join_run to go on",
                thread_id=self.thread_id,
                run_id=self.run_id,
                position=self.position,
                ledger=self._ledger,
            ) from error
        return wait_s

    def _create(self) -> Callable[[Any], Any] | None:
        asked = self._asked
        if asked.create is None:
            return None
        call = {
            **asked.create,
            "checkpoint": {**(asked.create.get("checkpoint") or {}), **READER_CHECKPOINT},
            "thread_id": asked.thread_id,
            "stream_mode": _wire_modes(asked.stream_mode),
            "stream_subgraphs": bool(asked.subgraphs),
            "headers": asked.headers,
        }
        return lambda runs: runs.stream(**call)

    def _feed(self, consumer: Consumer, part: Part) -> Iterable[Part]:
        if self._asked.create is None and not _is_asked(part.mode, self._asked.stream_mode):
            return ()
        return consumer.feed(part)

    def _prepare(self, processor: ChannelStreamingProcessor) -> None:
        asked = self._asked
        asked.dedup = for_events(asked.dedup)
        if asked.create is not None:
            asked.stream_mode = asked.stream_mode or processor.stream_modes
            if asked.subgraphs is None:
                asked.subgraphs = processor.subgraphs

    @property
    def _must_ask_modes(self) -> bool:
        asked = self._asked
        return asked.create is None and asked.subgraphs is None and asked.thread_id is not None

    def _modes_asked(self) -> Steps[None]:
        """Ask for the modes of the run that is joined, where the caller named none."""
        asked, tries = self._asked, Backoff(self._config)
        while self._must_ask_modes:
            try:
                run = yield from run_asked(asked.thread_id, asked.run_id, asked.headers)
            except Unanswered as failed:
                yield self._wait_s(tries, failed.error)
            else:
                asked.take_modes_of(run)

    @contextmanager
    def _ending(self) -> Iterator[None]:
        """An interrupted stream's error carries what the consumer has."""
        try:
            yield
        except StreamInterrupted as error:
            error.ledger = self._ledger
            raise


class AsyncRunStream(_Stream, AsyncGenerator[Part, None]):
    """The parts of a run, each once.

    Raises, while it is read:
        APIError: The server refuses to begin the run.
        RemoteException: The run failed.
        StreamInterrupted: The run cannot be read to its end.
    """

    def __init__(self, client: LangGraphClient, asked: Asked) -> None:
        super().__init__(asked)
        self._client = client
        self._parts = self._read()

    def __aiter__(self) -> AsyncGenerator[Part, None]:  # noqa: PYI058  # as its base class
        """The generator itself, which takes less time for each part."""
        return self._parts

    async def asend(self, value: None) -> Part:
        """The next part."""
        return await self._parts.asend(value)

    async def athrow(self, *args: Any) -> Part:
        """Raise an error where the stream waits."""
        return await self._parts.athrow(*args)

    async def aclose(self) -> None:
        """Leave; the run goes on."""
        await self._parts.aclose()

    def events(self, processor: ChannelStreamingProcessor) -> AsyncEvents[Event]:
        """The same as typed events; to be called before the first part is asked for.

        A run that begins is asked for the modes that the processor needs, unless you named some.

        Args:
            processor: What to watch.
        """
        self._prepare(processor)
        return processor.stream(self)

    async def _read(self) -> AsyncGenerator[Part]:
        asked = self._asked
        await aanswered(self._client, self._modes_asked())
        reader, consumer = self._begin()
        parts = aread_run(self._client, reader, self._create(), asked.headers)
        with self._ending():
            async with aclosing(parts):
                async for part in parts:
                    for new in self._feed(consumer, part):
                        yield new
        for new in consumer.close():
            yield new


class RunStream(_Stream, Generator[Part, None, None]):
    """`AsyncRunStream`, sync."""

    def __init__(self, client: SyncLangGraphClient, asked: Asked) -> None:
        super().__init__(asked)
        self._client = client
        self._parts = self._read()

    def __iter__(self) -> Generator[Part, None, None]:  # noqa: PYI058  # as its base class
        """The generator itself, which takes less time for each part."""
        return self._parts

    def send(self, value: None) -> Part:
        """The next part."""
        return self._parts.send(value)

    def throw(self, *args: Any) -> Part:
        """Raise an error where the stream waits."""
        return self._parts.throw(*args)

    def close(self) -> None:
        """Leave; the run goes on."""
        self._parts.close()

    def events(self, processor: ChannelStreamingProcessor) -> Events[Event]:
        """The same as typed events; see `AsyncRunStream.events`."""
        self._prepare(processor)
        return processor.stream_sync(self)

    def _read(self) -> Generator[Part]:
        asked = self._asked
        answered(self._client, self._modes_asked())
        reader, consumer = self._begin()
        parts = read_run(self._client, reader, self._create(), asked.headers)
        with self._ending(), closing(parts):
            for part in parts:
                yield from self._feed(consumer, part)
        yield from consumer.close()


def _wire_modes(stream_mode: StreamModes | None) -> Sequence[str] | None:
    """The modes as the server names them, in the order asked for; None where none are known."""
    if stream_mode is None:
        return None
    modes = [stream_mode] if isinstance(stream_mode, str) else stream_mode
    return [*map(wire_mode, modes)]


def _is_asked(mode: str, stream_mode: StreamModes | None) -> bool:
    return stream_mode is None or mode == GAP_MODE or mode in mode_set(stream_mode)
