"""Run the benchmarks, print the report, and write it to `bench/RESULTS.md`.

`bench.wire` takes five minutes and is run on its own: `python -m bench.wire`.
"""

from __future__ import annotations

import platform
import sys
from importlib.metadata import version
from pathlib import Path

from bench import events, serde, stream

PACKAGES = ("langgraph", "langgraph-checkpoint", "langchain-core", "ormsgpack")


def main() -> None:
    """Measure and write."""
    found = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    lines = [
        "# Results of `make bench`",
        "",
        f"Python {platform.python_version()}, {found}.",
        "Medians of paired rounds in one run; times are of the machine, ratios carry further.",
        "",
    ]
    for line in (*serde.report(), "", *stream.report(), "", *events.report()):
        lines.append(line)
        sys.stdout.write(f"{line}\n")
    Path(__file__).with_name("RESULTS.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
