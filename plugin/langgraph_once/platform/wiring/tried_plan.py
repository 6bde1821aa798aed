"""A plan that was tried, in a process of its own: nothing stops that did not stop before."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from langgraph_once.errors import ConfigError
from langgraph_once.platform.wiring.plan import Plan, make_plan, with_graphs


def tried_plan(
    before: str | None,
    graphs: Mapping[str, str],
    *,
    database: str,
    has_store: bool,
    environ: Mapping[str, str],
) -> Plan:
    """Return how a `langgraph.json` is wired so that a server starts with it as it did before.

    A graph that would not load wrapped is left as it is; one of `graphs` that does not load at
    all is left out.

    Args:
        before: The file; None if there is none.
        graphs: Graphs to put into it: id to `./file.py:name`.
        database: What `checkpointer.once.path` is to say; empty to say nothing.
        has_store: Whether the store is to be ours, too.
        environ: Variables that the server is to have.

    Raises:
        ConfigError: The server would not start; the file is none that can be changed.
    """
    left: dict[str, str] = {}
    kept = graphs
    known: set[Trouble] | None = None
    while True:
        plan = _planned(before, kept, database=database, has_store=has_store, leave=left)
        found = troubles(plan.text, environ) if plan.text != before else set()
        if found and known is None:
            known = set() if before is None else troubles(before, {})
        new = found - (known or set())
        reasons = _reasons(new, plan.wrapped, ".once.target") | _reasons(new, kept, "")
        if not reasons:
            break
        left |= reasons
        kept = {name: path for name, path in kept.items() if f"graphs.{name}" not in left}
    _refuse(new, left if graphs and not kept else {})
    return plan


def _planned(before: str | None, graphs: Mapping[str, str], **options: Any) -> Plan:
    try:
        return make_plan(with_graphs(before, graphs), **options)
    except ConfigError:
        raise
    except ValueError as error:
        raise ConfigError("langgraph.json", str(error)) from None


def _reasons(new: set[Trouble], graph_ids: Mapping[str, str], key: str) -> dict[str, str]:
    """Why graphs do not load, by their keys."""
    return {
        f"graphs.{graph_id}": problem
        for graph_id in graph_ids
        for where, problem in new
        if where == f"langgraph.json: graphs.{graph_id}{key}"
    }


def _refuse(new: set[Trouble], left: Mapping[str, str]) -> None:
    new = new | {(f"langgraph.json: {key}", problem) for key, problem in left.items()}
    lines = sorted(": ".join(filter(None, each)) for each in new)
    if lines:
        problem = "nothing is written, since the server would not start: " + "; ".join(lines)
        raise ConfigError("langgraph.json", problem)


Trouble = tuple[str, str]
"""The setting, and what is wrong with it."""

# Imports of a project may take tens of seconds; what takes longer hangs.
_TIMEOUT_S = 120


def troubles(text: str, environ: Mapping[str, str]) -> set[Trouble]:
    """Return what `langgraph-once check` finds, but for hints.

    Args:
        text: The `langgraph.json` of the project in the working directory.
        environ: Variables to set besides those of this process.

    Raises:
        ConfigError: The check itself failed.
    """
    # In the project's folder: paths in a `langgraph.json` count from where it lies.
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
