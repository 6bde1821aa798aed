from __future__ import annotations

import base64
import contextlib
import os
import sys
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, strategies as st

from langgraph_once.errors import PayloadError, SizeLimitError
from langgraph_once.serde.compression import Compression, has_checksum

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LIMIT = 100_000
TAG = "msgpack+zstd"


def layer(limit: int = LIMIT) -> Compression:
    return Compression(max_decoded_bytes=limit)


def packed(data: bytes) -> bytes:
    result = layer().compress(data)
    assert result is not None
    return result


@given(st.binary(max_size=64), st.integers(1, 500))
def test_what_is_compressed_is_smaller_and_comes_back(unit: bytes, times: int) -> None:
    data = unit * times
    result = layer().compress(data)
    if result is not None:
        assert len(result) < len(data)
        assert layer().decompress(result, tag=TAG) == data


def test_leaves_alone_what_does_not_shrink() -> None:
    assert layer().compress(os.urandom(5000)) is None
    assert layer().compress(b"") is None


def test_a_long_piece_is_left_alone_if_a_sample_hardly_shrinks() -> None:
    image = base64.b64encode(os.urandom(30_000))
    words = " ".join(f"{n} words" for n in range(5000)).encode()
    assert layer().compress(image) is not None
    assert layer().compress(image, is_piece=True) is None
    assert layer().compress(image[:8192], is_piece=True) is not None
    for size in (8192, 40_000):
        packed = layer().compress(words[:size], is_piece=True)
        assert packed is not None
        assert has_checksum(packed)
        assert layer().decompress(packed, tag=TAG) == words[:size]


def test_a_frame_without_a_checksum_says_so() -> None:
    made = Compression(max_decoded_bytes=9999, checksum=False)
    packed = made.compress(b"a" * 999)
    assert packed is not None
    assert not has_checksum(packed)
    assert not has_checksum(b"")


def test_leaves_alone_what_could_not_be_read_back() -> None:
    assert layer(limit=5000).compress(b"a" * 5000) is not None
    assert layer(limit=5000).compress(b"a" * 5001) is None


def test_the_limit_is_exact() -> None:
    fits, does_not = zstd.compress(b"a" * LIMIT), zstd.compress(b"a" * (LIMIT + 1))
    assert len(layer().decompress(fits, tag=TAG)) == LIMIT
    with pytest.raises(SizeLimitError) as caught:
        layer().decompress(does_not, tag=TAG)
    assert caught.value.limit_bytes == LIMIT
    assert caught.value.tag == TAG


def silent_bomb(data: bytes) -> bytes:
    """Return a frame whose header does not say how much comes out."""
    stream = zstd.ZstdCompressor(options={zstd.CompressionParameter.content_size_flag: 0})
    return stream.compress(data) + stream.flush()


@pytest.mark.parametrize("explode", [zstd.compress, silent_bomb], ids=["told", "silent"])
def test_a_bomb_is_refused_without_its_memory(explode: Callable[[bytes], bytes]) -> None:
    bomb = explode(bytes(100_000_000))
    assert len(bomb) < 50_000
    tracemalloc.start()
    try:
        with pytest.raises(SizeLimitError):
            layer().decompress(bomb, tag=TAG)
        assert tracemalloc.get_traced_memory()[1] < 10 * LIMIT
    finally:
        tracemalloc.stop()


def test_a_size_in_the_header_is_believed_before_memory_is_taken() -> None:
    bomb, limit = zstd.compress(b"\0" * 60_000_000), 50_000_000
    tracemalloc.start()
    try:
        with pytest.raises(SizeLimitError):
            layer(limit=limit).decompress(bomb, tag=TAG)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_a_second_frame_cannot_carry_the_bomb() -> None:
    with pytest.raises(PayloadError):
        layer().decompress(zstd.compress(b"a") + zstd.compress(b"\0" * 10_000_000), tag=TAG)


@pytest.mark.parametrize("cut", [1, 5, 10, 25])
def test_a_truncated_frame_is_refused(cut: int) -> None:
    with pytest.raises(PayloadError):
        layer().decompress(packed(os.urandom(20) * 50)[:-cut], tag=TAG)


@pytest.mark.parametrize("data", [b"", b"x", b"not zstd at all, really", b"\x28\xb5\x2f\xfd"])
def test_compressed_garbage_is_refused(data: bytes) -> None:
    with pytest.raises(PayloadError):
        layer().decompress(data, tag=TAG)


def test_bytes_after_the_end_are_refused() -> None:
    with pytest.raises(PayloadError):
        layer().decompress(packed(b"a" * 1000) + b"\0", tag=TAG)


@given(st.integers(0, 10_000), st.integers(0, 7))
def test_a_flipped_bit_never_yields_other_bytes(position: int, bit: int) -> None:
    data = bytes(range(256)) * 4 + b"the same words again and again " * 20
    blob = bytearray(packed(data))
    blob[position % len(blob)] ^= 1 << bit
    with contextlib.suppress(PayloadError, SizeLimitError):
        assert layer().decompress(bytes(blob), tag=TAG) == data


def test_a_frame_of_another_writer_need_not_say_its_size() -> None:
    stream = zstd.ZstdCompressor()
    frame = stream.compress(b"x" * 5000) + stream.flush()
    assert layer().decompress(frame, tag=TAG) == b"x" * 5000


def test_threads_do_not_share_a_compressor() -> None:
    shared = layer()

    def round_trips(seed: int) -> bool:
        for i in range(200):
            data = f"{seed} {i} ".encode() * (50 + i)
            result = shared.compress(data)
            if result is None or shared.decompress(result, tag=TAG) != data:
                return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(round_trips, range(8)))
