"""`langgraph-once prune`: threads and checkpoints that are old go, by rules."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any, get_args

import click

from langgraph_once.commands import (
    Database,
    config_option,
    database_of,
    database_option,
    json_option,
    sized,
    tell,
    tell_left,
)
from langgraph_once.config import RetentionConfig, ThreadStatus
from langgraph_once.errors import ConfigError
from langgraph_once_ops.progress import progress_bar
from langgraph_once_ops.retention import Pruned, prune


@click.command("prune", short_help="Delete old threads, or their history, by rules.")
@database_option
@click.option("--older-than", metavar="SPAN", help="Delete threads without a checkpoint since.")
@click.option(
    "--keep-last",
    type=click.IntRange(min=1),
    metavar="N",
    help="Of all other threads keep the last N checkpoints of each namespace.",
)
@click.option(
    "--status",
    type=click.Choice(get_args(ThreadStatus)),
    multiple=True,
    help="Only threads that stand so; may be repeated.",
)
@click.option(
    "--metadata",
    metavar="KEY=VALUE",
    multiple=True,
    help="Only threads whose last checkpoint has this; may be repeated.",
)
@click.option("--dry-run", is_flag=True, help="Delete nothing; tell what would go.")
@json_option
@config_option
def prune_command(
    database: str | None,
    older_than: str | None,
    keep_last: int | None,
    status: tuple[ThreadStatus, ...],
    metadata: tuple[str, ...],
    dry_run: bool,
    for_machines: bool,
    config: str,
) -> None:
    """Delete old threads, or their history, by rules. Servers may be running.

    A thread must pass every selector (--status, --metadata). Then it is deleted if it is
    older; of any other, what is beyond the last N checkpoints is. What is kept can be
    resumed, forked and read as before. Without a rule, those of the settings hold
    (checkpointer.once.retention). It can be stopped and started again. The exit code is 1
    if a thread could not be read and was left as it is.

    \b
    Examples:
      langgraph-once prune --older-than 90d --status idle --dry-run
      langgraph-once prune --keep-last 20 --metadata graph_id=agent
    """
    opened = database_of(config, database)
    rules = _rules(opened, older_than, keep_last, status, metadata)
    with (
        # A database of LangGraph's own savers stays one: to delete, our tables are not needed.
        opened.to_change(is_dry=dry_run, makes_tables=False) as saver,
        progress_bar() as progress,
    ):
        done = prune(saver, rules, is_dry=dry_run, progress=progress)
    told = [*_told(rules), "", *_done(done, dry_run)]
    tell(_as_json(done, dry_run) if for_machines else "\n".join(told))
    tell_left(done.troubles)
    if done.troubles:
        sys.exit(1)


def _rules(
    database: Database,
    older_than: str | None,
    keep_last: int | None,
    status: tuple[ThreadStatus, ...],
    metadata: Iterable[str],
) -> RetentionConfig:
    known: dict[str, Any] = {}
    for each in metadata:
        name, has_value, value = each.partition("=")
        if not (name and has_value):
            raise click.UsageError("write --metadata as KEY=VALUE")
        known[name] = value
    if older_than is None and keep_last is None:
        policy = database.config.retention
        if policy is None or status or known:
            raise click.UsageError("give --older-than, --keep-last or both")
        return policy
    try:
        return RetentionConfig(
            older_than=older_than or "", keep_last=keep_last or 0, status=status, metadata=known
        )
    except ConfigError as error:  # the others are checked by now
        raise ConfigError("--older-than", error.problem) from None


def _as_json(done: Pruned, is_dry: bool) -> str:
    return json.dumps(
        {
            "dry_run": is_dry,
            "threads": done.threads,
            "deleted_threads": done.deleted,
            "shortened_threads": done.shortened,
            "deleted_checkpoints": done.checkpoints,
            "before": done.before._asdict(),
            "after": done.after._asdict(),
            "troubles": [trouble._asdict() for trouble in done.troubles],
        },
        indent=2,
    )


def _told(rules: RetentionConfig) -> Iterator[str]:
    """The rules in words."""
    if rules.older_than:
        yield f"Threads without a checkpoint for {rules.older_than} are deleted."
    if rules.keep_last:
        of_whom = "Other threads keep" if rules.older_than else "Threads keep"
        yield f"{of_whom} the last {rules.keep_last} checkpoints of each namespace."
    if rules.status:
        yield f"Only threads that are {' or '.join(rules.status)}."
    for name, value in rules.metadata.items():
        yield f"Only threads with {name}={value} in their metadata."


def _done(done: Pruned, is_dry: bool) -> Iterator[str]:
    would = "would be " if is_dry else ""
    yield (
        f"{done.threads:,} threads: {done.deleted:,} {would}deleted, "
        f"{done.shortened:,} shortened, {done.checkpoints:,} checkpoints in all"
    )
    if not done.before.rows:
        return
    freed = done.before.less(done.after)
    yield f"{'of these':10} {'before':>12} {'after':>12} {'freed':>12}"
    rows = (f"{each.rows:>12,}" for each in (done.before, done.after, freed))
    sizes = (f"{sized(each.bytes):>12}" for each in (done.before, done.after, freed))
    yield f"{'rows':10} {' '.join(rows)}"
    yield f"{'values':10} {' '.join(sizes)}"
    if not is_dry:
        yield "The database fills the room with new rows; VACUUM gives it back to the disk,"
        yield "in PostgreSQL often little of it: VACUUM FULL does, and locks the tables."
