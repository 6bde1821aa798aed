"""What large values trade: bytes for time."""

from __future__ import annotations

import base64
import contextlib
import os
import sys

import pytest
from pydantic import SecretStr

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import EncryptionError, PayloadError
from langgraph_once.serde import OnceSerializer, compression
from langgraph_once.serde.compression import Compression
from langgraph_once.serde.encryption import KeyRing

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MB = 10**6
KEYS = {"k": SecretStr(base64.b64encode(bytes(32)).decode())}


def layer() -> Compression:
    return Compression(max_decoded_bytes=MB)


def prose(size: int) -> bytes:
    """Return text whose words come again and whose sentences do not."""
    stems = ("the", "quick", "brown", "fox", "ran")
    words = [f"{stem}{ending}" for stem in stems for ending in "aeiou "]
    text = " ".join(words[n * n * n % 977 % len(words)] + str(n % 61) for n in range(size // 4))
    return text.encode()[:size]


def packed(layer: Compression, data: bytes) -> bytes:
    made = layer.compress(data)
    assert made is not None
    return made


def test_it_is_level_1_and_above_256_kb_trades_bytes_for_time() -> None:
    for size, is_huge in (
        (300, False),
        (60_000, False),
        (256 * 1024, False),
        (256 * 1024 + 1, True),
    ):
        data = prose(size)
        made, first = packed(layer(), data), zstd.compress(data, level=1)
        assert layer().decompress(made, tag="once2+zstd") == data
        assert (len(made) > 1.1 * len(first)) == is_huge
        assert len(made) < 2.5 * len(first)


def test_the_fastest_step_still_codes_what_does_not_come_again() -> None:
    data = base64.b64encode(os.urandom(400_000))  # 6 bits of each byte say something
    assert 0.74 < len(packed(layer(), data)) / len(data) < 0.78


def test_where_zstd_takes_no_experimental_options_it_compresses_as_large_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = prose(600_000)
    monkeypatch.setattr(compression, "_HUGE_OPTIONS", {987_654: 1})
    made = packed(layer(), data)
    assert len(made) < len(data) / 2
    assert layer().decompress(made, tag="once2+zstd") == data


@pytest.mark.parametrize("size", [300, 60_000, 100_000, 600_000])
def test_what_is_sealed_needs_no_checksum_and_what_is_not_has_one(size: int) -> None:
    text = prose(size).decode()
    bare, sealed = OnceSerializer(), OnceSerializer(SerdeConfig(encryption_keys=KEYS))
    tag, data = bare.dumps_typed(text)
    assert tag == "once2.zstd"
    for at in range(20, len(data), len(data) // 9):
        with contextlib.suppress(PayloadError):  # some bits mean nothing
            flipped = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
            assert bare.loads_typed((tag, flipped)) == text
    row = sealed.dumps_typed(text)
    opened = KeyRing(KEYS).decrypt(row[1], tag=row[0])
    assert len(opened) == len(data) - 4
    assert sealed.loads_typed(row) == text
    with pytest.raises(EncryptionError):
        sealed.loads_typed((row[0], row[1][:-30] + bytes([row[1][-30] ^ 1]) + row[1][-29:]))
