"""The command in a process of its own, which a process forks that has imported it already."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from langgraph_once.cli import main

__all__ = ["run_once"]

if sys.platform == "win32":
    _FORKS = multiprocessing.get_context("spawn")
else:
    _FORKS = multiprocessing.get_context("forkserver")
    _FORKS.set_forkserver_preload([__name__])

_TIMEOUT_S = 300


def run_once(
    *arguments: str, cwd: Path, env: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run `langgraph-once` with these arguments, in this folder and environment."""
    with tempfile.TemporaryDirectory() as name:
        told = [Path(name) / stream for stream in ("stdout", "stderr")]
        process = _FORKS.Process(target=_run, args=(arguments, cwd, env, told), daemon=True)
        process.start()
        process.join(_TIMEOUT_S)
        code = process.exitcode
        if code is None:
            process.kill()
            raise subprocess.TimeoutExpired([*arguments], _TIMEOUT_S)
        return subprocess.CompletedProcess(arguments, code, *(each.read_text() for each in told))


def _run(arguments: Sequence[str], cwd: Path, env: Mapping[str, str], told: list[Path]) -> None:
    for number, path in enumerate(told, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    sys.path[:0] = [str(cwd), *env.get("PYTHONPATH", "").split(os.pathsep)]
    sys.argv = ["langgraph-once", *arguments]
    main()
