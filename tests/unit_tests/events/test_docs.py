"""`docs/events.md`: its examples run, and print what it says that they print."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from langgraph_once.events import __all__ as names
from tests.unit_tests.events.team import QUESTION, team

PAGE = Path(__file__).parents[3] / "docs" / "events.md"
BLOCKS = re.compile(r"```python\n(.*?)```\n(?:```text\n(.*?)```)?", re.DOTALL)


def test_the_examples_print_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    text = PAGE.read_text()
    blocks = BLOCKS.findall(text)
    assert len(blocks) == text.count("```python")
    scope: dict[str, Any] = {"question": QUESTION}
    for code, printed in blocks:
        scope["graph"] = team()
        exec(compile(code, str(PAGE), "exec"), scope)
        assert capsys.readouterr().out.rstrip() == printed.rstrip(), code


def test_the_page_names_every_event() -> None:
    text = PAGE.read_text()
    events = [name for name in names if name.endswith("Event") and name != "BaseEvent"]
    assert [name for name in events if f"`{name}`" not in text] == []
