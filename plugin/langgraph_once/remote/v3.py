"""v3 of a remote graph: the runs of `RemoteGraph`, with our channel. They end with the run.

`run.extensions["once"]` gives each part once, as v2 chunks with message objects, like a local
`once(graph)`. A server that offers the channel sends these chunks, and each message has its id.
For any other server the chunks are made of the protocol events. These have limits:

- Deltas carry no id. Two messages that stream at the same time in one namespace get mixed.
  `run.messages` of the SDK has this problem with any server.
- A copy that a node returns cannot be told from something new.
- A message that no model streamed appears only in the states.

An interrupted sync run ends where the SDK sees the interrupt. It does not wait for the states that
the server sends after it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from langgraph.pregel._remote_run_stream import (
    _AsyncRemoteGraphRunStream,
    _ProjectionRegistry,
    _RemoteGraphRunStream,
)

from langgraph_once.config import DedupConfig
from langgraph_once.remote.shapes import as_local
from langgraph_once.stream import (
    CHANNEL,
    CHANNEL_METHODS,
    MESSAGE_KEYS,
    MESSAGE_TYPES,
    Deduplicator,
    EventReader,
    Part,
    event_part,
    v2_part,
    writer,
)

FINAL_STATES = frozenset({"completed", "failed"})
# Ids that a server makes up for events of a run itself (langgraph-api 0.16.7,
# langgraph_api/event_streaming/session.py).
RUN_ID = re.compile(r"^synth:([0-9a-f-]{36}):")

SILENCE_S = 0.5
"""After an interrupt the server still sends a few states, and does not say which is the last."""

SPARSE_MESSAGE_KEYS = frozenset({"content", "id", "type"})
"""What every message has in the states of v3, which leave empty fields out."""


class OnceChunks:
    """Protocol events in, v2 chunks out, each thing once. No I/O.

    Args:
        dedup: What counts as a repetition, unless the server decides that; and what is hidden
            in any case.
    """

    def __init__(self, dedup: DedupConfig | None = None) -> None:
        self._is_offered: bool | None = None
        self._events = EventReader()
        self._dedup = Deduplicator(dedup or DedupConfig())
        self._write = writer([], version="v2")

    def feed(self, event: Mapping[str, Any]) -> Iterator[Any]:
        """The chunks of an event that are not known yet."""
        method, data = event["method"], event["params"].get("data")
        if method == "custom" and isinstance(data, Mapping) and data.get("name") == CHANNEL:
            self._is_offered = True  # each thing comes here before it comes as an event
            part = _channel_part(data["payload"])
            if part.mode != "messages" or not self._dedup.hides(part):
                yield self._write(part)
        elif method in CHANNEL_METHODS and not self._is_offered:
            self._is_offered = False
            for part in self._inferred(event):
                yield self._write(part)

    def _inferred(self, event: Mapping[str, Any]) -> Iterator[Part]:
        params = event["params"]
        if event["method"] == "messages":  # the wire has no metadata
            run = {"run_id": "|".join(params["namespace"])}
            event = {**event, "params": {**params, "data": (params["data"], run)}}
            return self._new(event_part(event))
        part = event_part(event)
        if part.mode == "custom" and isinstance(part.data, Mapping):
            part = part._replace(data=part.data.get("payload", part.data))
        return self._new(as_local(part._replace(data=filled(part.data))))

    def _new(self, part: Part) -> Iterator[Part]:
        chunk = self._events.read(part)
        return iter(()) if chunk is None else self._dedup.feed(chunk)


def _channel_part(chunk: Mapping[str, Any]) -> Part:
    data = tuple(chunk["data"]) if chunk["type"] == "messages" else chunk["data"]
    return as_local(v2_part({**chunk, "ns": tuple(chunk["ns"]), "data": data}))


def filled(value: Any) -> Any:
    """A state of v3, with the empty fields of its messages put back; they mark a message."""
    if isinstance(value, list):
        return [filled(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") in MESSAGE_TYPES and value.keys() >= SPARSE_MESSAGE_KEYS:
        missing: dict[str, Any] = {key: {} for key in MESSAGE_KEYS - value.keys()}
        return {**missing, **value}
    return {key: filled(item) for key, item in value.items()}


class RunEvents:
    """Picks the events of one run from those of its thread, which the server sends anew. No I/O.

    Args:
        run_id: The run.

    Attributes:
        has_ended: It has ended, and all its events were there.
        is_interrupted: It was interrupted; a few more may come.
    """

    def __init__(self, run_id: str | None) -> None:
        self._run_id = run_id
        self._is_ours = True
        self.has_ended = False
        self.is_interrupted = False

    def has(self, event: Mapping[str, Any]) -> bool:
        """Whether an event is one of the run."""
        if event["method"] == "lifecycle" and not event["params"].get("namespace"):
            state = event["params"]["data"].get("event")
            found = RUN_ID.match(event.get("event_id") or "")
            self._is_ours = found is None or self._run_id in (None, found[1])
            if self._is_ours:
                self.has_ended = state in FINAL_STATES
                self.is_interrupted = state == "interrupted"
        return self._is_ours


def of_run(events: Iterable[Any], run_id: str | None) -> Iterator[Any]:
    """The events of a run, until it ends, or until the SDK believes so."""
    run = RunEvents(run_id)
    for event in events:
        if run.has(event):
            yield event
        if run.has_ended:
            return


async def aof_run(events: AsyncIterable[Any], run_id: str | None) -> AsyncIterator[Any]:
    """The events of a run, until it ends. The SDK's own iterator would wait for more."""
    run, source = RunEvents(run_id), aiter(events)
    while not run.has_ended:
        try:
            async with asyncio.timeout(SILENCE_S if run.is_interrupted else None):
                event = await anext(source)
        except (StopAsyncIteration, TimeoutError):
            return
        if run.has(event):
            yield event


