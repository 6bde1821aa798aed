"""`OnceSerializer` beside upstream's serializers, in the same run."""

from __future__ import annotations

import base64
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

import numpy as np
import ormsgpack
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, ToolMessage
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import SecretStr

from bench import states
from bench.prose import passages
from bench.serde_timing import measure
from bench.timing import compare
from langgraph_once import OnceSerializer, SerdeConfig

__all__ = ["report"]

SIZES = (1, 4, 100, 500, 1000)
CODECS: tuple[Any, ...] = ("msgpack", "once2")
ALLOWED = tuple(f"{cls.__module__}:{cls.__qualname__}" for cls in states.TYPES)
KEY = bytes(range(32))
ARRAY_BYTES = 100_000_000
REPEATED_BYTES = 50_000
_TIMES = [
    f"{what} {column}" for what in ("encode", "decode") for column in ("µs", "median", "least")
]


def report() -> Iterator[str]:
    """The lines of the report, as Markdown."""
    yield from (
        "## Serializer",
        "",
        "Chat threads of about 1 KB a message, all of it different prose; lists of objects.",
        "Ratio: upstream's time over ours, as the median of pairs, and of the least times that",
        "were met once all was warm, on which others that run meanwhile have the least influence.",
        "The µs are least times, too. Upstream is `JsonPlusSerializer`, for encrypted rows",
        "`EncryptedSerializer`. The floor packs the same content as plain dictionaries: nothing",
        "that makes messages of it can be faster.",
        "",
        f"| codec | layers | value | bytes, upstream | bytes, ours | {' | '.join(_TIMES)} |",
        f"|---|---|---{'|---:' * 8}|",
    )
    peer = JsonPlusSerializer(allowed_msgpack_modules=states.TYPES)
    for codec in CODECS:
        plain = OnceSerializer(_config(codec, compression="none"))
        for name, value in _values().items():
            yield _row(codec, "none", name, value, peer, plain)
    for size in SIZES:
        yield _floor_row(size, peer)
    sealed_peer = EncryptedSerializer.from_pycryptodome_aes(peer, key=KEY)
    keys = {"k": SecretStr(base64.b64encode(KEY).decode())}
    for codec in CODECS:
        packed = OnceSerializer(_config(codec))
        sealed = OnceSerializer(_config(codec, encryption_keys=keys))
        for size in SIZES:
            yield _row(codec, "zstd", _messages(size), _thread(size), peer, packed)
        for size in (1, 500):
            value = _thread(size)
            yield _row(codec, "zstd+aesgcm", _messages(size), value, sealed_peer, sealed)
    yield ""
    yield from _array_rows(peer)


def _config(codec: Any, **more: Any) -> SerdeConfig:
    return SerdeConfig(codec=codec, allowed_types=ALLOWED, **more)


def _messages(size: int) -> str:
    return f"{size} message{'s' if size > 1 else ''}"


def _thread(size: int) -> dict[str, Any]:
    return {"messages": states.thread(size)}


def _values() -> dict[str, Any]:
    return {
        **{_messages(size): _thread(size) for size in SIZES},
        **{f"a list of 100 messages, {what}": make() for what, make in _ODD.items()},
        "100 messages, the last twice": {**(chat := _thread(100)), "last": chat["messages"][-1]},
        "400 dataclasses": states.dataclasses(),
        "100 dataclasses, parts shared": states.shared_dataclasses(),
        "400 enums": states.enums(),
        "50 nested models": states.models(),
        "a checkpoint with 4 messages": states.checkpoint(4),
        "the metadata of a checkpoint": {"source": "loop", "step": 3, "parents": {}},
    }


def _with_one(value: Any) -> list[BaseMessage]:
    messages = states.thread(100)
    messages[50].additional_kwargs["odd"] = value
    return messages


