"""docs/fidelity.md says what the table says."""

from __future__ import annotations

from tests.unit_tests.serde.fidelity.fidelity_report import PATH, table_lines
from tests.unit_tests.serde.fidelity.table import REFUSED, ROWS

COMMAND = "python -m tests.unit_tests.serde.fidelity.fidelity_report > docs/fidelity.md"


def test_the_file_has_every_row_and_what_our_codec_does() -> None:
    expected = [(row.id, "raises" if row.id in REFUSED else "same") for row in ROWS]
    assert table_lines(PATH.read_text()) == expected, COMMAND


def test_the_counts_at_the_top_are_those_of_the_rows() -> None:
    same = len(ROWS) - len(REFUSED)
    assert f"| once2 | {same} | 0 | 0 | 0 | {len(REFUSED)} |" in PATH.read_text(), COMMAND
