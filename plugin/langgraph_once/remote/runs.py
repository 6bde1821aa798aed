"""`stream_run` and `join_run`: the runs of a server, read with a user's own SDK client."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict, Unpack, overload

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
from langgraph_once.remote.run_stream import AsyncRunStream, RunRequest, RunStream
from langgraph_once.stream import Ledger
from langgraph_once.stream.part.shapes import StreamModes

__all__ = ["RunOptions", "join_run", "stream_run"]


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
        dedup: What counts as a repetition; by default as `OnceRemoteGraph`.
        remote: How often to connect again, and within what bounds.
        options: As `client.runs.stream`.

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
        client: As `stream_run`.
        thread_id: The thread of the run.
        run_id: The run.
        stream_mode: Of the modes that it streams, those to pass on; by default all.
        position: Where to go on: `StreamInterrupted.position`, or that of the other stream.
        ledger: What the consumer has, with `position` as of there.
        dedup: As `stream_run`.
        remote: As `stream_run`.
        headers: To send with each request beside the client's own.

    Returns:
        As `stream_run`.
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
