"""The picture of the README shows what the commands print."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from bench.first_look import PICTURE, printed


def shown() -> list[str]:
    """The lines of the picture."""
    rows: dict[str, str] = {}
    for at, text in re.findall(r'<text [^>]*y="([\d.]+)"[^>]*>([^<]*)</text>', PICTURE.read_text()):
        rows[at] = rows.get(at, "") + html.unescape(text).replace("\xa0", " ").rstrip()
    return [*rows.values()]


def words(lines: list[str]) -> set[str]:
    """Titles, prompts and findings; without numbers, which each database has others of."""
    told = [line for line in lines if not line.startswith(" ") or "threads: " in line]
    return {re.sub(r"[\d,.]+", "1", line) for line in told if " read" not in line}


@pytest.mark.slow
def test_the_picture_of_the_readme_shows_what_the_commands_print(tmp_path: Path) -> None:
    lines = words(printed(tmp_path, 12))
    assert "What a rule would free" in lines
    assert "  1 threads: the thread ends without a word: `approve` was next" in lines
    missing = {line for line in lines if not any(line[:40] in each for each in words(shown()))}
    assert missing == set()
