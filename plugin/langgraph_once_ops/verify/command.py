"""`langgraph-once verify`: all that a database holds, checked."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Final

import click

from langgraph_once.checkpoint import Trouble
from langgraph_once.commands import (
    Database,
    config_option,
    database_of,
    database_option,
    json_option,
    tell,
)
from langgraph_once_ops.progress import progress_bar
from langgraph_once_ops.verify.verify import Verdict, repair, verify

_MOST_ALIKE: Final = 10
"""So many findings of one kind have a line each."""


@click.command("verify", short_help="Check all that a database holds.")
@database_option
@json_option
@click.option(
    "--repair",
    "repairs",
    is_flag=True,
    help="Then delete writes on checkpoints that are not there, and check again.",
)
@config_option
def verify_command(database: str | None, for_machines: bool, repairs: bool, config: str) -> None:
    """Check all that a database holds; exit code 1 if something is damaged.

    Nothing is written without --repair, and no value or key is printed; the server may be running.

    \b
    Examples:
      langgraph-once verify
      langgraph-once verify --database threads.sqlite --json
      langgraph-once verify --repair
    """
    checked = database_of(config, database)
    verdict = _checked(checked)
    if repairs and verdict.orphaned:
        with checked.to_write() as saver:
            repair(saver, verdict.orphaned)
        verdict = _checked(checked)
    tell(_as_json(verdict) if for_machines else _as_text(verdict))
    if verdict.troubles:
        sys.exit(1)


def _checked(database: Database) -> Verdict:
    with database.to_read() as saver, progress_bar() as progress:
        return verify(saver, database.serde, progress=progress)


def _as_text(verdict: Verdict) -> str:
    summary = (
        f"{verdict.threads} threads, {verdict.checkpoints} checkpoints, {verdict.cells} values, "
        f"{verdict.pieces} pieces: "
    )
    count = len(verdict.troubles)
    lines = [*_told(verdict.troubles)]
    if verdict.orphaned:
        lines.append("`--repair` deletes writes on checkpoints that are not there.")
    return "\n".join([*lines, summary + (f"{count} findings" if count else "sound")])


def _told(troubles: list[Trouble]) -> Iterator[str]:
    """A line for each; one alone where many say the same, as without a key."""
    times = Counter(trouble.problem for trouble in troubles)
    summed: set[str] = set()
    for trouble in troubles:
        if (count := times[problem := trouble.problem]) <= _MOST_ALIKE:
            yield str(trouble)
        elif problem not in summed:
            summed.add(problem)
            yield f"{trouble}; {count - 1} more say the same, which --json lists"


def _as_json(verdict: Verdict) -> str:
    counts = {
        name: getattr(verdict, name) for name in ("threads", "checkpoints", "cells", "pieces")
    }
    findings = [trouble._asdict() for trouble in verdict.troubles]
    return json.dumps({**counts, "findings": findings}, indent=2)
