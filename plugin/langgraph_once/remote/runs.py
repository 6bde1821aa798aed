"""`stream_run` and `join_run`: the runs of a server, read with a user's own SDK client.

The iterator of parts that either returns knows its position in the run.
"""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    Callable,
    Collection,
    Generator,
    Iterable,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict, Unpack, overload

from langchain_core.messages import BaseMessageChunk
from langgraph import types
from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient
from langgraph_sdk.schema import (
    All,
    Checkpoint,
    Command,
    Config,
    Context,
    DisconnectMode,
    Durability,
    IfNotExists,
    Input,
    LangSmithTracing,
    MultitaskStrategy,
    OnCompletionBehavior,
    QueryParamTypes,
    RunCreateMetadata,
)

from langgraph_once.config import DedupConfig, RemoteConfig
from langgraph_once.errors import StreamInterrupted
from langgraph_once.events import AsyncEvents, ChannelStreamingProcessor, Event, Events
from langgraph_once.remote.reconcile import goes_on
from langgraph_once.remote.reconnect import (
    QuestionFailed,
    Reading,
    Recipient,
    Steps,
    aread_run,
    fetch_run,
    read_run,
)
from langgraph_once.remote.retries import Backoff, is_transient
from langgraph_once.remote.run_reader import RunReader
from langgraph_once.remote.shapes import wire_mode
from langgraph_once.stream import (
    GAP_MODE,
    Deduplicator,
    Ledger,
    Part,
    StreamModes,
    flagged,
    may_repeat,
    mode_set,
)


class Consumer(Recipient):
    """Gets what it does not have yet.

    Args:
        config: What counts as a repetition.
        ledger: What the consumer has from before.
        modes: The modes of the stream.
        only: Parts of other modes than these are not for it; None if all are.
        goes_on: The ledger was written by an earlier part of the same stream, so its last epoch
            goes on.
    """

    ledger: Ledger

    def __init__(
        self,
        config: DedupConfig | None,
        ledger: Ledger | None,
        modes: Collection[str],
        *,
        only: Collection[str] | None = None,
        goes_on: bool = False,
    ) -> None:
        super().__init__(Ledger() if ledger is None else ledger)
        self._dedup = Deduplicator(config, ledger=self.ledger, modes=modes)
        self._taken = None if only is None else frozenset((*only, GAP_MODE))
        self._begun = self.ledger.rejoin() if goes_on else set()

    def feed(self, part: Part) -> Iterable[Part]:
        """What the consumer lacks of a part."""
        if self._taken is not None and part.mode not in self._taken:
            return ()
        if part.mode != "messages":
            self.note_gap(part)
        if self._begun and isinstance(part.data, BaseMessageChunk) and part.data.id in self._begun:
            # A ledger ends its open messages as a stream begins. The flag lets a chunk go on
            # with one that has ended.
            part = part._replace(meta=flagged(part.meta, "repairs"))
        return self._dedup.feed(part)

    def close(self) -> Iterable[Part]:
        """What is still to be sent at the end."""
        return self._dedup.close()

    def ran_again(self) -> None:
        """Start a new epoch; no chunk goes on with a message of the last one."""
        self._begun = set()
        super().ran_again()


@dataclass(slots=True, kw_only=True)
class RunRequest:
    """A run to begin, or one to join."""

    thread_id: str | None
    run_id: str | None = None
    """The id of the run to join; None to begin a run."""

    position: str | None = None
    stream_mode: StreamModes | None = None
    subgraphs: bool | None = None
    ledger: Ledger | None
    dedup: DedupConfig | None
    remote: RemoteConfig | None
    headers: Mapping[str, str] | None
    given: Mapping[str, Any] = field(default_factory=dict)
    """The other arguments of the run; of one that is joined those that the server tells."""

    @property
    def wire_modes(self) -> Sequence[str] | None:
        """The modes as the server names them, in the order asked for; None where unknown."""
        modes = [self.stream_mode] if isinstance(self.stream_mode, str) else self.stream_mode
        return None if modes is None else [*map(wire_mode, modes)]

    @property
    def call(self) -> dict[str, Any]:
        """The arguments of `client.runs.stream`."""
        return {
            **self.given,
            "thread_id": self.thread_id,
            "stream_mode": self.wire_modes,
            "stream_subgraphs": bool(self.subgraphs),
            "headers": self.headers,
        }

    @property
    def may_repeat_updates(self) -> bool:
        """Whether the run may say again which updates were done before it."""
        command = self.given.get("command")
        goto = types.Command(goto=command.get("goto") or ()) if command else None
        return may_repeat(goto or self.given.get("input"))


