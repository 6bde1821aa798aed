"""docs/quick-start.md: every command of it runs, and prints what the page says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from demo.dev_server import DevServer
from tests.docs.snippets import snippets
from tests.forked import clean_environ

PAGE = "docs/quick-start.md"
COMMANDS = [
    'pip install "/path/to/langgraph-once[server,cli,ops]"',  # `test_distribution` does
    "langgraph-once init",
    "langgraph-once check",
    "langgraph dev",
    "python ask.py http://127.0.0.1:2024",
    "langgraph-once init --undo",
]


def once(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "langgraph_once", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=clean_environ(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_reader_who_does_what_the_page_says_sees_what_it_says(tmp_path: Path) -> None:
    assert [each.text.strip() for each in snippets(PAGE, "sh")] == COMMANDS
    agent, ask = (each.text for each in snippets(PAGE, "python"))
    ((_, shown),) = snippets(PAGE, "diff")
    ((_, printed),) = snippets(PAGE, "text")
    (tmp_path / "agent.py").write_text(agent)

    assert shown in once(tmp_path, "init", "--yes")
    assert "are fine" in once(tmp_path, "check")
    with DevServer(tmp_path / "langgraph.json", cwd=tmp_path) as server:
        (tmp_path / "ask.py").write_text(ask)
        command = [sys.executable, "ask.py", server.url]
        asked = subprocess.check_output(command, cwd=tmp_path, text=True)
    assert asked == printed
    once(tmp_path, "init", "--undo", "--yes")
    assert not (tmp_path / "langgraph.json").exists()
