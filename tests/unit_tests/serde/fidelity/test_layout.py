"""The parts of the format are msgpack, however many there are."""

from __future__ import annotations

from typing import Any

import ormsgpack
import pytest

from langgraph_once.serde.codecs.once1.format.layout import array, pack
from langgraph_once.serde.codecs.once1.format.object_forms import kinds_of


@pytest.mark.parametrize("count", [0, 1, 15, 16, 65_535, 65_536, 131_071])
def test_an_array_of_any_length_is_an_array(count: int) -> None:
    assert ormsgpack.unpackb(array([b"\x07"] * count)) == [7] * count


@pytest.mark.parametrize("kinds", ["no bytes", [], None, pack(["a:B"] * 3000), b"\xc0"])
def test_what_is_no_list_of_kinds_is_refused(kinds: Any) -> None:
    with pytest.raises(ValueError, match="kinds"):
        kinds_of(kinds)
