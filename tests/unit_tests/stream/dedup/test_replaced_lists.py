"""A list that takes the place of another, where states come as what is new in them."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, RemoveMessage
from langgraph.types import Overwrite

from langgraph_once import DedupConfig, Deduplicator
from langgraph_once.stream import Part

A, B, C = (AIMessage(text, id=text) for text in "abc")


@pytest.mark.parametrize(
    "written",
    [
        Overwrite,
        lambda kept: {"__overwrite__": kept},
        lambda kept: {"type": "__overwrite__", "value": kept},
    ],
)
def test_a_replaced_list_says_what_goes_and_what_is_new(written: Any) -> None:
    dedup = Deduplicator(DedupConfig(state="new_messages"))
    list(dedup.feed(Part((), "values", {"messages": [A, B]})))
    (out,) = dedup.feed(Part((), "updates", {"n": {"messages": written([B, C])}}))
    assert out.data == {"n": {"messages": [RemoveMessage(id="a"), C]}}


def test_a_list_of_other_things_comes_as_it_is() -> None:
    dedup = Deduplicator(DedupConfig(state="new_messages"))
    update = {"n": {"notes": Overwrite([1, 2])}}
    (out,) = dedup.feed(Part((), "updates", update))
    assert out.data == update
