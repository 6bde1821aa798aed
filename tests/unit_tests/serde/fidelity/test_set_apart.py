"""Which parts of a value become entries of the table: those that stand too deep."""

from __future__ import annotations

from typing import Any

import pytest

from langgraph_once.serde.codecs.once1 import Registry
from langgraph_once.serde.codecs.once1.format.layout import MAX_LEVELS, MAX_OBJECTS
from langgraph_once.serde.codecs.once1.format.scan import split
from langgraph_once.serde.codecs.once1.write.encoder import encode_slow


def entries(levels: int, kind: type) -> int:
    value: Any = 1
    for _ in range(levels):
        value = kind((value,))
    return len(split(encode_slow(value, Registry())))


@pytest.mark.parametrize(("kind", "most"), [(list, MAX_LEVELS), (tuple, MAX_OBJECTS)])
def test_as_many_levels_as_there_may_be_stand_in_one_entry(kind: type, most: int) -> None:
    assert [entries(levels, kind) for levels in (1, most // 2 + 1, most)] == [1, 1, 1]
    assert [entries(levels, kind) for levels in (most + 1, 2 * most)] == [2, 2]
    assert entries(2 * most + 1, kind) == 3
