"""The parts of the format are msgpack, however many there are."""

from __future__ import annotations

import ormsgpack
import pytest

from langgraph_once.serde.codecs.once1.format.layout import array


@pytest.mark.parametrize("count", [0, 1, 15, 16, 65_535, 65_536, 131_071])
def test_an_array_of_any_length_is_an_array(count: int) -> None:
    assert ormsgpack.unpackb(array([b"\x07"] * count)) == [7] * count
