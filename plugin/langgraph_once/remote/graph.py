"""`OnceRemoteGraph`: a `RemoteGraph` that behaves like a local graph.

The parts of a run go to the caller of `stream`, and to the graphs around a node. The states of a
server's threads are read as a local graph gives its own.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from inspect import Parameter
from typing import Any, NamedTuple, TypeVar

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs
from langgraph.errors import ParentCommand
from langgraph.pregel._remote_run_stream import _RemoteGraphRunStream
from langgraph.pregel.remote import RemoteGraph, _merge_tracing_headers
from langgraph.types import Command, StateSnapshot
from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient
from langgraph_sdk.schema import Checkpoint, ThreadState

from langgraph_once.config import READER_CHECKPOINT, READER_KEY, DedupConfig, RemoteConfig
from langgraph_once.remote.node import (
    METRICS,
    Caller,
    check_room,
    in_own_thread,
    served_run,
)
from langgraph_once.remote.reconnect import (
    QuestionFailed,
    Reading,
    Recipient,
    Steps,
    aread_run,
    read_run,
)
from langgraph_once.remote.shapes import (
    INNER_PREFIX,
    Pages,
    Result,
    as_config,
    checkpoint_of,
    sent,
    snapshot,
    stepped,
    wire_modes,
)
from langgraph_once.remote.v3 import AsyncOnceRunStream, OnceRunStream
from langgraph_once.stream import (
    GAP_MODE,
    Ledger,
    Part,
    StreamModes,
    Version,
    achunks_of,
    chunks_of,
    is_task,
    may_repeat,
    mode_set,
)

C = TypeVar("C", bound=type)


def shows_options(cls: C) -> C:
    """Let the methods of `cls` show the options that their `**kwargs` take: upstream's."""
    upstream = cls.__mro__[1]
    for name, method in vars(cls).items():
        if callable(method) and (theirs := getattr(upstream, name, None)) is not None:
            setattr(method, "__signature__", _merged(method, theirs))  # noqa: B010  # mypy's wish
    return cls


def _merged(ours: Any, theirs: Any) -> inspect.Signature:
    """Our signature, with the options of theirs that it lacks put before `**kwargs`."""
    signature = inspect.signature(ours)
    own = list(signature.parameters.values())
    if own[-1].kind is not Parameter.VAR_KEYWORD:
        return signature
    known = signature.parameters
    passed = [
        option
        for option in inspect.signature(theirs).parameters.values()
        if option.kind is Parameter.KEYWORD_ONLY and option.name not in known
    ]
    return signature.replace(parameters=[*own[:-1], *passed, own[-1]])


class Wanted(NamedTuple):
    """What is asked for."""

    modes: frozenset[str]
    """The modes, as a local graph names them. Without `gap`, gaps are logged alone."""

    subgraphs: bool
    """Whether from the graphs inside too."""

    ledger: Ledger | None = None
    """What the consumer has; None if it takes everything."""


