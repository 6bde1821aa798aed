"""Buffers in a table are written by the byte, whatever their items are."""

from __future__ import annotations

import pytest

from langgraph_once.serde.codecs.once1.format.layout import Ext, buffer_entry

BYTES = bytes(range(240))
VIEWS = {
    "plain": memoryview(BYTES),
    "integers": memoryview(BYTES).cast("I"),
    "signed": memoryview(BYTES).cast("b"),
    "grid": memoryview(BYTES).cast("B", [24, 10]),
    "grid of integers": memoryview(BYTES).cast("I", [6, 10]),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_buffer_of_any_items_is_its_bytes(view: memoryview) -> None:
    expected = b"".join(buffer_entry(Ext.MEMORYVIEW, BYTES))
    assert b"".join(buffer_entry(Ext.MEMORYVIEW, view)) == expected


def test_a_part_of_one_is_the_bytes_of_the_part() -> None:
    expected = b"".join(buffer_entry(Ext.BYTEARRAY, BYTES[::2]))
    assert b"".join(buffer_entry(Ext.BYTEARRAY, memoryview(BYTES)[::2])) == expected
