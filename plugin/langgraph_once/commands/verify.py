"""`langgraph-once verify`: all that a database holds, checked."""

from __future__ import annotations

import json
import sys

import click

from langgraph_once.checkpoint.by_url import open_to_read
from langgraph_once.checkpoint.moving.verify import Verdict, verify
from langgraph_once.commands.database import database_option, place_of, progress_bar
from langgraph_once.commands.project import config_option

__all__ = ["verify_command"]


@click.command("verify")
@database_option
@click.option("--json", "for_machines", is_flag=True, help="Print JSON.")
@config_option
def verify_command(database: str | None, for_machines: bool, config: str) -> None:
    """Check all that a database holds; exit code 1 if something is damaged.

    Nothing is written, and no value or key is printed; the server may be running.
    """
    place = place_of(config, database)
    opened = open_to_read(place.database, config=place.config, serde=place.serde)
    with opened as saver, progress_bar() as progress:
        verdict = verify(saver, place.serde, progress=progress)
    click.echo(_as_json(verdict) if for_machines else _as_text(verdict))
    if verdict.troubles:
        sys.exit(1)


def _as_text(verdict: Verdict) -> str:
    summary = (
        f"{verdict.threads} threads, {verdict.checkpoints} checkpoints, {verdict.cells} values, "
        f"{verdict.pieces} pieces: "
    )
    count = len(verdict.troubles)
    lines = [str(trouble) for trouble in verdict.troubles]
    return "\n".join([*lines, summary + (f"{count} findings" if count else "sound")])


def _as_json(verdict: Verdict) -> str:
    counts = {
        name: getattr(verdict, name) for name in ("threads", "checkpoints", "cells", "pieces")
    }
    findings = [trouble._asdict() for trouble in verdict.troubles]
    return json.dumps({**counts, "findings": findings}, indent=2)