def _with_documents() -> list[BaseMessage]:
    """As a retriever's tool leaves them: in each fourth message, three."""
    messages = states.thread(100)
    for at in range(2, 100, 4):
        found = [
            Document(passage, id=f"{at}-{n}", metadata={"source": f"{n}.md", "page": n})
            for n, passage in enumerate(passages(3, 100))
        ]
        messages[at] = ToolMessage("Found.", tool_call_id=f"call_{at}", artifact=found)
    return messages


_ODD: dict[str, Callable[[], list[BaseMessage]]] = {
    "text alone": lambda: states.thread(100),
    "a dataclass in one": lambda: _with_one(states.dataclasses()[0]),
    "a tuple in one": lambda: _with_one((1, "two")),
    "a datetime in one": lambda: _with_one(datetime(2026, 5, 1, tzinfo=UTC)),
    "a UUID in one": lambda: _with_one(UUID(int=1)),
    "an enum in one": lambda: _with_one(states.enums()[0]),
    "three documents in each tool message": _with_documents,
}


def _row(
    codec: str,
    layers: str,
    name: str,
    value: Any,
    peer: SerializerProtocol,
    ours: SerializerProtocol,
) -> str:
    theirs, mine = peer.dumps_typed(value), ours.dumps_typed(value)
    repeat = max(1, REPEATED_BYTES // len(theirs[1]))
    encode = measure(
        lambda: peer.dumps_typed(value), lambda: ours.dumps_typed(value), repeat=repeat
    )
    decode = measure(
        lambda: peer.loads_typed(theirs), lambda: ours.loads_typed(mine), repeat=repeat
    )
    return (
        f"| {codec} | {layers} | {name} | {len(theirs[1]):,} | {len(mine[1]):,} "
        f"| {encode} | {decode} |"
    )


def _floor_row(size: int, peer: JsonPlusSerializer) -> str:
    value = _thread(size)
    plain = {"messages": [message.model_dump() for message in value["messages"]]}
    theirs, data = peer.dumps_typed(value), ormsgpack.packb(plain)
    repeat = max(1, REPEATED_BYTES // len(data))
    encode = measure(lambda: peer.dumps_typed(value), lambda: ormsgpack.packb(plain), repeat=repeat)
    decode = measure(
        lambda: peer.loads_typed(theirs), lambda: ormsgpack.unpackb(data), repeat=repeat
    )
    return (
        f"| the floor | none | {_messages(size)} | {len(theirs[1]):,} | {len(data):,} "
        f"| {encode} | {decode} |"
    )


def _array_rows(peer: JsonPlusSerializer) -> Iterator[str]:
    """A large array: memory is counted in its own size, beyond what is handed in."""
    yield f"An array of {ARRAY_BYTES // 10**6} MB in a dictionary, nothing compressed; peak memory"
    yield "beside the input, in sizes of the array."
    yield ""
    half = "ratio | peak, upstream | peak |"
    yield f"| codec | encode ms | {half} decode ms | {half}"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    value = {"array": np.arange(ARRAY_BYTES // 8, dtype="<f8")}
    for codec in CODECS:
        ours = OnceSerializer(_config(codec, compression="none"))
        theirs, mine = peer.dumps_typed(value), ours.dumps_typed(value)
        calls: list[tuple[Callable[[], object], Callable[[], object]]] = [
            (partial(peer.dumps_typed, value), partial(ours.dumps_typed, value)),
            (partial(peer.loads_typed, theirs), partial(ours.loads_typed, mine)),
        ]
        cells = []
        for upstreams, own in calls:
            both = compare(upstreams, own, rounds=3)
            cells.append(
                f"{both.ours_us / 1e3:,.0f} | {both.ratio:.2f}x "
                f"| {_peak(upstreams):.1f} | {_peak(own):.1f}"
            )
        yield f"| {codec} | {' | '.join(cells)} |"


def _peak(call: Callable[[], object]) -> float:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1] / ARRAY_BYTES
    finally:
        tracemalloc.stop()
