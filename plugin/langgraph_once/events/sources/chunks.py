"""Chunks of a stream under way to parts, whatever their shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from langgraph.stream import AsyncGraphRunStream, GraphRunStream, StreamChannel

from langgraph_once.errors import ConfigError, StreamError
from langgraph_once.events.sources.protocol_parts import ProtocolParts
from langgraph_once.stream import Part, event_part, sdk_part, v2_part
from langgraph_once.stream.part.from_json import revive_part
from langgraph_once.stream.part.shapes import reader

__all__ = ["SHAPE_KEYS", "Chunk", "ReadChunk", "local_part", "self_told", "shape_reader"]

Chunk: TypeAlias = Part | Mapping[str, Any] | tuple[str, Any, str | None]
"""A chunk that tells its own shape: a part, a v2 chunk, a v3 event, a `StreamPart` of the SDK."""

ReadChunk: TypeAlias = Callable[[Any], Iterable[Part]]

V3_SOURCES: tuple[type[Any], ...] = (GraphRunStream, AsyncGraphRunStream, StreamChannel)
SHAPE_KEYS = frozenset({"stream_mode", "subgraphs", "version"})


def shape_reader(shape: Mapping[str, Any]) -> ReadChunk:
    """The function that reads chunks of this `stream_mode`, `subgraphs` and `version`.

    Raises:
        ConfigError: Something else is given, or no mode.
    """
    unknown = shape.keys() - SHAPE_KEYS
    if unknown or "stream_mode" not in shape:
        raise ConfigError(
            "stream",
            f"a stream under way takes {', '.join(sorted(SHAPE_KEYS))}, and stream_mode at least, "
            f"not {', '.join(sorted(shape))}",
        )
    read = reader(
        shape["stream_mode"],
        subgraphs=shape.get("subgraphs", False),
        version=shape.get("version", "v1"),
    )
    return lambda chunk: (revive_part(read(chunk)),)


def local_part(chunk: Any) -> tuple[Part]:
    """Read a v2 chunk of a local graph, which is well made."""
    if chunk["type"] == "messages":
        message, meta = chunk["data"]
        return (Part(chunk["ns"], "messages", message, meta),)
    return (v2_part(chunk),)


def self_told(source: Any, *, tokens: bool, max_history: int) -> ReadChunk:
    """The function that reads chunks that tell their own shape: parts, v2 chunks, v3 events,
    `StreamPart`s. It raises `StreamError` for any other.

    Args:
        source: Where they come from, if that is known: it may tell that they are of v3.
        tokens: Whether messages are watched.
    """
    # Who watches no messages needs none found for them in the states of v3.
    is_v3 = isinstance(source, V3_SOURCES) or None if tokens else False
    protocol = ProtocolParts(max_history=max_history, is_v3=is_v3)

    def read(chunk: Any) -> Iterable[Part]:
        part = _part(chunk)
        return () if part is None else protocol.read(part)

    return read


def _part(chunk: Any) -> Part | None:
    if isinstance(chunk, Part):
        is_json = chunk.mode == "messages" and isinstance(chunk.data, Mapping)
        return revive_part(chunk) if is_json else chunk
    if isinstance(chunk, Mapping):
        return event_part(chunk) if "method" in chunk else revive_part(v2_part(chunk))
    if hasattr(chunk, "event"):
        part = sdk_part(tuple(chunk))
        return None if part is None else revive_part(part)
    raise StreamError(
        f"a {type(chunk).__name__} does not tell its own shape; pass stream_mode, subgraphs "
        "and version as the stream was asked for with"
    )
