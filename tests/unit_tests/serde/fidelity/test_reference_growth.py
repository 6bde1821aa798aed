"""How large a table becomes with a copy of the entry in the place of each reference."""

from __future__ import annotations

import pytest

from langgraph_once.serde.codecs.once1.format.layout import (
    REF_PREFIX,
    Ext,
    buffer_entry,
    entry,
    table,
)
from langgraph_once.serde.codecs.once1.read.reference_growth import may_outgrow

LIMIT = 1_000_000


def outgrows(*entries: bytes) -> bool:
    pieces = [piece for each in entries for piece in entry(each)]
    return may_outgrow(table(pieces), entries, LIMIT)


def refs(index: int, count: int) -> bytes:
    array = b"\xdd" + count.to_bytes(4, "big")
    return array + (REF_PREFIX + index.to_bytes(4, "big")) * count


def buffer(size: int) -> bytes:
    """Bytes that look like references to the entry before."""
    content = (REF_PREFIX + bytes(4)) * (size // (len(REF_PREFIX) + 4))
    return b"".join(map(bytes, buffer_entry(Ext.BYTEARRAY, content)))[5:]


@pytest.mark.parametrize(("count", "expected"), [(50, False), (1_000, True)])
def test_each_reference_counts_as_much_as_its_entry(count: int, expected: bool) -> None:
    text = b"\xda" + (2_000).to_bytes(2, "big") + b"x" * 2_000
    assert outgrows(text, refs(0, count), b"\xc0") is expected
    assert outgrows(text, b"\xc0", refs(0, count)) is expected


@pytest.mark.parametrize(("levels", "expected"), [(5, False), (30, True)])
def test_entries_in_entries_grow_by_each_level(levels: int, expected: bool) -> None:
    assert outgrows(b"\xa1x", *(refs(level, 2) for level in range(levels))) is expected


def test_what_looks_like_references_in_a_large_buffer_is_none() -> None:
    assert not outgrows(b"\xda\x07\xd0" + b"x" * 2_000, buffer(400_000), refs(1, 1))
