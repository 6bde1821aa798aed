"""What docs/in-process.md shows of a graph passes a strict type checker, as users run one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import langgraph_once

PAGE = Path(__file__).parents[2] / "docs" / "in-process.md"
PACKAGES = str(Path(langgraph_once.__file__).parents[1])

GIVEN = """\
from langgraph.graph import START, MessagesState, StateGraph

graph = StateGraph(MessagesState).add_node("n", lambda state: state).add_edge(START, "n").compile()
question: MessagesState = {"messages": []}
"""
TOLD = """
chunks_of_v2 = graph.stream(question, stream_mode="messages", version="v2")
for typed in dedup(chunks_of_v2, stream_mode="messages", version="v2"):
    reveal_type(typed)
"""


@pytest.mark.slow
def test_the_examples_of_a_process_are_typed(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    cache = pytestconfig.cache
    assert cache is not None
    known = cache.mkdir("mypy")  # what packages say, which takes it ten seconds to read
    shown = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    example = next(block for block in shown if block.startswith("from agent import "))
    file = tmp_path / "example.py"
    (tmp_path / "agent.py").write_text(GIVEN)
    file.write_text(example + TOLD)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", known, file],
        env={**os.environ, "MYPYPATH": PACKAGES},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "MessagesStreamPart" in done.stdout  # chunks keep their types
