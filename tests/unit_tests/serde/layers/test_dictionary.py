from __future__ import annotations

import hashlib
import random
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from typing import Any

import pytest
import zstandard

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import PayloadError, SizeLimitError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.compression import _DICTIONARIES, Compression, _content
from tests.data.dictionary.states import Application, gemini, states

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

DIGESTS = {
    1_654_942_875: "901c2b63322e22df77d15d4b6222f0798e973178272b082e1038c103a318524f",
}
"""Of every dictionary that was ever released: stored values cannot be read without it."""

UNSEEN = Application(
    sentences=[
        "The ferry leaves the island at seven, and nobody waits for the baker's boy.",
        "Rain had come in under the door and taken the last of the chalk with it.",
        "My grandmother kept three clocks, none of which agreed about the afternoon.",
        "What the surveyor measured twice he wrote down once, in very small figures.",
    ],
    tools={"ferry_times": ("harbour", "weekday"), "book_berth": ("length", "nights")},
    nodes=("harbour", "weather_desk", "purser", "lookout"),
    metadata=(gemini,),
)
CODEC: dict[str, Any] = {"compatible": True}
BLOBS = [
    blob
    for state in states(UNSEEN, 300, seed=5)
    if 256 <= len(blob := OnceSerializer(SerdeConfig(**CODEC)).dumps_typed(state)[1]) < 2048
]
TAG = "msgpack+zstd"


def layer() -> Compression:
    return Compression(max_decoded_bytes=100_000)


def packed(data: bytes) -> bytes:
    result = layer().compress(data)
    assert result is not None
    return result


def test_small_values_take_a_quarter_less() -> None:
    assert len(BLOBS) > 100
    without = zstandard.ZstdCompressor(1, write_checksum=True)
    small, plain = (sum(map(len, map(way, BLOBS))) for way in (packed, without.compress))
    assert small < 0.75 * plain


def test_what_was_written_with_it_comes_back_and_names_it() -> None:
    for blob in BLOBS:
        small = packed(blob)
        assert zstd.get_frame_info(small).dictionary_id == _DICTIONARIES[-1]
        assert layer().decompress(small, tag=TAG) == blob


def test_larger_values_need_no_dictionary_to_be_read() -> None:
    small = packed(data := BLOBS[0] * 40)
    assert zstd.get_frame_info(small).dictionary_id == 0
    assert zstd.decompress(small) == data


def test_every_dictionary_that_was_released_is_here_unchanged() -> None:
    assert set(_DICTIONARIES) == DIGESTS.keys()
    folder = resources.files("langgraph_once.serde") / "dictionaries"
    assert len(list(folder.iterdir())) == len(DIGESTS)
    for dictionary_id, digest in DIGESTS.items():
        dictionary = zstd.ZstdDict(_content(dictionary_id))
        assert dictionary.dict_id == dictionary_id
        assert hashlib.sha256(dictionary.dict_content).hexdigest() == digest


def test_a_dictionary_of_another_version_is_named() -> None:
    foreign = zstd.train_dict([random.Random(i).randbytes(40) * 9 for i in range(300)], 2000)
    blob = zstd.compress(BLOBS[0], zstd_dict=foreign)
    with pytest.raises(PayloadError, match=f"dictionary {foreign.dict_id};") as caught:
        layer().decompress(blob, tag=TAG)
    assert caught.value.tag == TAG


def test_a_flipped_bit_never_yields_other_bytes() -> None:
    blob = packed(BLOBS[0])
    for at in range(len(blob) * 8):
        changed = bytearray(blob)
        changed[at // 8] ^= 1 << at % 8
        try:
            assert layer().decompress(bytes(changed), tag=TAG) == BLOBS[0]
        except (PayloadError, SizeLimitError):
            continue


def test_a_bomb_with_a_dictionary_is_refused_without_its_memory() -> None:
    stream = zstd.ZstdCompressor(zstd_dict=zstd.ZstdDict(_content(_DICTIONARIES[-1])))
    bomb = stream.compress(bytes(50_000_000)) + stream.flush()
    tracemalloc.start()
    try:
        with pytest.raises(SizeLimitError):
            layer().decompress(bomb, tag=TAG)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_threads_share_the_dictionary() -> None:
    shared = layer()

    def round_trips(seed: int) -> bool:
        for blob in BLOBS[seed::8] * 20:
            small = shared.compress(blob)
            if small is None or shared.decompress(small, tag=TAG) != blob:
                return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(round_trips, range(8)))
