"""The commands for operators, on ten thousand threads that LangGraph's own savers stored.

    python -m bench operations

makes the databases in a temporary folder (`THREADS`, `PLAYED` and `LONGEST` of the environment say
how large), and runs the commands as their user does, one after another, each in a process of its
own. The `survey` before `migrate` predicts what the `survey` after it counts.
"""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench.threads import postgres
from tests.stock_threads import copy, fill, stock

THREADS: Final = int(os.environ.get("THREADS", "10000"))
PLAYED: Final = int(os.environ.get("PLAYED", "250"))
"""How many threads are really run; the database copies their rows under other ids."""
LONGEST: Final = int(os.environ.get("LONGEST", "40"))
"""The most turns of a thread."""

_ROOT: Final = Path(__file__).parents[1]
_GRAPH: Final = "tests.stock_threads:asking"
_PRUNE: Final = ["prune", "--older-than", "365d", "--keep-last", "20", "--status", "idle", "--json"]
_FIRST_KEY: Final = {"first": base64.b64encode(bytes(32)).decode()}
_BOTH_KEYS: Final = {**_FIRST_KEY, "second": base64.b64encode(bytes(range(32))).decode()}


class _Step(NamedTuple):
    command: list[str]
    keys: dict[str, str]


_STEPS: Final = (
    _Step(["survey", "--json"], {}),
    _Step(["rehearse", "--graph", _GRAPH, "--json"], {}),
    _Step(["inspect", "--json"], {}),
    _Step([*_PRUNE, "--dry-run"], {}),
    _Step(_PRUNE, {}),
    _Step(["survey", "--json"], _FIRST_KEY),
    _Step(["migrate", "--to", "once2"], _FIRST_KEY),
    _Step(["survey", "--json"], _FIRST_KEY),
    _Step(["rotate", "--json"], _BOTH_KEYS),
)


_COMMAND: Final = """\
import atexit, sys
from langgraph_once.__main__ import main
atexit.register(lambda: sys.stderr.write(open("/proc/self/status").read()))
main()
"""
"""Tells at its end how much memory it took: `getrusage` counts that of who started it, too."""


class _Run(NamedTuple):
    printed: str
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
        "| database | command | seconds | CPU s | peak MB | it says |",
        "|---|---|--:|--:|--:|---|",
    )
    with tempfile.TemporaryDirectory() as folder:
        yield from _rows("SQLite", str(Path(folder, "threads.sqlite")))
    with postgres() as address:
        yield from _rows("PostgreSQL", address)


def _rows(product: str, database: str) -> Iterator[str]:
    with stock(database) as saver:
        fill(saver, PLAYED, longest=LONGEST)
    copy(database, THREADS // PLAYED)
    for command, keys in _STEPS:
        run = _run([*command, "--database", database], keys)
        shown = " ".join(each for each in command if each not in ("--json", "--graph", _GRAPH))
        yield (
            f"| {product} | {shown} | {run.seconds:.0f} | {run.cpu_s:.0f} | {run.peak_mb:.0f} | "
            f"{_said(run.printed)} |"
        )


def _said(printed: str) -> str:
    if not printed.startswith(("{", "[")):
        return printed.splitlines()[0]
    found: Any = json.loads(printed)
    match found:
        case {"stored_once": {"low": low, "high": high}, "bytes": size}:
            return (
                f"{found['checkpoints']:,} checkpoints, {found['bytes_on_disk'] / 1e9:.1f} GB on "
                f"disk; of {size / 1e6:,.0f} MB of values {low / 1e6:,.0f} to {high / 1e6:,.0f} MB "
                "would be left"
            )
        case {"under_way": under_way, "findings": findings}:
            return f"{under_way:,} threads under way, {len(findings)} findings"
        case {"deleted_threads": deleted, "shortened_threads": shortened}:
            freed = found["before"]["bytes"] - found["after"]["bytes"]
            return f"{deleted:,} threads deleted, {shortened:,} shortened: {freed / 1e9:.1f} GB"
        case {"keys": keys}:
            return "; ".join(f"{each['key']}: {_needing(each):,} need it" for each in keys)
        case [*threads]:
            return f"the newest {len(threads)} threads"
    raise ValueError("no report of a command")


def _needing(key: dict[str, Any]) -> int:
    return sum(count for count in key.values() if type(count) is int)


def _run(arguments: list[str], keys: dict[str, str]) -> _Run:
    env = {name: value for name, value in os.environ.items() if not name.startswith("ONCE_")}
    env["ONCE_SERDE__ENCRYPTION_KEYS"] = json.dumps(keys)
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
    return _Run(run.stdout.decode(), seconds, cpu, int(peak[1]) / 1000 if peak else 0)
