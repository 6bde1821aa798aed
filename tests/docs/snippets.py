"""The examples of a page."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_AWAITS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


class Snippet(NamedTuple):
    """What stands between two fences."""

    language: str
    text: str


def pages() -> list[str]:
    """The README, and all pages of docs/."""
    return ["README.md", *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))]


def snippets(page: str, language: str | None = None) -> Iterator[Snippet]:
    """Those of a page, in order; of one language, or all."""
    for found in _FENCE.findall((ROOT / page).read_text()):
        if language in (None, found[0]):
            yield Snippet(*found)


async def run(
    page: str, scope: Mapping[str, Any], *, replaced: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Run the Python of a page, one example after the other, as a reader would.

    Args:
        page: Its path.
        scope: The names that the page takes for granted.
        replaced: Texts of the page, and what they are here.

    Returns:
        The names in the end.
    """
    names: dict[str, Any] = dict(scope)
    for snippet in snippets(page, "python"):
        text = snippet.text
        for there, here in (replaced or {}).items():
            text = text.replace(there, here)
        done = eval(compile(text, page, "exec", flags=_AWAITS), names)
        if inspect.iscoroutine(done):
            await done
    return names
