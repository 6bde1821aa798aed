"""`langgraph-once survey`: what is in a database, and what it could be without."""

from __future__ import annotations

import click

from langgraph_once.commands import config_option, database_of, database_option, json_option, tell
from langgraph_once_ops.progress import progress_bar
from langgraph_once_ops.survey import as_json, as_text, open_snapshot, survey


@click.command("survey", short_help="Say what a database holds, and what it could be without.")
@database_option
@click.option("--exact", is_flag=True, help="Read every thread, instead of a sample.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    default=30.0,
    show_default=True,
    help="For how long threads of the sample are read at most.",
)
@json_option
@config_option
def survey_command(
    database: str | None, exact: bool, seconds: float, for_machines: bool, config: str
) -> None:
    """Say what a database holds, and what it could be without. Nothing is written.

    It reads databases of LangGraph's own savers and of ours, in one snapshot; a role that may
    SELECT is enough, and servers may be running. No value and no key is printed.

    \b
    Examples:
      langgraph-once survey --database threads.sqlite
      langgraph-once survey --database postgresql://reader@host/threads --json
    """
    asked = database_of(config, database)
    with (
        open_snapshot(asked.url, schema=asked.config.schema) as snapshot,
        progress_bar() as progress,
    ):
        found = survey(
            snapshot,
            asked.serde,
            store_once=asked.config.store_once,
            seconds=None if exact else seconds,
            progress=progress,
        )
    tell(as_json(found) if for_machines else as_text(found))