class _Extensions(_ProjectionRegistry):
    """The projections by name; ours under `once`."""

    def __init__(self, sdk: Any, chunks: _Chunks) -> None:
        super().__init__(sdk)
        self._chunks = chunks

    def __getitem__(self, name: str) -> Any:
        return self._chunks if name == CHANNEL else super().__getitem__(name)


@dataclass
class _Chunks:
    """The chunks of a run; sync or async, as its client is."""

    run: Any
    dedup: DedupConfig | None

    def __iter__(self) -> Iterator[Any]:
        chunks = OnceChunks(self.dedup)
        for event in self.run:
            yield from chunks.feed(event)

    async def __aiter__(self) -> AsyncIterator[Any]:
        chunks = OnceChunks(self.dedup)
        async for event in self.run:
            for chunk in chunks.feed(event):
                yield chunk


class _Once:
    """A run of `RemoteGraph` with our channel; it takes the place of the one that it is made of."""

    _sdk: Any

    def __init__(self, run: Any, dedup: DedupConfig | None) -> None:
        # `RemoteGraph` makes the run, and takes no class to make it of (langgraph 1.2.24).
        vars(self).update(vars(run))
        self._dedup = dedup

    @property
    def extensions(self) -> Mapping[str, Any]:
        """The projections by name; ours under `once`."""
        return _Extensions(self._sdk, _Chunks(self, self._dedup))


class OnceRunStream(_Once, _RemoteGraphRunStream):
    """A v3 run of a remote graph; see this module."""

    def __iter__(self) -> Iterator[Any]:
        """The events of this run, without those of earlier runs of the thread."""
        return of_run(self._sdk.events, self._run_id)


class AsyncOnceRunStream(_Once, _AsyncRemoteGraphRunStream):
    """`OnceRunStream`, async."""

    def __aiter__(self) -> AsyncIterator[Any]:
        """The events of this run, to its end."""
        return aof_run(self._sdk.events, self._run_id)
