"""The command in a process of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.forked import run_python

__all__ = ["SCRIPT", "run_once"]

SCRIPT = "import sys; sys.argv[0] = 'langgraph-once'; from langgraph_once.cli import main; main()"


def run_once(
    *arguments: str, cwd: Path, env: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run `langgraph-once` with these arguments, in this folder and environment."""
    return run_python("-c", SCRIPT, *arguments, cwd=cwd, env=env)
