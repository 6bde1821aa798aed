"""What our imports add to those of an agent, in processes of their own."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from typing import Final

ROUNDS: Final = 9
UPSTREAM: Final = (
    "import langgraph.graph, langgraph.pregel, langgraph.prebuilt, langgraph.checkpoint.memory, "
    "langchain_core.messages, langgraph_sdk"
)
OURS: Final = {
    "`langgraph_once`": "import langgraph_once",
    "`OnceSerializer`": "from langgraph_once import OnceSerializer",
    "`langgraph_once.checkpoint`": "import langgraph_once.checkpoint",
    "`langgraph_once.events`": "import langgraph_once.events",
    "`OnceRemoteGraph`": "from langgraph_once import OnceRemoteGraph",
}
TIMED: Final = """
from time import process_time
start = process_time()
{upstream}
between = process_time()
{ours}
print(between - start, process_time() - between)
"""


def report() -> Iterator[str]:
    """The lines of the report, as Markdown."""
    yield "## Imports"
    yield ""
    yield f"Time of the processor in a new process, beside an agent's own imports; {ROUNDS} rounds."
    yield "Each row has what the first has: `once`, `dedup` and all settings."
    yield ""
    yield "| what | the agent's imports ms | added ms, median | least | added |"
    yield "|---|---:|---:|---:|---:|"
    for ours in OURS.values():
        _seconds(ours)  # which leaves on the disk what Python compiled
    rounds = [{what: _seconds(ours) for what, ours in OURS.items()} for _ in range(ROUNDS)]
    for what in OURS:
        upstream, added = zip(*(each[what] for each in rounds), strict=True)
        ratio = statistics.median(each[what][1] / each[what][0] for each in rounds)
        yield (
            f"| {what} | {statistics.median(upstream) * 1e3:.0f} "
            f"| {statistics.median(added) * 1e3:.0f} | {min(added) * 1e3:.0f} | {ratio:+.0%} |"
        )


def _seconds(ours: str) -> tuple[float, float]:
    """The seconds of upstream's imports, and of ours after these."""
    environ = {name: it for name, it in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    script = TIMED.format(upstream=UPSTREAM, ours=ours)
    done = subprocess.run(  # noqa: S603  # our own text
        [sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=True
    )
    upstream, added = map(float, done.stdout.split())
    return upstream, added
