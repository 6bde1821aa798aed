"""The examples of the pages run. Those that read a server do so in `integration_tests`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.docs.problem import ANSWER, QUESTION, retried
from tests.docs.snippets import pages, run, snippets

ELSEWHERE = {
    "README.md": "integration_tests/test_guides.py",
    "docs/client.md": "integration_tests/test_guides.py",
    "docs/page.md": "integration_tests/inspect/test_compare.py",
    "docs/quick-start.md": "integration_tests/test_quick_start.py",
    "docs/checkpoints.md": "unit_tests/checkpoint/test_page.py",
    "docs/in-process.md": "docs/test_in_process_page.py",
    "docs/events.md": "unit_tests/events/test_docs.py",
    "docs/serializer.md": "unit_tests/serde/test_document.py",
}
"""Which tests run the examples of a page that needs more than a graph."""

Scene = Callable[[Path], dict[str, Any]]


def graph(_: Path) -> dict[str, Any]:
    return {"graph": retried(), "question": QUESTION}


SCENES: dict[str, Scene] = {
    "docs/library.md": graph,
    "docs/server.md": lambda _: {},
    "docs/types.md": lambda _: {"__name__": __name__},
    "docs/operations.md": lambda folder: {"path": folder / "db.sqlite", "thread_ids": ["a"]},
}
"""The names that a page takes for granted."""


@pytest.mark.parametrize("page", SCENES)
async def test_they_run(page: str, tmp_path: Path) -> None:
    await run(page, SCENES[page](tmp_path))


def test_each_page_with_examples_is_run() -> None:
    shown = {page for page in pages() if any(snippets(page, "python"))}
    assert shown == SCENES.keys() | ELSEWHERE.keys()


async def test_the_fold_of_the_page_is_the_state(tmp_path: Path) -> None:
    names = await run("docs/library.md", graph(tmp_path))
    assert list(names["shown"].values()) == [ANSWER]
