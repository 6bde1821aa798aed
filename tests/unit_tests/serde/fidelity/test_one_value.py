"""The value of a blob without a table."""

from __future__ import annotations

import ormsgpack
import pytest

from langgraph_once.serde.codecs.once1.format.layout import unpack_one

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
