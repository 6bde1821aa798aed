"""Each sample on a real server: what goes wrong with LangGraph alone, and nothing here."""

from __future__ import annotations

import pytest
from langgraph_sdk.client import SyncLangGraphClient

from demo.samples import SAMPLES, read_once, read_stock

STOCK = {
    "research": (3, 0, 0),
    "agent": (1, 1, 1),
    "swarm": (0, 2, 0),
    "tools": (2, 1, 1),
}
"""Of a stock client on the plain graph: said again, never, and not taken back."""


@pytest.mark.parametrize("name", STOCK)
def test_a_stock_reader_has_something_else(client: SyncLangGraphClient, name: str) -> None:
    verdict = read_stock(name, client).verdict()
    assert verdict.counts == STOCK[name]


@pytest.mark.parametrize("name", SAMPLES)
def test_our_reader_has_each_thing_once(client: SyncLangGraphClient, name: str) -> None:
    verdict = read_once(name, client).verdict()
    assert verdict == ([], [], [])
