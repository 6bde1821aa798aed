"""The examples of the pages run.

Those that need nothing but a graph run as they are printed, each as a program of its own. Those
that read a server do so in `integration_tests`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from langgraph_once.events import __all__ as names_of_events
from tests.docs.snippets import BESIDE_AGENT, ROOT, Program, output, pages, programs, run, snippets

ELSEWHERE = {
    "README.md": "integration_tests/test_guides.py",
    "docs/client.md": "integration_tests/test_guides.py",
    "docs/page.md": "integration_tests/compare/test_compare.py",
    "docs/quick-start.md": "integration_tests/test_quick_start.py",
    "docs/checkpoints.md": "unit_tests/checkpoint/test_page.py",
    "docs/in-process.md": "docs/test_in_process_page.py",
    "docs/values.md": "unit_tests/serde/test_document.py",
}
"""Which tests run the examples of a page that needs more than a graph."""

Scene = Callable[[Path], dict[str, Any]]

SCENES: dict[str, Scene] = {
    "docs/retention.md": lambda folder: {"path": folder / "db.sqlite", "thread_ids": ["a"]},
}
"""The names that a page takes for granted."""

AS_PRINTED = ["docs/events.md", "docs/server.md"]

BOTH_WAYS = "docs/in-process.md"
"""Has examples for an app, which run elsewhere, and such as stand beside `agent.py`."""


def as_printed() -> Iterator[tuple[str, Program]]:
    """The programs of the pages that show what they print, each with a name."""
    for page in AS_PRINTED:
        yield from ((f"{page}-{number}", program) for number, program in enumerate(programs(page)))
    beside_agent = [program for program in programs(BOTH_WAYS) if BESIDE_AGENT in program.text]
    assert len(beside_agent) == 4
    yield from ((f"{BOTH_WAYS}-{number}", program) for number, program in enumerate(beside_agent))


@pytest.mark.parametrize("page", SCENES)
async def test_the_examples_run(page: str, tmp_path: Path) -> None:
    await run(page, SCENES[page](tmp_path))


@pytest.mark.parametrize(
    "program",
    [pytest.param(program, id=name) for name, program in as_printed()],
)
def test_each_example_runs_as_printed_and_prints_what_the_page_says(
    program: Program, tmp_path: Path
) -> None:
    printed = output(program.text, tmp_path).replace("\r\n", "\n")
    assert printed.strip() == (program.printed or "").strip()


def test_each_page_with_examples_is_run() -> None:
    shown = {page for page in pages() if any(snippets(page, "python"))}
    assert shown == SCENES.keys() | ELSEWHERE.keys() | {*AS_PRINTED}


def test_the_page_of_events_names_every_event() -> None:
    text = (ROOT / "docs/events.md").read_text()
    events = [name for name in names_of_events if name.endswith("Event") and name != "BaseEvent"]
    assert [name for name in events if f"`{name}`" not in text] == []
