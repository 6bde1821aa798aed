"""docs/fidelity.md says what the table says."""

from __future__ import annotations

from tests.unit_tests.serde.fidelity.fidelity_report import PATH, table_lines
from tests.unit_tests.serde.fidelity.table import DROPPED, ROWS

COMMAND = "python -m tests.unit_tests.serde.fidelity.fidelity_report > docs/fidelity.md"


def test_the_file_has_every_row_and_says_of_all_but_the_dropped_that_they_are_the_same() -> None:
    lines = table_lines(PATH.read_text())
    assert [name for name, _ in lines] == [row.id for row in ROWS], COMMAND
    assert {name for name, outcome in lines if outcome != "same"} <= DROPPED, COMMAND


def test_the_counts_at_the_top_are_those_of_the_rows() -> None:
    outcomes = [outcome for _, outcome in table_lines(PATH.read_text())]
    kinds = ("same", "equal", "changed", "lost", "raises")
    counts = " | ".join(str(outcomes.count(kind)) for kind in kinds)
    assert f"| once2 | {counts} |" in PATH.read_text(), COMMAND