class _Stream:
    """What sync and async streams have in common."""

    def __init__(self, request: RunRequest) -> None:
        self._request = request
        self._known: RunRequest | RunReader = request
        self._ledger = Ledger() if request.ledger is None else request.ledger

    @property
    def ledger(self) -> Ledger:
        """What the consumer has."""
        return self._ledger

    @property
    def thread_id(self) -> str | None:
        """The thread of the run; None if it has none."""
        return self._known.thread_id

    @property
    def run_id(self) -> str | None:
        """The run; None until the server has named it."""
        return self._known.run_id

    @property
    def position(self) -> str:
        """Where in the run's log the stream is, for `join_run` to go on from."""
        return self._known.position or ""

    def _open(self) -> Steps[Reading]:
        """What to read, once the modes are known."""
        if self._request.run_id is None:
            reading = self._begun()
        else:
            reading = yield from self._joined()
        self._known = reading.reader
        return reading

    def _begun(self) -> Reading:
        request = self._request
        request.stream_mode = request.stream_mode or "values"
        if not request.may_repeat_updates:
            self._ledger.forget_updates()
        modes = mode_set(request.stream_mode)
        consumer = Consumer(request.dedup, self._ledger, modes)
        return Reading.of_call(request.call, request.remote, consumer)

    def _joined(self) -> Steps[Reading]:
        request, config = self._request, self._request.remote or RemoteConfig()
        yield from self._ask_modes(Backoff(config.max_retries))
        modes = request.wire_modes
        consumer = Consumer(
            request.dedup,
            self._ledger,
            mode_set(modes or ()),
            only=None if modes is None else mode_set(modes),
            goes_on=bool(request.position) and request.ledger is not None,
        )
        reader = RunReader(
            config,
            thread_id=request.thread_id,
            run_id=request.run_id,
            modes=modes,
            subgraphs=bool(request.subgraphs),
            goes_on="input" in request.given and goes_on(request.given),
            begins_at=request.position,
            headers=request.headers,
            ran_again=consumer.ran_again,
        )
        return Reading(reader, recipient=consumer)

    def _ask_modes(self, tries: Backoff) -> Steps[None]:
        """Ask for the modes of the run that is joined.

        A run that the server does not know has none. Reading it will raise.
        """
        request = self._request
        while request.subgraphs is None and request.thread_id is not None:
            try:
                run = yield from fetch_run(request.thread_id, request.run_id, request.headers)
            except QuestionFailed as failed:
                yield self._wait_s(tries, failed.error)
            else:
                request.given = (run or {}).get("kwargs") or {}
                request.stream_mode = request.stream_mode or request.given.get("stream_mode")
                request.subgraphs = bool(request.given.get("subgraphs"))

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

    def _prepare(self, processor: ChannelStreamingProcessor) -> None:
        """Ask for what a processor reads; of each state that is what changed."""
        request = self._request
        request.dedup = replace(request.dedup or DedupConfig(), state="changed")
        if request.run_id is None:
            request.stream_mode = request.stream_mode or processor.stream_modes
            if request.subgraphs is None:
                request.subgraphs = processor.subgraphs


class AsyncRunStream(_Stream, AsyncGenerator[Part, None]):
    """The parts of a run, each once.

    Raises, while it is read:
        APIError: The server refuses to begin the run.
        RemoteException: The run failed.
        StreamInterrupted: The run cannot be read to its end.
    """

    def __init__(self, client: LangGraphClient, request: RunRequest) -> None:
        super().__init__(request)
        self._parts = aread_run(client, self._open())

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


class RunStream(_Stream, Generator[Part, None, None]):
    """`AsyncRunStream`, sync."""

    def __init__(self, client: SyncLangGraphClient, request: RunRequest) -> None:
        super().__init__(request)
        self._parts = read_run(client, self._open())

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


class RunOptions(TypedDict, total=False):
    """What `client.runs.stream` takes, and what it means there."""

    input: Input | None
    command: Command | None
    stream_resumable: bool
    """True unless said otherwise: else the run cannot be read on after a cut."""
    metadata: Mapping[str, Any] | None
    config: Config | None
    context: Context | None
    checkpoint: Checkpoint | None
    checkpoint_id: str | None
    checkpoint_during: bool | None
    interrupt_before: All | Sequence[str] | None
    interrupt_after: All | Sequence[str] | None
    feedback_keys: Sequence[str] | None
    on_disconnect: DisconnectMode | None
    """`continue` unless said otherwise: else a cut cancels the run."""
    on_completion: OnCompletionBehavior | None
    webhook: str | None
    multitask_strategy: MultitaskStrategy | None
    if_not_exists: IfNotExists | None
    after_seconds: int | None
    langsmith_tracing: LangSmithTracing | None
    headers: Mapping[str, str] | None
    params: QueryParamTypes | None
    on_run_created: Callable[[RunCreateMetadata], None] | None
    durability: Durability | None
    strict_resume: bool | None


