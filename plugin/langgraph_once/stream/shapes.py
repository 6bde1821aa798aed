"""Chunks in each shape that a graph streams or a server sends, and the one that all else reads: a
`Part`.

Which shape a chunk has follows from what was asked for (`stream_mode`, `subgraphs`,
`version`); nothing is guessed from the chunk, which could only be guessed wrong: a pair may
be `(mode, chunk)`, `(ns, chunk)` or `(message, metadata)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast

from langchain_core import messages
from langchain_core.messages import BaseMessage, RemoveMessage
from langgraph.types import Command, Interrupt

from langgraph_once.errors import StreamError

GAP_MODE: Final = "gap"
"""The mode of a part that says that something may be missing; its data say why."""

INTERRUPT_KEY: Final = "__interrupt__"
"""The key under which a v1 state or an update holds interrupts."""

CLASSES: Final[Mapping[str, type[BaseMessage]]] = {
    cls.model_fields["type"].default: cls
    for cls in (
        messages.AIMessage,
        messages.AIMessageChunk,
        messages.ChatMessage,
        messages.ChatMessageChunk,
        messages.FunctionMessage,
        messages.FunctionMessageChunk,
        messages.HumanMessage,
        messages.HumanMessageChunk,
        messages.SystemMessage,
        messages.SystemMessageChunk,
        messages.ToolMessage,
        messages.ToolMessageChunk,
    )
}
"""By the `type` that they write. A `TypeAdapter` of `AnyMessage` would validate each twice."""
MESSAGE_TYPES = frozenset({"ai", "human", "system", "tool", "chat", "function", "remove"})
MESSAGE_KEYS = frozenset({"type", "content", "id", "additional_kwargs", "response_metadata"})
STRAY_KEYS = ("invalid_tool_calls", "usage_metadata")
MALFORMED = (TypeError, ValueError, AttributeError, LookupError)
"""What the validators of messages raise for data that they did not expect."""

INTERRUPTS = "interrupts"
NOTHING: Mapping[str, Any] = MappingProxyType({})


class Part(NamedTuple):
    """One piece of a stream, whatever it came from.

    Attributes:
        ns: Namespace of the graph that sent it: one `node:task_id` per level, `()` at the root.
        mode: Stream mode: `messages`, `updates`, `values`, `custom`, …
        data: The payload; in mode `messages` the message or chunk alone.
        meta: In mode `messages` the metadata beside the message; a v2 `values` part has its
            `interrupts` here.
        event_id: The SSE id, where there is one. Not unique on `langgraph dev`: never a key.
    """

    ns: tuple[str, ...]
    mode: str
    data: Any
    meta: Mapping[str, Any] = NOTHING
    event_id: str | None = None

    @property
    def interrupts(self) -> Sequence[Any] | None:
        """What tasks wait for, as a state or an update tells: v2 beside a state, v1 in it.

        Empty at a breakpoint. None where the step goes on.
        """
        if isinstance(self.data, Mapping) and INTERRUPT_KEY in self.data:
            return cast("Sequence[Any]", self.data[INTERRUPT_KEY])
        return self.meta.get(INTERRUPTS) or None


StreamModes: TypeAlias = str | Sequence[str]
Version: TypeAlias = Literal["v1", "v2"]


def mode_set(stream_mode: StreamModes) -> frozenset[str]:
    """The modes asked for, with `messages-tuple`, the server's word, as `messages`."""
    modes = {stream_mode} if isinstance(stream_mode, str) else set(stream_mode)
    return frozenset("messages" if mode == "messages-tuple" else mode for mode in modes)


def with_modes(stream_mode: StreamModes, more: Iterable[str]) -> StreamModes:
    """The modes to ask a graph for: those given, and more that its reader does not get."""
    asked = [stream_mode] if isinstance(stream_mode, str) else list(stream_mode)
    missing = [mode for mode in more if mode not in asked]
    return [*asked, *missing] if missing else stream_mode


def reader(
    stream_mode: StreamModes, *, subgraphs: bool = False, version: Version = "v1"
) -> Callable[[Any], Part]:
    """The function that reads the chunks of a stream asked for with these arguments.

    It raises a `StreamError` for a chunk of another shape. In v1 a chunk comes bare if one mode was
    asked for, and with its mode if a list of modes was; with `subgraphs` its namespace comes first.
    """
    if version == "v2":
        return v2_part
    names = _fields(stream_mode, subgraphs)
    mode = "messages" if stream_mode == "messages-tuple" else stream_mode

    def read(chunk: Any) -> Part:
        fields = (chunk,) if len(names) == 1 else chunk
        if not isinstance(fields, tuple) or len(fields) != len(names):
            raise _unexpected(chunk, f"({', '.join(names)})")
        said = dict(zip(names, fields, strict=True))
        return _part(said.get("namespace", ()), said.get("mode", mode), said["chunk"])

    return read


