"""A `langgraph.json` tried in a process of its own: what would stop a server with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from langgraph_once.errors import ConfigError

__all__ = ["Trouble", "troubles"]

Trouble = tuple[str, str]
"""The setting, and what is wrong with it."""

_TIMEOUT_S = 120


def troubles(text: str, environ: Mapping[str, str]) -> set[Trouble]:
    """Return what `langgraph-once check` finds, but for hints.

    Args:
        text: The `langgraph.json` of the project in the working directory.
        environ: Variables to set besides those of this process.

    Raises:
        ConfigError: The check itself failed.
    """
    number, name = tempfile.mkstemp(prefix=".langgraph-", suffix=".json", dir=Path.cwd())
    try:
        with os.fdopen(number, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        run = _checked(name, environ)
    finally:
        Path(name).unlink()
    try:
        findings = json.loads(run.stdout)["findings"]
    except ValueError:
        last = (run.stderr.strip().splitlines() or [f"exit code {run.returncode}"])[-1]
        problem = f"could not be tried: {last}"
    else:
        return {
            (each["where"], ": ".join(filter(None, [each["place"], each["problem"]])))
            for each in findings
            if each["effect"] != "hint"
        }
    raise ConfigError("langgraph.json", problem)


def _checked(name: str, environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """What `langgraph-once check` says of a file, in a process of its own."""
    try:
        return subprocess.run(  # noqa: S603  # ourselves
            # -P: no module of the project may take the place of one of Python.
            [sys.executable, "-P", "-m", "langgraph_once", "check", "--json", "--config", name],
            env={**os.environ, **environ},
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ConfigError(
            "langgraph.json",
            f"could not be tried in {_TIMEOUT_S} seconds; see `langgraph-once check`",
        ) from None
