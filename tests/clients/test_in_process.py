"""Readers in the graph's own process: nothing is worse for a wrapped graph, a retry shown once."""

from __future__ import annotations

import pytest

from tests.clients.graphs import ZOO
from tests.clients.in_process import IN_PROCESS, play_in_process
from tests.clients.play import Cell, told

# LangServe and `LangGraphAgent` read schemas by methods that LangGraph 1.0 has renamed.
pytestmark = pytest.mark.filterwarnings("ignore::langgraph.warnings.LangGraphDeprecatedSinceV10")

QUICK = {"chat", "tools", "subgraph", "three_ok", "retry", "retry_whole"}
REPEATED_BY_PLAIN = ("retry", "retry_whole")
REPETITIONS = ("text twice", "garbled")
"""How a retry looks: as another bubble, or in the one that is there."""


@pytest.mark.slow
async def test_a_retry_is_shown_once_and_nothing_is_worse() -> None:
    found = await play_in_process([animal for animal in ZOO if animal.name in QUICK], again=2)
    assert told(found) == {}
    assert all(not verdict.faults["run failed"] for verdict in found.values())
    for reader in IN_PROCESS:
        for name in REPEATED_BY_PLAIN:
            plain, once = (found[Cell(name, reader, wrapped)].faults for wrapped in (False, True))
            assert sum(plain[fault] for fault in REPETITIONS) > 0, (reader, name)
            assert sum(once[fault] for fault in REPETITIONS) == 0, (reader, name)


@pytest.mark.product
async def test_no_graph_of_the_zoo_is_worse_for_any_of_them() -> None:
    found = await play_in_process(ZOO, again=2)
    assert len(found) == 2 * len(ZOO) * len(IN_PROCESS)
    assert told(found) == {}