def mode_and_data_at(
    stream_mode: StreamModes, subgraphs: bool, version: Version
) -> tuple[Any, Any]:
    """Where chunks have their mode and their payload; None where that is the chunk itself, or all
    are of one mode."""
    if version == "v2":
        return "type", "data"
    names = _fields(stream_mode, subgraphs)
    mode_at = names.index("mode") if "mode" in names else None
    return mode_at, len(names) - 1 if len(names) > 1 else None


def token_reader(
    passes: Callable[[Any, Any], bool], stream_mode: StreamModes, subgraphs: bool, version: Version
) -> Callable[[Any], bool]:
    """`passes`, which takes a message and its metadata, for chunks as `reader` reads them.

    False for all that hold no message and metadata.
    """
    if "messages" not in mode_set(stream_mode):
        return lambda _: False
    mode_at, data_at = mode_and_data_at(stream_mode, subgraphs, version)

    def is_token(chunk: Any) -> bool:
        try:
            if mode_at is not None and chunk[mode_at] != "messages":
                return False
            message, meta = chunk if data_at is None else chunk[data_at]
            return passes(message, meta)
        except (AttributeError, KeyError, IndexError, TypeError, ValueError):
            return False  # another shape; the reader will say what is wrong with it

    return is_token


def _fields(stream_mode: StreamModes, subgraphs: bool) -> tuple[str, ...]:
    """The fields of a v1 chunk; one alone comes bare."""
    namespace = ("namespace",) if subgraphs else ()
    return (*namespace, "chunk") if isinstance(stream_mode, str) else (*namespace, "mode", "chunk")


def v2_part(chunk: Any) -> Part:
    """Read a v2 chunk: a mapping with `type`, `ns` and `data`."""
    ns, mode, data = _values(chunk, "ns", "type", "data")
    return _with_interrupts(_part(ns, mode, data), chunk)


def sdk_part(chunk: Any) -> Part | None:
    """Read a `StreamPart(event, data, id)` of `langgraph_sdk`, or the tuple of the same.

    The namespace follows the mode, as in `messages|team:1|agent:2`. The server's own form of
    messages (`messages/metadata`, `messages/partial`, `messages/complete`) gives parts of modes
    with these names, which the deduplicator passes on.

    Returns:
        The part; None for an event that is no part of the stream (`metadata`, `end`).

    Raises:
        StreamError: It has another shape.
    """
    if not isinstance(chunk, tuple) or len(chunk) not in (2, 3) or not isinstance(chunk[0], str):
        raise _unexpected(chunk, "a StreamPart of `event`, `data` and `id`")
    event, data, *rest = chunk
    if event in {"metadata", "end", "heartbeat"}:
        return None
    mode, *ns = event.split("|")
    return _part(tuple(ns), mode, data)._replace(event_id=rest[0] if rest else None)


def event_part(event: Any) -> Part:
    """Read a protocol event of v3: a mapping with `method` and `params`.

    Raises:
        StreamError: It has another shape.
    """
    mode, params = _values(event, "method", "params")
    ns, data = _values(params, "namespace", "data")
    return _with_interrupts(_part(tuple(ns) if isinstance(ns, list) else ns, mode, data), params)


def _values(chunk: Any, *keys: str) -> list[Any]:
    """The values of a mapping under these keys. All of the keys must be there."""
    if not isinstance(chunk, Mapping) or not chunk.keys() >= {*keys}:
        raise _unexpected(chunk, "a mapping with " + ", ".join(f"`{key}`" for key in keys))
    return [chunk[key] for key in keys]


def _part(ns: Any, mode: Any, data: Any) -> Part:
    if not isinstance(mode, str):
        raise _unexpected(mode, "a stream mode")
    if not isinstance(ns, tuple) or not all(isinstance(name, str) for name in ns):
        raise _unexpected(ns, "a namespace")
    if mode != "messages":
        return Part(ns, mode, data)
    is_pair = isinstance(data, tuple | list) and len(data) == 2  # JSON has no tuples
    if not is_pair or not isinstance(data[1], Mapping):
        raise _unexpected(data, "(message, metadata)")
    return Part(ns, mode, data[0], data[1])


