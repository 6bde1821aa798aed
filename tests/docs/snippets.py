"""The examples of a page."""

from __future__ import annotations

import ast
import inspect
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.forked import run_python

ROOT = Path(__file__).parents[2]
GOES_ON = "# Goes on with the example above.\n"
BESIDE_AGENT = "from agent import "
_EXAMPLE = re.compile(
    r"^```python\n(.*?)^```$(?:\n+```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE
)
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_AWAITS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


class Snippet(NamedTuple):
    """What stands between two fences."""

    language: str
    text: str


class Program(NamedTuple):
    """An example as a file of its own, and what its page says that it prints, if it does."""

    page: str
    text: str
    printed: str | None


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

    An example that imports `agent.py` is left out: it is a program of its own.

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
        if BESIDE_AGENT in text:
            continue
        for there, here in (replaced or {}).items():
            text = text.replace(there, here)
        done = eval(compile(text, page, "exec", flags=_AWAITS), names)
        if inspect.iscoroutine(done):
            await done
    return names


def programs(page: str) -> Iterator[Program]:
    """The Python examples of a page; one that goes on has those before it in front."""
    so_far, printed_so_far = "", ""
    for text, printed in _EXAMPLE.findall((ROOT / page).read_text()):
        if not text.startswith(GOES_ON):
            so_far = printed_so_far = ""
        so_far += text
        printed_so_far += printed
        yield Program(page, so_far, printed_so_far or None)


def output(program: str, folder: Path) -> str:
    """What a program prints that stands beside `agent.py` and `team.py`, as on a reader's disk."""
    (folder / "agent.py").write_text(next(snippets("docs/quick-start.md", "python")).text)
    shutil.copy(ROOT / "examples" / "team.py", folder)
    done = run_python("-c", program, cwd=folder)
    assert done.returncode == 0, done.stderr + program
    return done.stdout
