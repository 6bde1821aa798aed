"""`python -m tests.proof [page …]` builds the pages behind the figures of docs/proof.md.

They land in `build/proof`, which is not committed. All of them take an hour or two; a name builds
one page alone.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parents[1] / "build" / "proof"

COMMANDS: Final = {
    "exactly-once": "tests.corpus.report",
    "sources": "tests.integration_tests.remote.report",
    "cuts": "tests.integration_tests.cuts_report",
    "clients": "tests.clients.report",
    "fidelity": "tests.unit_tests.serde.fidelity.fidelity_report",
    "benchmarks": "bench all",
}
"""Each page, and what writes it: `python -m …`."""


def place(page: str) -> Path:
    """Return the file of a page; its folder is made."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    return FOLDER / f"{page}.md"


def row(*cells: object) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def table(
    heads: Sequence[str], rows: Iterable[Sequence[object]], *, rest: str = "--:"
) -> Iterator[str]:
    """Yield the lines of a table; `rest` aligns all columns but the first: numbers, or `---`."""
    yield row(*heads)
    yield f"|---|{f'{rest}|' * (len(heads) - 1)}"
    yield from (row(*cells) for cells in rows)


def main() -> None:
    """Build the pages that are named, or all."""
    asked = sys.argv[1:] or [*COMMANDS]
    if unknown := [page for page in asked if page not in COMMANDS]:
        sys.exit(f"no page {', '.join(unknown)}; there are {', '.join(COMMANDS)}")
    for page in asked:
        sys.stdout.write(f"{place(page)}\n")
        sys.stdout.flush()
        subprocess.run([sys.executable, "-m", *COMMANDS[page].split()], check=True)


if __name__ == "__main__":
    main()
