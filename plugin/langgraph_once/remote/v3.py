"""v3 of a remote graph: the runs of `RemoteGraph`, with our channel, and ending with the run.

`run.extensions["once"]` gives each part once, as v2 chunks with message objects, as it does of
a local `once(graph)`. Where the server offers the channel, it is that: each message bears its
id. Where it does not, the same chunks are made of the protocol events, with what these leave
out:

- Their deltas bear no id: two messages that are open at a time in one namespace run into one
  another. `run.messages`, which is the SDK's, has this hole with any server.
- Nothing tells a copy that a node returns from something new.
- A message that no model streamed is in the states alone.

A sync run that is interrupted ends where the SDK sees the interrupt; states that the server says
after it are not waited for.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from typing import Any

from langgraph.pregel._remote_run_stream import (
    _AsyncRemoteGraphRunStream,
    _ProjectionRegistry,
    _RemoteGraphRunStream,
)

from langgraph_once.config import DedupConfig
from langgraph_once.remote.parts import as_local
from langgraph_once.stream import CHANNEL, Deduplicator, Part, event_part, v2_part
from langgraph_once.stream.part.from_json import MESSAGE_KEYS, MESSAGE_TYPES
from langgraph_once.stream.part.render import writer
from langgraph_once.stream.v3.events import EventReader
from langgraph_once.stream.v3.transformer import CHANNEL_METHODS

__all__ = ["AsyncOnceRunStream", "OnceChunks", "OnceRunStream", "RunEvents"]

ENDS = frozenset({"completed", "failed"})
RUN_ID = re.compile(r"^synth:([0-9a-f-]{36}):")

SILENCE_S = 0.5
"""After an interrupt the server still says a few states, and not when it has said the last."""

WIRE_KEYS = frozenset({"content", "id", "type"})
"""What a message always has in the states of v3, where it has no empty fields."""


class OnceChunks:
    """Protocol events in, v2 chunks out, each thing once. No I/O.

    Args:
        dedup: What counts as a repetition, where the server does not decide it; and what is
            hidden in any case.
    """

    def __init__(self, dedup: DedupConfig | None = None) -> None:
        self._is_offered: bool | None = None
        self._events = EventReader()
        self._dedup = Deduplicator(dedup or DedupConfig())
        self._write = writer([], version="v2")

    def feed(self, event: Mapping[str, Any]) -> Iterator[Any]:
        """What an event says that is not known yet."""
        method, data = event["method"], event["params"].get("data")
        if method == "custom" and isinstance(data, Mapping) and data.get("name") == CHANNEL:
            self._is_offered = True  # it says each thing before the protocol does
            said = _said(data["payload"])
            if said.mode != "messages" or not self._dedup.hides(said):
                yield self._write(said)
        elif method in CHANNEL_METHODS and not self._is_offered:
            self._is_offered = False
            for part in self._inferred(event):
                yield self._write(part)

    def _inferred(self, event: Mapping[str, Any]) -> Iterator[Part]:
        params = event["params"]
        if event["method"] == "messages":  # the wire has no metadata
            run = {"run_id": "|".join(params["namespace"])}
            event = {**event, "params": {**params, "data": (params["data"], run)}}
            return self._told(event_part(event))
        part = event_part(event)
        if part.mode == "custom" and isinstance(part.data, Mapping):
            part = part._replace(data=part.data.get("payload", part.data))
        return self._told(as_local(part._replace(data=filled(part.data))))

    def _told(self, part: Part) -> Iterator[Part]:
        said = self._events.read(part)
        return iter(()) if said is None else self._dedup.feed(said)


def _said(chunk: Mapping[str, Any]) -> Part:
    data = chunk["data"]
    if chunk["type"] == "messages":
        data = tuple(data)
    return as_local(v2_part({**chunk, "ns": tuple(chunk["ns"]), "data": data}))


def filled(value: Any) -> Any:
    """A state of v3 with the empty fields of its messages, by which they are known."""
    if isinstance(value, list):
        return [filled(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") in MESSAGE_TYPES and value.keys() >= WIRE_KEYS:
        missing: dict[str, Any] = {key: {} for key in MESSAGE_KEYS - value.keys()}
        return {**missing, **value}
    return {key: filled(item) for key, item in value.items()}


class RunEvents:
    """Tells the events of one run among those of its thread, which the server says anew. No I/O.

    Args:
        run_id: The run.

    Attributes:
        has_ended: It has ended, and all was said.
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
                self.has_ended = state in ENDS
                self.is_interrupted = state == "interrupted"
        return self._is_ours


def of_run(events: Iterable[Any], run_id: str | None) -> Iterator[Any]:
    """The events of a run, to its end, or to where the SDK takes it to have ended."""
    run = RunEvents(run_id)
    for event in events:
        if run.has(event):
            yield event
        if run.has_ended:
            return


async def aof_run(events: AsyncIterable[Any], run_id: str | None) -> AsyncIterator[Any]:
    """The events of a run, to its end; the SDK's own iterator waits for more."""
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

    def __init__(self, run: Any, dedup: DedupConfig | None) -> None:
        super().__init__(run._sdk)  # noqa: SLF001  # there is no other way to it
        self._run = run
        self._dedup = dedup

    def __getitem__(self, name: str) -> Any:
        return _Chunks(self._run, self._dedup) if name == CHANNEL else super().__getitem__(name)


class _Chunks:
    """The chunks of a run, to be iterated as its client is: sync or async."""

    def __init__(self, run: Any, dedup: DedupConfig | None) -> None:
        self._run = run
        self._dedup = dedup

    def __iter__(self) -> Iterator[Any]:
        chunks = OnceChunks(self._dedup)
        for event in self._run:
            yield from chunks.feed(event)

    async def __aiter__(self) -> AsyncIterator[Any]:
        chunks = OnceChunks(self._dedup)
        async for event in self._run:
            for chunk in chunks.feed(event):
                yield chunk


class OnceRunStream(_RemoteGraphRunStream):
    """A v3 run of a remote graph; see this module.

    Args:
        run: The run as `RemoteGraph` makes it, which is not used any more.
        dedup: As `OnceChunks`.
    """

    def __init__(self, run: _RemoteGraphRunStream, dedup: DedupConfig | None) -> None:
        vars(self).update(vars(run))
        self._dedup = dedup

    @property
    def extensions(self) -> Mapping[str, Any]:
        """The projections by name; ours under `once`."""
        return _Extensions(self, self._dedup)

    def __iter__(self) -> Iterator[Any]:
        """The events of this run, without those of earlier runs of the thread."""
        return of_run(self._sdk.events, self._run_id)


class AsyncOnceRunStream(_AsyncRemoteGraphRunStream):
    """`OnceRunStream`, async."""

    def __init__(self, run: _AsyncRemoteGraphRunStream, dedup: DedupConfig | None) -> None:
        vars(self).update(vars(run))
        self._dedup = dedup

    @property
    def extensions(self) -> Mapping[str, Any]:
        """The projections by name; ours under `once`."""
        return _Extensions(self, self._dedup)

    def __aiter__(self) -> AsyncIterator[Any]:
        """The events of this run, to its end."""
        return aof_run(self._sdk.events, self._run_id)
