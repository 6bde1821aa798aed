"""`OnceRemoteGraph`: a `RemoteGraph` whose streams deliver each thing once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.pregel.remote import RemoteGraph

from langgraph_once.config import DedupConfig
from langgraph_once.remote.revive import revive
from langgraph_once.stream import (
    ChunkFilter,
    Ledger,
    Part,
    StreamModes,
    Version,
    afiltered,
    chunk_filter,
    filtered,
    v2_part,
)

__all__ = ["OnceRemoteGraph"]


class OnceRemoteGraph(RemoteGraph):
    """A `RemoteGraph` whose streams deliver each thing once, with real message objects.

    Works against any LangGraph server; the graph there need not be wrapped by `once`. State
    methods, `invoke` and `ainvoke` are those of `RemoteGraph`.

    Args:
        assistant_id: As `RemoteGraph`.
        dedup: What counts as a repetition. By default `DedupConfig(state="auto")`: a text
            that came as tokens does not come again in `updates` and `values`.
        kwargs: As `RemoteGraph`: `url`, `api_key`, `headers`, `client`, `sync_client`,
            `config`, `name`, `distributed_tracing`.
    """

    def __init__(
        self, assistant_id: str, /, *, dedup: DedupConfig | None = None, **kwargs: Any
    ) -> None:
        super().__init__(assistant_id, **kwargs)
        self.dedup = dedup

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
            config: With `thread_id` under `configurable`, to run in a thread.
            stream_mode: One mode or a list; by default `updates`.
            subgraphs: Stream from subgraphs too.
            version: Shape of the chunks, as of a local graph: v1 tuples or v2 mappings.
            ledger: What the consumer has from earlier streams of the thread, so that a resume
                does not repeat it; updated as chunks pass.
            kwargs: As `RemoteGraph.stream`.

        Raises:
            RemoteException: The run failed on the server.
        """
        modes = _as_asked(stream_mode)
        new = self._filter(modes, subgraphs, version, ledger)
        chunks = super().stream(
            input,
            config,
            stream_mode=cast("Any", modes),
            subgraphs=subgraphs,
            version="v2",
            **kwargs,
        )
        return filtered(chunks, new)

    def astream(  # type: ignore[override]
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
        """`stream`, async; the arguments are the same."""
        modes = _as_asked(stream_mode)
        new = self._filter(modes, subgraphs, version, ledger)
        chunks = super().astream(
            input,
            config,
            stream_mode=cast("Any", modes),
            subgraphs=subgraphs,
            version="v2",
            **kwargs,
        )
        return afiltered(chunks, new)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """`RemoteGraph.invoke`: it takes the last state of a stream, which is left whole."""
        return self._plain().invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """`RemoteGraph.ainvoke`: see `invoke`."""
        return await self._plain().ainvoke(input, config, **kwargs)

    def _plain(self) -> RemoteGraph:
        fields = {name: value for name, value in vars(self).items() if name != "dedup"}
        return RemoteGraph(fields.pop("assistant_id"), **fields)

    def _filter(
        self,
        modes: str | list[str],
        subgraphs: bool,
        version: Version,
        ledger: Ledger | None,
    ) -> ChunkFilter:
        return chunk_filter(
            modes, subgraphs, version, ledger=ledger, config=self.dedup, read=_remote_part
        )


def _as_asked(stream_mode: StreamModes | None) -> str | list[str]:
    """The modes in the form that tells one mode from a list, `updates` by default."""
    if stream_mode is None:
        return "updates"
    return stream_mode if isinstance(stream_mode, str) else list(stream_mode)


def _remote_part(chunk: Any) -> Part:
    """Read a v2 chunk of a `RemoteGraph`."""
    part = v2_part(chunk)
    return part._replace(data=revive(part.data))
