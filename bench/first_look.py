"""What `survey` and `rehearse` print on a database of stock threads: the picture of the README.

    python -m bench.first_look

plays the threads of an agent that asks before it refunds, with LangGraph's own saver, renames the
node that asks, and writes what the two commands print to `docs/img/first-look.svg`.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from tests.stock_threads import play, stock

ROOT: Final = Path(__file__).parents[1]
PICTURE: Final = ROOT / "docs" / "img" / "first-look.svg"
COLUMNS: Final = 80
DATABASE: Final = "threads.sqlite"
THREADS: Final = 250
_LEFT_OUT: Final = ("By kind of value", "Growth by week", "Largest threads")
"""Parts of the report that the picture has no room for."""

AGENT: Final = '''\
"""A shop's agent: it looks things up, and asks a human before it refunds."""

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

from tests.stock_threads import State, agent, text


def approve(state):
    return {"messages": [HumanMessage(interrupt("Refund?"))]}


def refund(state):
    return {"messages": [AIMessage(text())]}


builder = StateGraph(State).add_node("research", agent().compile())
builder = builder.add_node("approve", approve).add_node("refund", refund)
builder = builder.add_edge(START, "research").add_edge("research", "approve")
graph = builder.add_edge("approve", "refund").compile()
'''


def main() -> None:
    """Draw the picture."""
    with tempfile.TemporaryDirectory() as folder:
        lines = printed(Path(folder), THREADS)
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    for line in lines:
        console.print(Text(line, style=_style(line)), soft_wrap=True)
    # The fonts that the format names are on a server that no reader of a README should ask.
    form = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    form = form.replace("Fira Code, monospace", "ui-monospace, Menlo, Consolas, monospace")
    console.save_svg(str(PICTURE), title="before you adopt", code_format=form, unique_id="look")


def printed(folder: Path, threads: int) -> list[str]:
    """What the commands print, each behind its prompt.

    Args:
        folder: Where the database and the graph are made.
        threads: How many threads are played.
    """
    _made(folder, threads)
    (folder / "agent.py").write_text(AGENT.replace('"approve"', '"confirm"'))
    survey = ["survey", "--database", DATABASE]
    rehearse = ["rehearse", "--database", DATABASE, "--graph", "./agent.py:graph"]
    return [*_told(folder, survey), "", *_told(folder, rehearse)]


def _made(folder: Path, threads: int) -> None:
    """Play the threads. One in six waits for an answer."""
    deployed: dict[str, Any] = {}
    exec(AGENT, deployed)  # noqa: S102  # our own text, which a file holds next
    with stock(str(folder / DATABASE)) as saver:
        graph = deployed["builder"].compile(checkpointer=saver)
        for number in range(threads):
            thread_id, images = f"customer-{number:04}", number % 5 == 0
            waits = number % 6 == 0
            play(graph, thread_id, longest=24, has_images=images, waits=waits)


def _told(folder: Path, arguments: list[str]) -> Iterator[str]:
    yield f"$ langgraph-once {' '.join(arguments)}"
    env = {name: value for name, value in os.environ.items() if not name.startswith("ONCE_")}
    env = {**env, "PYTHONPATH": str(ROOT), "COLUMNS": str(COLUMNS)}
    command = [sys.executable, "-m", "langgraph_once", *arguments]
    run = subprocess.run(  # noqa: S603  # our own interpreter
        command, cwd=folder, env=env, stdout=subprocess.PIPE, text=True, check=False
    )
    parts = run.stdout.rstrip("\n").split("\n\n")
    yield from "\n\n".join(_shortened(parts)).splitlines()


def _shortened(parts: list[str]) -> Iterator[str]:
    """The parts of a report, with a mark for those left out."""
    for before, part in zip(["", *parts], parts, strict=False):
        if not part.startswith(_LEFT_OUT):
            yield part
        elif not before.startswith(_LEFT_OUT):
            yield "…"


def _style(line: str) -> str:
    if line.startswith("$"):
        return "bold green"
    return "" if line.startswith(" ") else "bold"


if __name__ == "__main__":
    main()