def _with_interrupts(part: Part, envelope: Mapping[str, Any]) -> Part:
    if INTERRUPTS not in envelope or part.mode == "messages":  # `RemoteGraph` puts it into each
        return part
    return part._replace(meta={INTERRUPTS: envelope[INTERRUPTS]})


def _unexpected(chunk: Any, shape: str) -> StreamError:
    size = f" of {len(chunk)} fields" if isinstance(chunk, tuple) else ""
    return StreamError(
        f"expected {shape}, got {type(chunk).__name__}{size}; give the same stream_mode, "
        "subgraphs and version as the stream was asked for with"
    )


def revive_part(part: Part) -> Part:
    """A part of JSON, with its messages and interrupts as objects; any other part as it is."""
    if isinstance(part.data, BaseMessage):
        return part
    meta = part.meta
    if INTERRUPTS in meta:
        meta = {**meta, INTERRUPTS: _interrupts(revive(meta[INTERRUPTS]))}
    return part._replace(data=revive(part.data), meta=meta)


def revive(value: Any) -> Any:
    """A copy of a value of JSON, with its messages and interrupts as objects.

    A mapping is a message when its `type` is a message type and it has every key with which
    one is written; a user's own mapping that merely looks alike stays as it is.
    """
    if type(value) is list:
        return [revive(item) for item in value]
    if type(value) is not dict:
        return value
    if (message := _message(value)) is not None:
        return message
    revived = {key: revive(item) for key, item in value.items()}
    if INTERRUPT_KEY in revived:
        revived[INTERRUPT_KEY] = _interrupts(revived[INTERRUPT_KEY])
    return revived


def _message(value: Mapping[str, Any]) -> BaseMessage | None:
    """The message that a mapping says; None if it is none, or cannot be one after all."""
    kind = value.get("type")
    if not isinstance(kind, str) or not value.keys() >= MESSAGE_KEYS:
        return None
    if kind not in MESSAGE_TYPES and not kind.endswith("MessageChunk"):
        return None
    try:
        if kind == "remove":
            return RemoveMessage(id=value["id"])
        return CLASSES[value["type"]](**_with_own_fields(value))
    except MALFORMED:
        return None


def _with_own_fields(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message with the fields that `convert_to_messages` takes for additional ones.

    A server that is given a message in JSON, as part of an input, reads it so.
    """
    extra = value["additional_kwargs"]
    if value["type"] != "ai" or not isinstance(extra, dict) or extra.keys().isdisjoint(STRAY_KEYS):
        return value
    stray = {key: extra[key] for key in STRAY_KEYS if key in extra and not value.get(key)}
    kept = {key: item for key, item in extra.items() if key not in stray}
    return {**value, "additional_kwargs": kept, **{k: v for k, v in stray.items() if v}}


def _interrupts(value: Any) -> Any:
    return tuple(map(_interrupt, value)) if isinstance(value, list) else value


def _interrupt(value: Any) -> Any:
    if not isinstance(value, Mapping) or not {"value", "id"} <= value.keys():
        return value
    schema = value.get("response_schema")
    return Interrupt(value["value"], id=value["id"], response_schema=schema)


def writer(
    stream_mode: StreamModes, *, subgraphs: bool = False, version: Version = "v1"
) -> Callable[[Part], Any]:
    """The function that writes parts in the shape that these arguments ask `reader` for."""
    if version == "v2":
        return _v2_chunk
    if isinstance(stream_mode, str):
        return (lambda part: (part.ns, _payload(part))) if subgraphs else _payload
    if subgraphs:
        return lambda part: (part.ns, part.mode, _payload(part))
    return lambda part: (part.mode, _payload(part))


def _payload(part: Part) -> Any:
    if part.mode == "messages":
        return part.data, part.meta
    if part.mode == "values" and part.meta.get(INTERRUPTS) and isinstance(part.data, dict):
        return {**part.data, INTERRUPT_KEY: tuple(part.meta[INTERRUPTS])}
    return part.data


def _v2_chunk(part: Part) -> dict[str, Any]:
    if part.mode == "messages":
        return {"type": part.mode, "ns": part.ns, "data": (part.data, part.meta)}
    chunk = {"type": part.mode, "ns": part.ns, "data": part.data}
    if part.mode == "values":
        chunk["interrupts"] = part.meta.get("interrupts", ())
    return chunk


def is_resume(given: Any) -> bool:
    """Whether a stream that is given this goes on from a checkpoint."""
    return given is None or isinstance(given, Command)


def may_repeat(given: Any) -> bool:
    """Whether it may begin with updates of the stream before.

    A command that goes to a node has that run, or its cache answer, anew.
    """
    return given is None or (isinstance(given, Command) and not given.goto)
