"""One run, recorded for two consumers: a graph whose tools act is not run twice to compare them.

Each message is marked with the side of its consumer. States, updates and custom data come once and
whole, as the graph streams them. Each consumer cuts them with a deduplicator of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from langgraph_once.stream.annotation import SIDE_KEY
from langgraph_once.stream.chunk_filter import ChangedFilter, ChunkFilter
from langgraph_once.stream.shapes import Part, StreamModes, Version, mode_set, reader, writer


class RecordingFilter(ChangedFilter):
    """Passes on what upstream's handler sends, and marks what another filter gives.

    Args:
        inner: The other filter.
        heard: The modes of the chunks.
        stream_mode: The modes that the reader asked for, with subgraphs. With `version` the shape
            of what is written.
    """

    def __init__(
        self,
        inner: ChunkFilter,
        heard: StreamModes,
        stream_mode: StreamModes,
        *,
        version: Version,
    ) -> None:
        super().__init__(inner, _marked)
        self._heard = reader(heard, subgraphs=True, version=version)
        self._given = reader(stream_mode, subgraphs=True, version=version)
        self._written: Callable[[Part], Any] = writer(stream_mode, subgraphs=True, version=version)
        self._asked = mode_set(stream_mode)
        self.passes = lambda _: False
        self.write_token = None

    def new(self, chunk: Any) -> Iterator[Any]:
        """What both consumers lack of a chunk."""
        part = self._heard(chunk)
        if _is_of_stock(part):
            yield self._written(part)
            return
        yield from super().new(chunk)
        if part.mode != "messages" and part.mode in self._asked:
            yield self._written(part)

    def changed(self, chunks: Iterable[Any]) -> Iterator[Any]:
        """The messages among `chunks`, marked; what else the filter gives is cut for one side."""
        messages = (part for part in map(self._given, chunks) if part.mode == "messages")
        return map(self._written, super().changed(messages))

    def keep_undelivered(self, left: Iterable[Part]) -> None:
        """Queue what the run produced after its consumer disconnected; stock readers have none."""
        super().keep_undelivered(part for part in left if not _is_of_stock(part))


def _marked(part: Part) -> Part:
    return part._replace(meta={**part.meta, SIDE_KEY: "once"})


def _is_of_stock(part: Part) -> bool:
    return part.mode == "messages" and part.meta.get(SIDE_KEY) == "stock"
