"""The parts of the format are msgpack, however many there are."""

from __future__ import annotations

import ormsgpack
import pytest

from langgraph_once.serde.codecs.once1.format.layout import array, unpack_one


@pytest.mark.parametrize("count", [0, 1, 15, 16, 65_535, 65_536, 131_071])
def test_an_array_of_any_length_is_an_array(count: int) -> None:
    assert ormsgpack.unpackb(array([b"\x07"] * count)) == [7] * count


LONG = "é" * 300_000
LARGE = [
    LONG,
    LONG.encode(),
    [LONG, *range(8)],
    {"a": {"b": [LONG, 1.5, None]}, "c": 2**40},
    [ormsgpack.Ext(5, LONG.encode()), {"a": b"", "b": "b" * 300}],
    ["a text", LONG] * 40,
    list(range(300_000)),
]


def pair(code: int, content: bytes) -> tuple[int, bytes]:
    return code, content


@pytest.mark.parametrize("value", LARGE, ids=range(len(LARGE)))
def test_of_a_large_value_not_a_byte_may_lack_or_be_too_much(value: object) -> None:
    data = ormsgpack.packb(value, option=ormsgpack.OPT_NON_STR_KEYS)
    assert unpack_one(data, pair) == ormsgpack.unpackb(data, ext_hook=pair)
    for wrong in (data[:-1], data + b"\x00", data + data, data + data[:1], data * 3):
        with pytest.raises(ValueError, match=r"."):
            unpack_one(wrong, pair)
