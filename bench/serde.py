"""`OnceSerializer` beside upstream's serializers, in the same run."""

from __future__ import annotations

import base64
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import SecretStr

from bench import states
from bench.serde_timing import Measured, measure
from bench.timing import compare
from langgraph_once import OnceSerializer, SerdeConfig

SIZES = (1, 20, 100, 1000)
FOREIGN_SIZES = (1, 20, 100)
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
        "Threads are lists of messages, as channels hold them: about 1 KB each, all different",
        "prose, with tool calls, results and usage. No value is written twice: each is made anew.",
        "Ratio: upstream's time over ours, as the median of pairs, and of the least times that",
        "were met once all was warm, on which others that run meanwhile have the least influence.",
        "The µs are least times, too. Upstream is `JsonPlusSerializer`, for encrypted rows",
        "`EncryptedSerializer`.",
        "",
        f"| layers | value | bytes, upstream | bytes, ours | {' | '.join(_TIMES)} |",
        f"|---|---|{'---:|' * 8}",
    )
    peer = JsonPlusSerializer(allowed_msgpack_modules=states.TYPES)
    plain = OnceSerializer(_config(compression="none"))
    for name, make in _VALUES.items():
        yield _row("none", name, make, peer, plain)
    for size in FOREIGN_SIZES:
        yield _foreign_row(size, peer, plain)
    packed = OnceSerializer(_config())
    keys = {"k": SecretStr(base64.b64encode(KEY).decode())}
    sealed = OnceSerializer(_config(encryption_keys=keys))
    sealed_peer = EncryptedSerializer.from_pycryptodome_aes(peer, key=KEY)
    for size in (1, 100, 1000):
        yield _row("zstd", _messages(size), partial(states.thread, size), peer, packed)
    for size in (1, 100):
        make = partial(states.thread, size)
        yield _row("zstd+aesgcm", _messages(size), make, sealed_peer, sealed)
    yield ""
    yield from _array_rows(peer)


def _config(**more: Any) -> SerdeConfig:
    return SerdeConfig(allowed_types=ALLOWED, **more)


def _messages(size: int) -> str:
    return f"{size:,} message{'s' if size > 1 else ''}"


_VALUES: dict[str, Callable[[], Any]] = {
    **{_messages(size): partial(states.thread, size) for size in SIZES},
    "a state with 1 message": lambda: {"messages": states.thread(1), "step": 1},
    "a checkpoint with 4 messages": partial(states.checkpoint, 4),
    **{f"plain: {name}": make for name, make in states.PLAIN.items()},
    **{f"100 messages, {name}": make for name, make in states.ODD.items()},
    "400 dataclasses": states.dataclasses,
    "400 enums": states.enums,
    "50 nested models": states.models,
    "400 models with private attributes": states.sessions,
    "400 named tuples": states.scores,
    "400 dictionaries with numbers as keys": states.numbered,
}


def _row(
    layers: str,
    name: str,
    make: Callable[[], Any],
    peer: SerializerProtocol,
    ours: SerializerProtocol,
) -> str:
    theirs, mine = peer.dumps_typed(make()), ours.dumps_typed(make())
    repeat = _repeat(theirs[1])
    encode = measure(make, peer.dumps_typed, ours.dumps_typed, repeat=repeat)
    decode = _decoded(theirs, mine, peer, ours)
    sizes = f"{len(theirs[1]):,} | {len(mine[1]):,}"
    return f"| {layers} | {name} | {sizes} | {encode} | {decode} |"


def _foreign_row(size: int, peer: SerializerProtocol, ours: SerializerProtocol) -> str:
    """A row that upstream wrote, as every thread begins that was there before us."""
    row = peer.dumps_typed(states.thread(size))
    decode = _decoded(row, row, peer, ours)
    return f"| none | upstream's row, {_messages(size)} | {len(row[1]):,} | | | | | {decode} |"


def _decoded(
    theirs: tuple[str, bytes],
    mine: tuple[str, bytes],
    peer: SerializerProtocol,
    ours: SerializerProtocol,
) -> Measured:
    return measure(
        lambda: None,
        lambda _: peer.loads_typed(theirs),
        lambda _: ours.loads_typed(mine),
        repeat=_repeat(theirs[1]),
    )


def _repeat(data: bytes) -> int:
    return max(1, min(200, REPEATED_BYTES // len(data)))


def _array_rows(peer: JsonPlusSerializer) -> Iterator[str]:
    """A large array: memory is counted in its own size, beyond what is handed in."""
    yield f"An array of {ARRAY_BYTES // 10**6} MB in a dictionary, nothing compressed; peak memory"
    yield "beside the input, in sizes of the array."
    yield ""
    half = "ratio | peak, upstream | peak |"
    yield f"| encode ms | {half} decode ms | {half}"
    yield f"|{'---:|' * 8}"
    value = {"array": np.arange(ARRAY_BYTES // 8, dtype="<f8")}
    ours = OnceSerializer(_config(compression="none"))
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
    yield f"| {' | '.join(cells)} |"


def _peak(call: Callable[[], object]) -> float:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1] / ARRAY_BYTES
    finally:
        tracemalloc.stop()