class _StreamOptions(RunOptions, total=False):
    """The keywords of `stream_run`, which says what they mean."""

    stream_mode: StreamModes | None
    stream_subgraphs: bool | None
    ledger: Ledger | None
    dedup: DedupConfig | None
    remote: RemoteConfig | None


class _JoinOptions(TypedDict, total=False):
    """The keywords of `join_run`, which says what they mean."""

    stream_mode: StreamModes | None
    position: str | None
    ledger: Ledger | None
    dedup: DedupConfig | None
    remote: RemoteConfig | None
    headers: Mapping[str, str] | None


@overload
def stream_run(
    client: LangGraphClient, thread_id: str | None, assistant_id: str, **_: Unpack[_StreamOptions]
) -> AsyncRunStream: ...


@overload
def stream_run(
    client: SyncLangGraphClient,
    thread_id: str | None,
    assistant_id: str,
    **_: Unpack[_StreamOptions],
) -> RunStream: ...


def stream_run(
    client: LangGraphClient | SyncLangGraphClient,
    thread_id: str | None,
    assistant_id: str,
    *,
    stream_mode: StreamModes | None = None,
    stream_subgraphs: bool | None = None,
    ledger: Ledger | None = None,
    dedup: DedupConfig | None = None,
    remote: RemoteConfig | None = None,
    **options: Unpack[RunOptions],
) -> AsyncRunStream | RunStream:
    """Run a graph on a server and stream what it says, each thing once, through every cut.

    Nothing happens before the first part is asked for.

    Args:
        client: Yours, with its headers, authentication and timeouts.
        thread_id: The thread to run in; None for a run without one, whose end cannot be
            checked against a state.
        assistant_id: The assistant, or the name of a graph.
        stream_mode: One mode or several, named as a local graph or as the server names them;
            by default `values`.
        stream_subgraphs: Stream from subgraphs too.
        ledger: What the consumer has from earlier streams of the thread; updated as parts pass.
        dedup: What counts as a repetition; by default states carry all messages.
        remote: How often to connect again, and within what bounds.
        options: What else `client.runs.stream` takes: `input`, `command`, `config`, `metadata`.

    Returns:
        The parts, async for an async client; `events` makes typed events of them.
    """
    call = {"stream_resumable": True, "on_disconnect": "continue", **options}
    request = RunRequest(
        thread_id=thread_id,
        stream_mode=stream_mode,
        subgraphs=stream_subgraphs,
        ledger=ledger,
        dedup=dedup,
        remote=remote,
        headers=options.get("headers"),
        given={"assistant_id": assistant_id, **call},
    )
    return _stream(client, request)


@overload
def join_run(
    client: LangGraphClient, thread_id: str | None, run_id: str, **_: Unpack[_JoinOptions]
) -> AsyncRunStream: ...


@overload
def join_run(
    client: SyncLangGraphClient, thread_id: str | None, run_id: str, **_: Unpack[_JoinOptions]
) -> RunStream: ...


def join_run(
    client: LangGraphClient | SyncLangGraphClient,
    thread_id: str | None,
    run_id: str,
    *,
    stream_mode: StreamModes | None = None,
    position: str | None = None,
    ledger: Ledger | None = None,
    dedup: DedupConfig | None = None,
    remote: RemoteConfig | None = None,
    headers: Mapping[str, str] | None = None,
) -> AsyncRunStream | RunStream:
    """Stream a run that has begun: all of it, or from where another stream was interrupted.

    The run must be resumable, as those of `stream_run` are; of another only what it says from
    now on is streamed, and a part of mode `gap` says so.

    Args:
        client: Yours, with its headers, authentication and timeouts.
        thread_id: The thread of the run.
        run_id: The run.
        stream_mode: Of the modes that it streams, those to pass on; by default all.
        position: Where to go on: `StreamInterrupted.position`, or that of the other stream.
        ledger: What the consumer has, with `position` as of there.
        dedup: What counts as a repetition; by default states carry all messages.
        remote: How often to connect again, and within what bounds.
        headers: To send with each request beside the client's own.

    Returns:
        The parts, async for an async client; `events` makes typed events of them.
    """
    request = RunRequest(
        thread_id=thread_id,
        run_id=run_id,
        position=position,
        stream_mode=stream_mode,
        ledger=ledger,
        dedup=dedup,
        remote=remote,
        headers=headers,
    )
    return _stream(client, request)


def _stream(
    client: LangGraphClient | SyncLangGraphClient, request: RunRequest
) -> AsyncRunStream | RunStream:
    if isinstance(client, LangGraphClient):
        return AsyncRunStream(client, request)
    return RunStream(client, request)
