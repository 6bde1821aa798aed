"""Every row of the table comes back the same, or is no worse than with LangGraph."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from tests.unit_tests.serde.fidelity.fidelity_report import Outcome, outcome
from tests.unit_tests.serde.fidelity.sameness import difference
from tests.unit_tests.serde.fidelity.table import DROPPED, ROWS, Row, once2

SERDE = once2()
KEPT = [row for row in ROWS if row.id not in DROPPED]


def back(value: Any) -> Any:
    return SERDE.loads_typed(SERDE.dumps_typed(value))


def test_the_table_is_large_and_names_each_row_once() -> None:
    ids = [row.id for row in ROWS]
    assert len(ids) >= 300
    assert len(set(ids)) == len(ids)
    assert set(ids) >= DROPPED


def test_each_row_comes_back_the_same(subtests: pytest.Subtests) -> None:
    for row in KEPT:
        with subtests.test(row.id):
            check(row)


def check(row: Row) -> None:
    """It is written alike after a reload, too; and inside a list in a dict in a tuple."""
    tag, data = SERDE.dumps_typed(row.value)
    read = SERDE.loads_typed((tag, data))
    assert difference(row.value, read) is None
    again = SERDE.dumps_typed(read)
    assert difference(SERDE.loads_typed(again), row.value) is None
    assert len(again[1]) == len(data)
    nested = ({"first": [row.value, 1], (2,): row.value},)
    assert difference(nested, back(nested)) is None


def test_all_rows_come_back_the_same_in_one_value() -> None:
    everything = {row.id: row.value for row in KEPT}
    assert difference(everything, back(everything)) is None


RANKS = {rank: at for at, rank in enumerate(get_args(Outcome))}


def test_each_other_row_is_no_worse_than_with_langgraph(subtests: pytest.Subtests) -> None:
    stock = JsonPlusSerializer()
    for row in (row for row in ROWS if row.id in DROPPED):
        with subtests.test(row.id):
            assert RANKS[outcome(SERDE, row.value)] <= RANKS[outcome(stock, row.value)]
