"""Arrays in LangGraph's rows are read without a copy, if they are what LangGraph writes."""

from __future__ import annotations

from typing import Any

import numpy as np
import ormsgpack
import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_once.serde.codecs.langgraph.read.constructors import array_parts


def content_of(array: Any) -> bytes:
    """What the extension of an array holds."""
    found: list[bytes] = []
    _, data = JsonPlusSerializer().dumps_typed(array)
    ormsgpack.unpackb(data, ext_hook=lambda _, content: found.append(content))
    return found[0]


@pytest.mark.parametrize("size", [0, 3, 300, 70_000])
def test_the_buffer_is_a_view(size: int) -> None:
    array = np.arange(size, dtype="u1")
    parts = array_parts(content_of(array))
    assert parts is not None
    *about, buffer = parts
    assert about == ["|u1", [size], "C"]
    assert isinstance(buffer, memoryview)
    assert bytes(buffer) == array.tobytes()


def test_what_is_not_such_an_array_to_the_last_byte_is_left() -> None:
    whole = content_of(np.arange(300))
    texts = ormsgpack.packb(["|u1", [1], "C", "x"])
    for other in (whole[:-1], whole + b"x", b"\x95" + whole[1:], whole[:5], b"", texts):
        assert array_parts(other) is None
