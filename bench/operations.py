"""`survey` and `rehearse` on ten thousand threads that LangGraph's own savers stored.

    python -m bench operations

makes the databases in a temporary folder (`THREADS`, `PLAYED` and `LONGEST` of the environment say
how large), and runs the commands as their user does, each in a process of its own.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from bench.threads import postgres
from tests.integration_tests.survey.stock_threads import copy, fill, stock

__all__ = ["report"]

THREADS: Final = int(os.environ.get("THREADS", "10000"))
PLAYED: Final = int(os.environ.get("PLAYED", "250"))
"""How many threads are really run; the database copies their rows under other ids."""
LONGEST: Final = int(os.environ.get("LONGEST", "40"))
"""The most turns of a thread."""

_ROOT: Final = Path(__file__).parents[1]
_GRAPH: Final = "tests.integration_tests.survey.stock_threads:asking"
_COMMANDS: Final = {
    "survey": ["survey", "--json"],
    "rehearse": ["rehearse", "--graph", _GRAPH, "--json"],
}


_COMMAND: Final = """\
import atexit, sys
from langgraph_once.cli import main
atexit.register(lambda: sys.stderr.write(open("/proc/self/status").read()))
main()
"""
"""Tells at its end how much memory it took: `getrusage` counts that of who started it, too."""


class _Run(NamedTuple):
    printed: bytes
    seconds: float
    cpu_s: float
    peak_mb: float


def report() -> Iterator[str]:
    """The lines of the report, as Markdown."""
    yield from (
        "## Operations",
        "",
        f"{THREADS:,} threads of LangGraph's own savers: agents with tools, a supervisor with a",
        f"subgraph, questions to a human, images, delta channels. {PLAYED} were played, in at most",
        f"{LONGEST} turns; the others are copies. CPU is of the command alone, not of",
        "PostgreSQL; seconds depend on what else the machine does.",
        "",
        "| database | checkpoints | GB on disk | command | seconds | CPU s | peak MB | it says |",
        "|---|--:|--:|---|--:|--:|--:|---|",
    )
    with tempfile.TemporaryDirectory() as folder:
        yield from _rows("SQLite", str(Path(folder, "threads.sqlite")))
    with postgres() as address:
        yield from _rows("PostgreSQL", address)


def _rows(product: str, database: str) -> Iterator[str]:
    with stock(database) as saver:
        fill(saver, PLAYED, longest=LONGEST)
    copy(database, THREADS // PLAYED)
    size = ""
    for name, command in _COMMANDS.items():
        run = _run([*command, "--database", database])
        found = json.loads(run.printed)
        if name == "survey":
            size = f"{found['checkpoints']:,} | {found['bytes_on_disk'] / 1e9:.1f}"
        yield (
            f"| {product} | {size} | {name} | {run.seconds:.0f} | {run.cpu_s:.0f} | "
            f"{run.peak_mb:.0f} | {_said(found)} |"
        )


def _said(found: dict[str, object]) -> str:
    match found:
        case {"stored_once": {"low": int(low), "high": int(high)}, "bytes": int(size)}:
            left = f"{low / 1e6:,.0f} to {high / 1e6:,.0f} MB"
            return f"of {size / 1e9:.1f} GB of values {left} would be left"
        case {"under_way": int(under_way), "findings": list(findings)}:
            return f"{under_way:,} threads under way, {len(findings)} findings"
    raise ValueError("no report of a command")


def _run(arguments: list[str]) -> _Run:
    env = {name: value for name, value in os.environ.items() if not name.startswith("ONCE_")}
    began, before = time.monotonic(), os.times()
    run = subprocess.run(  # noqa: S603  # our own interpreter
        [sys.executable, "-c", _COMMAND, *arguments],
        cwd=_ROOT,
        env=env,
        capture_output=True,
        check=False,
    )
    seconds, after = time.monotonic() - began, os.times()
    if not run.stdout:
        raise RuntimeError(run.stderr.decode())
    cpu = sum(after[2:4]) - sum(before[2:4])  # of children that have ended
    peak = re.search(rb"VmHWM:\s+(\d+) kB", run.stderr)
    return _Run(run.stdout, seconds, cpu, int(peak[1]) / 1000 if peak else 0)
