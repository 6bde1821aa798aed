"""Which encoding a client gets, and that each decodes event by event."""

from __future__ import annotations

import importlib
import sys
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from langgraph_once.platform.sse import ENCODERS, chosen_encoding

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

OFFERED = ("zstd", "br", "gzip")
EVENTS = [
    f"event: messages\r\ndata: {'meta ' * 50}{i}\r\nid: {i}\r\n\r\n".encode() for i in range(9)
]


def decoder(encoding: str) -> Callable[[bytes], bytes]:
    """What a client decodes with, piece by piece."""
    if encoding == "gzip":
        return zlib.decompressobj(31).decompress
    if encoding == "zstd":
        # As much of a window as HTTP allows is 2 ** 23; ours must stay far below.
        limit: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 18}
        return zstd.ZstdDecompressor(options=limit).decompress
    library: Any = importlib.import_module("brotli")
    decode: Callable[[bytes], bytes] = library.Decompressor().process
    return decode


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        ([], None),
        ([""], None),
        (["gzip, deflate"], "gzip"),
        (["gzip, deflate, br, zstd"], "zstd"),
        (["br;q=1.0, zstd;q=0.9, gzip;q=0.8"], "br"),
        (["gzip", "zstd"], "zstd"),
        (["GZIP;Q=1"], "gzip"),
        (["x-gzip"], "gzip"),
        (["*"], "zstd"),
        (["zstd;q=0, *"], "br"),
        (["*;q=0, gzip"], "gzip"),
        (["gzip;q=0"], None),
        (["gzip;q=0.000, zstd;q=0.0"], None),
        (["identity"], None),
        (["identity, gzip;q=0.5"], None),
        (["identity;q=0.5, gzip"], "gzip"),
        (["identity, gzip"], "gzip"),
        (["identity;q=0"], None),
        (["deflate, compress, sdch"], None),
        (["gzip;q=2"], None),
        (["gzip;q=nan"], None),
        (["gzip;q=-1"], None),
        (["gzip;q=often, zstd;q=0.1"], "zstd"),
        (["gzip ; q = 0.5 , zstd ; q = 0.4"], "gzip"),
        ([";;,,;q=1,"], None),
    ],
)
def test_the_client_gets_what_it_likes_best(accepted: list[str], expected: str | None) -> None:
    assert chosen_encoding(accepted, OFFERED) == expected


def test_our_order_decides_between_equal_weights() -> None:
    assert chosen_encoding(["gzip, zstd"], ("gzip", "zstd")) == "gzip"


@pytest.mark.parametrize("encoding", OFFERED)
def test_each_event_can_be_read_once_it_is_flushed(encoding: str) -> None:
    decode = decoder(encoding)
    encoder = ENCODERS[encoding]()
    sizes = []
    for event in EVENTS:
        sent = encoder.compress(event) + encoder.flush()
        sizes.append(len(sent))
        assert decode(sent) == event
    assert decode(encoder.finish()) == b""
    assert max(sizes[1:]) < len(EVENTS[0]) / 5  # later events refer back to the first


def test_an_encoder_keeps_nothing_of_another_stream() -> None:
    first, second = ENCODERS["zstd"](), ENCODERS["zstd"]()
    for encoder in (first, second):
        encoder.compress(EVENTS[0])
    assert len(first.flush()) == len(second.flush()) > 20
