"""Measure, print, and write to `build/proof/benchmarks.md`: `python -m bench [part ...]`.

Each part is a section of the file, replaced when the part has been measured; the others stay.
Without arguments those that `make bench` measures, which need no server; `all` names each part.
"""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Final

from bench import (
    events,
    growth,
    imports,
    large_values,
    load,
    operations,
    reloads,
    remote,
    serde,
    short_threads,
    storage,
    stream,
    wire,
)
from tests.proof import place

PARTS: Final[dict[str, Callable[[], Iterator[str]]]] = {
    "stream": stream.report,
    "serde": serde.report,
    "events": events.report,
    "imports": imports.report,
    "growth": growth.report,
    "wire": wire.report,
    "remote": remote.report,
    "storage": storage.report,
    "short": short_threads.report,
    "large": large_values.report,
    "load": load.report,
    "reloads": reloads.report,
    "operations": operations.report,
}
"""In the order of the file. The first line of each is its heading."""

QUICK: Final = ("stream", "serde", "events", "imports")
PACKAGES: Final = ("langgraph", "langgraph-checkpoint", "langchain-core", "ormsgpack")


def main() -> None:
    """Measure and write."""
    asked = [*PARTS] if sys.argv[1:] == ["all"] else sys.argv[1:] or QUICK
    if unknown := [name for name in asked if name not in PARTS]:
        sys.exit(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    results = place("benchmarks")
    sections = _sections(results.read_text(encoding="utf-8")) if results.exists() else {}
    for name in asked:
        lines = []
        for line in PARTS[name]():
            lines.append(line)
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
        sections[name] = f"<!-- {name}: {_machine()} -->\n" + "\n".join(lines).strip() + "\n"
        results.write_text(_written(sections), encoding="utf-8")


def _sections(text: str) -> dict[str, str]:
    """The sections of an earlier report, by the name that stands in the comment above each."""
    pieces = re.split(r"^(?=<!-- \w+: )", text, flags=re.MULTILINE)[1:]
    return {piece[len("<!-- ") : piece.index(":")]: piece.strip() + "\n" for piece in pieces}


def _machine() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return f"Python {platform.python_version()}, {packages}"


def _written(sections: dict[str, str]) -> str:
    head = (
        "# Results of `make bench`\n\n"
        "Times are of the machine; ratios, of paired rounds in one run, carry further. What was\n"
        "installed stands in a comment above each section.\n"
    )
    return "\n".join([head, *(sections[name] for name in PARTS if name in sections)])


if __name__ == "__main__":
    main()