class Recipients(Recipient):
    """Passes the parts of a run to its caller and to the graphs around a node.

    Args:
        wanted: What was asked for.
        caller: The task that runs it, if one does.
    """

    def __init__(self, wanted: Wanted, caller: Caller | None) -> None:
        super().__init__(wanted.ledger)
        self._wanted = wanted
        self._caller = caller
        self._depth = len(caller.ns) if caller else 0
        self._passing = frozenset[str]()
        if caller is None:  # parts of most modes pass as they come: that is asked once
            always = wanted.modes if wanted.subgraphs else {"messages"}
            self._passing = wanted.modes & always - {GAP_MODE, "values"}

    @property
    def modes(self) -> frozenset[str]:
        """What to ask the server for."""
        own = self._wanted.modes - {GAP_MODE}
        return own | self._caller.modes if self._caller else own

    @property
    def subgraphs(self) -> bool:
        """Whether to ask it for the graphs inside."""
        return self._wanted.subgraphs or bool(self._caller and self._caller.modes)

    def feed(self, part: Part) -> Iterable[Part]:
        """The part, if it was asked for."""
        if part.mode in self._passing:
            return (part,)
        self.note_gap(part)
        if part.mode == GAP_MODE:
            logger.warning("something may be missing from a remote run: %s", part.data)
            return (part,) if GAP_MODE in self._wanted.modes else ()
        if self._caller is not None:
            part = self._caller.placed(part)
            self._caller.forward(part)
        # If the graphs around want subgraphs, the server sends an inner message in its subgraph
        # and not at the root as well. So messages pass from any depth, or they would be lost.
        is_near = len(part.ns) == self._depth or part.mode == "messages"
        is_wanted = part.mode in self._wanted.modes and (is_near or self._wanted.subgraphs)
        return (part,) if is_wanted else ()

    def ran_again(self) -> None:
        """Start a new epoch, for the graphs around as well."""
        super().ran_again()
        if self._caller is not None:
            self._caller.ran_again()

    def close(self) -> Iterable[Part]:
        """Nothing: note that the run has ended well.

        Raises:
            GraphInterrupt: It was interrupted, and so is the task that runs it.
        """
        if self._caller is not None:
            self._caller.finish()
        return ()

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Address a command to the graph around by its name, which the server does not know."""
        try:
            with super().ending():
                yield
        except ParentCommand as error:
            raise self.addressed(error) from error

    def addressed(self, error: ParentCommand) -> ParentCommand:
        """The command, addressed to the graph around the remote one by its name."""
        graph = self._caller.task if self._caller else ""
        return ParentCommand(replace(error.args[0], graph=graph))


Options = Mapping[str, Any]


@shows_options
class OnceRemoteGraph(RemoteGraph):
    """A `RemoteGraph` whose streams deliver each thing once, in the shapes of a local graph.

    Messages, chunks, interrupts and snapshots are objects. As a node of a local graph it shares
    that graph's streams, and is interrupted and resumed with it. It works with any LangGraph
    server; the graph there need not be wrapped by `once`.

    Args:
        assistant_id: The assistant, or the name of a graph.
        dedup: What counts as a repetition. By default `updates` and `values` carry all messages,
            as those of a local graph do; `DedupConfig(state="auto")` leaves out those that the
            consumer has.
        remote: How often to connect again after a cut, and within what bounds.
        url: Of the server.
        api_key: The key of the server.
        headers: To send with each request.
        client: An SDK client, in place of one made for `url`. If you have replaced its
            `runs.stream`, that is called; reconnecting after a cut is then up to it.
        sync_client: The same for sync calls.
        config: Defaults of the config of each call.
        name: The name of this graph; by default `assistant_id`.
        distributed_tracing: Pass the trace of the caller on.
    """

    def __init__(
        self,
        assistant_id: str,
        /,
        *,
        dedup: DedupConfig | None = None,
        remote: RemoteConfig | None = None,
        url: str | None = None,
        api_key: str | None = None,
        headers: dict[str, str] | None = None,
        client: LangGraphClient | None = None,
        sync_client: SyncLangGraphClient | None = None,
        config: RunnableConfig | None = None,
        name: str | None = None,
        distributed_tracing: bool = False,
    ) -> None:
        super().__init__(
            assistant_id,
            url=url,
            api_key=api_key,
            headers=headers,
            client=client,
            sync_client=sync_client,
            config=config,
            name=name,
            distributed_tracing=distributed_tracing,
        )
        self.dedup = dedup
        self.remote = remote

    def stream(  # type: ignore[override]  # one signature stands for upstream's overloads
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        stream_mode: StreamModes | None = None,
        subgraphs: bool = False,
        version: Version = "v1",
        ledger: Ledger | None = None,
        **kwargs: Any,
    ) -> Iterator[Any]:
        """Run the remote graph and stream what it sends, each thing once.

        Args:
            input: Input or `Command`.
            config: With `thread_id` under `configurable`, to run in a thread, and with
                `checkpoint_id`, to run from that checkpoint.
            stream_mode: One mode or a list; by default `updates`, and `values` in a node. With
                `gap` in the list, or with v2, a chunk of this mode says why something may be
                missing: read the state of the thread then. Otherwise only a log line says so.
            subgraphs: Stream from subgraphs too.
            version: Shape of the chunks, as of a local graph: v1 tuples or v2 mappings.
            ledger: What the consumer has from earlier streams of the thread, so that a resume
                does not repeat it; updated as chunks pass.
            kwargs: What else `RemoteGraph.stream` and `client.runs.stream` take.

        Raises:
            RemoteException: The run failed on the server.
            StreamInterrupted: It could not be read to its end; the error carries the ledger.
        """
        modes, wanted = self._wanted(input, stream_mode, config, subgraphs, version, ledger)
        parts = self._parts(input, config, wanted, kwargs)
        return chunks_of(parts, modes, subgraphs, version, ledger=wanted.ledger, config=self.dedup)

    def astream(  # type: ignore[override]  # as `stream`
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        stream_mode: StreamModes | None = None,
        subgraphs: bool = False,
        version: Version = "v1",
        ledger: Ledger | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """`stream`, async."""
        modes, wanted = self._wanted(input, stream_mode, config, subgraphs, version, ledger)
        parts = self._aparts(input, config, wanted, kwargs)
        return achunks_of(parts, modes, subgraphs, version, ledger=wanted.ledger, config=self.dedup)

    def invoke(
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        stream_mode: StreamModes = "values",
        subgraphs: bool = False,
        version: Version = "v1",
        **kwargs: Any,
    ) -> Any:
        """Run the remote graph to its end or interrupt and return what a local graph returns.

        Args:
            input: Input or `Command`.
            config: With `thread_id` under `configurable`, to run in a thread.
            stream_mode: `values` for the last state; any other, or a list, for all chunks,
                which are those that the server sends: nothing is left out.
            subgraphs: Whether chunks of subgraphs are among all chunks.
            version: Shape of the chunks; with v2 the last state comes as a `GraphOutput`.
            kwargs: What else `RemoteGraph.stream` and `client.runs.stream` take.

        Raises:
            RemoteException: The run failed on the server.
        """
        result = Result(stream_mode, subgraphs, version)
        for part in self._parts(input, config, Wanted(result.modes, subgraphs), kwargs):
            result.feed(part)
        return result.close()

    async def ainvoke(
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        stream_mode: StreamModes = "values",
        subgraphs: bool = False,
        version: Version = "v1",
        **kwargs: Any,
    ) -> Any:
        """`invoke`, async."""
        result = Result(stream_mode, subgraphs, version)
        async for part in self._aparts(input, config, Wanted(result.modes, subgraphs), kwargs):
            result.feed(part)
        return result.close()

    def stream_events(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """`RemoteGraph.stream_events`; v3 has our channel: see `langgraph_once.remote.v3`."""
        run = super().stream_events(v3_input(input), _announcing(config), **kwargs)
        return OnceRunStream(run, self.dedup) if isinstance(run, _RemoteGraphRunStream) else run

    async def astream_events(  # type: ignore[override]  # as upstream's own
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Any:
        """`stream_events`, async; the events of v3 end with the run."""
        run = await super().astream_events(v3_input(input), _announcing(config), **kwargs)
        return AsyncOnceRunStream(run, self.dedup)

    @property
    def channels(self) -> Mapping[str, Any]:
        """Empty: the channels are on the server. `once` asks every subgraph for them."""
        return {}

    def _sanitize_config(self, config: RunnableConfig) -> RunnableConfig:
        """As upstream's, and without the keys that a graph around this one keeps for itself."""
        sanitized = super()._sanitize_config(config)
        configurable = sanitized.get("configurable", {})
        for key in [key for key in configurable if key.startswith(INNER_PREFIX)]:
            del configurable[key]
        return sanitized

    def _wanted(
        self,
        input: Any,
        stream_mode: StreamModes | None,
        config: RunnableConfig | None,
        subgraphs: bool,
        version: Version,
        ledger: Ledger | None,
    ) -> tuple[StreamModes, Wanted]:
        """The modes in force, and what a stream is asked for."""
        if stream_mode is None:
            stream_mode = "values" if is_task(config) else "updates"
        ledger = Ledger() if ledger is None else ledger
        if not may_repeat(input):
            ledger.forget_updates()
        gap = {GAP_MODE} if version == "v2" else frozenset[str]()
        return stream_mode, Wanted(mode_set(stream_mode) | gap, subgraphs, ledger)

    def _parts(
        self, input: Any, config: RunnableConfig | None, wanted: Wanted, options: Options
    ) -> Generator[Part]:
        """The parts of a run, as a local graph has them; they go to the graphs around as well."""
        opening = self._open(input, config, wanted, options)
        return read_run(self._validate_sync_client(), opening)

    def _aparts(
        self, input: Any, config: RunnableConfig | None, wanted: Wanted, options: Options
    ) -> AsyncGenerator[Part]:
        """`_parts`, async."""
        opening = self._open(input, config, wanted, options)
        return aread_run(self._validate_client(), opening)

    def _open(
        self, input: Any, config: RunnableConfig | None, wanted: Wanted, options: Options
    ) -> Steps[Reading]:
        """What to read, once it is known in which thread, and with what input."""
        caller = Caller.of(config, self.dedup)
        config = yield from self._apart(config)
        if caller is not None and caller.is_resuming:
            input = caller.resumed(input, (yield from self._state_now(config)))
        recipients = Recipients(wanted, caller)
        call = self._call(input, config, recipients, options)
        return Reading.of_call(call, self.remote, recipients)

    def _call(
        self, input: Any, config: RunnableConfig | None, recipients: Recipients, options: Options
    ) -> dict[str, Any]:
        """The arguments of `client.runs.stream`."""
        merged = merge_configs(self.config, config)
        sanitized = self._sanitize_config(merged)
        configurable = sanitized.get("configurable", {})
        configurable.pop(READER_KEY, None)  # of who reads the graph around this one
        thread_id = configurable.pop("thread_id", None)
        call = {
            "thread_id": thread_id,
            "assistant_id": self.assistant_id,
            **stepped(input),
            "config": sanitized,
            "checkpoint": {} if is_task(config) else checkpoint_of(merged.get("configurable", {})),
            "stream_mode": wire_modes(recipients.modes),
            "stream_subgraphs": recipients.subgraphs,
            "stream_resumable": True,
            "on_disconnect": "continue",
            "if_not_exists": "create",
            "headers": None,
            **options,
        }
        if self.distributed_tracing:
            call["headers"] = _merge_tracing_headers(call["headers"])
        return call

    def get_state_history(
        self,
        config: RunnableConfig,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002  # upstream's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
        **kwargs: Any,
    ) -> Iterator[StateSnapshot]:
        """The states of a thread, newest first; all of them, if there is no `limit`."""
        threads = self._validate_sync_client().threads
        asked = {**self._history_of(config, filter), **kwargs}
        pages = Pages(limit, self._get_checkpoint(before))
        while pages.size:
            yield from pages.read(threads.get_history(**asked, **pages.asked))

    async def aget_state_history(
        self,
        config: RunnableConfig,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002  # upstream's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[StateSnapshot]:
        """`get_state_history`, async."""
        threads = self._validate_client().threads
        asked = {**self._history_of(config, filter), **kwargs}
        pages = Pages(limit, self._get_checkpoint(before))
        while pages.size:
            for state in pages.read(await threads.get_history(**asked, **pages.asked)):
                yield state

    def update_state(
        self, config: RunnableConfig, values: Any, as_node: str | None = None, **kwargs: Any
    ) -> RunnableConfig:
        """`RemoteGraph.update_state`: the config that it returns is as a local graph's."""
        return super().update_state(config, sent(values), as_node, **kwargs)

    async def aupdate_state(
        self, config: RunnableConfig, values: Any, as_node: str | None = None, **kwargs: Any
    ) -> RunnableConfig:
        """`update_state`, async."""
        return await super().aupdate_state(config, sent(values), as_node, **kwargs)

    def _history_of(
        self, config: RunnableConfig, metadata: dict[str, Any] | None
    ) -> dict[str, Any]:
        merged = merge_configs(self.config, config)
        return {
            "thread_id": merged["configurable"]["thread_id"],
            "checkpoint": self._get_checkpoint(merged),
            "metadata": metadata,
        }

    def _create_state_snapshot(self, state: ThreadState) -> StateSnapshot:
        return snapshot(state)

    def _get_config(self, checkpoint: Checkpoint) -> RunnableConfig:
        return as_config(checkpoint) or {}

    _is_own_server: bool | None = None
    """Whether the server runs the graphs around, too; None until it was asked."""

    def _apart(self, config: RunnableConfig | None) -> Steps[RunnableConfig | None]:
        """The config to run with: on the server that runs the node, in a thread of its own."""
        run = served_run(config)
        if config is None or run is None or self._is_own_server is False:
            return config
        if self._is_own_server is None:
            try:
                found = yield lambda client: client.runs.get(*run)
            except QuestionFailed:
                return config
            if found is None:
                self._is_own_server = False
                return config
            metrics = None
            with suppress(QuestionFailed):
                metrics = yield lambda client: client.http.get(METRICS)
            check_room(metrics, self.assistant_id)
            self._is_own_server = True
        return in_own_thread(config, run, self.assistant_id)

    def _state_now(self, config: RunnableConfig | None) -> Steps[Mapping[str, Any]]:
        """The state of the thread that a task runs this graph in; empty if there is none."""
        thread_id = merge_configs(self.config, config).get("configurable", {}).get("thread_id")
        if not thread_id:
            return {}
        try:
            return (yield lambda client: client.threads.get_state(thread_id)) or {}
        except QuestionFailed as failed:
            raise failed.error from None


logger = logging.getLogger("langgraph_once.remote")


def v3_input(input: Any) -> Any:
    return input if isinstance(input, Command) else sent(input)


def _announcing(config: RunnableConfig | None) -> RunnableConfig:
    """A config that announces us to the server; v3 has no other place for it."""
    return merge_configs(config, {"configurable": {**READER_CHECKPOINT}})
