"""`langgraph-once migrate`: all rows of a database, rewritten or copied into another."""

from __future__ import annotations

import sys
from typing import Final

import click

from langgraph_once.checkpoint import (
    Entering,
    Leaving,
    Migration,
    Trouble,
    migrate,
    reading,
    transfer,
)
from langgraph_once.commands.project import (
    Database,
    config_option,
    database_of,
    database_option,
    sized,
    tell,
    tell_left,
    telling,
)

_GROWS: Final = (
    "The database grows first, as new rows are written before the room of old ones is free: "
    "its disk should have room for it twice. VACUUM, in PostgreSQL VACUUM FULL, shrinks it then."
)


@click.command("migrate", short_help="Rewrite all rows, or copy all threads.")
@click.option("--to", type=click.Choice(["msgpack", "once2"]), help="Rewrite all rows.")
@click.option("--into", metavar="URL", help="Copy all threads into this database.")
@database_option
@click.option("--dry-run", is_flag=True, help="Write nothing; tell what would be done.")
@click.option("--keep-tables", is_flag=True, help="Do not drop our tables at the end.")
@config_option
def migrate_command(
    to: str | None,
    into: str | None,
    database: str | None,
    dry_run: bool,
    keep_tables: bool,
    config: str,
) -> None:
    """Rewrite all rows, or copy them into another database. A server may be running.

    "--to msgpack" is the way out: LangGraph's own savers read every row afterwards. "--to
    once2" rewrites all as the settings write now: codec, keys, pieces. Either can be stopped
    and started again. What cannot be rewritten leaves its thread as it is; the exit code is 1
    then.

    \b
    Examples:
      langgraph-once migrate --to msgpack --dry-run
      langgraph-once migrate --into postgresql://user@host/threads
    """
    if (to is None) == (into is None):
        raise click.UsageError("give either --to or --into")
    if into is not None and (dry_run or keep_tables):
        raise click.UsageError("--into goes with --database and --config alone")
    opened = database_of(config, database)
    if into is not None:
        troubles, is_any_left = _copy(opened, into), False
    else:
        done = _rewrite(opened, to == "msgpack", dry_run, keep_tables)
        troubles, is_any_left = done.troubles, done.is_any_left
    tell_left(troubles)
    if troubles or is_any_left:
        sys.exit(1)


def _rewrite(database: Database, is_leaving: bool, dry_run: bool, keep_tables: bool) -> Migration:
    _, config, serde = database
    way = Leaving(serde) if is_leaving else Entering(serde, store_once=config.store_once)
    with database.to_change(is_dry=dry_run) as saver:
        if not dry_run:
            tell(_GROWS, err=True)
        done = migrate(saver, way, is_dry=dry_run, keeps_tables=keep_tables, progress=telling())
    verb = "would be rewritten" if dry_run else "rewritten"
    tell(
        f"{done.threads:,} threads, {done.rows:,} rows {verb}: "
        f"{sized(done.bytes_before)} before, {sized(done.bytes_after)} after"
    )
    if done.has_dropped:
        tell("our tables, indexes and columns are dropped")
    if done.is_any_left:
        tell(
            "rows of ours are left: of threads that are named below, or of a server that writes "
            "them; let it write msgpack (docs/checkpoints.md) and run this again",
            err=True,
        )
    return done


def _copy(database: Database, into: str) -> list[Trouble]:
    # Also what the settings would refuse to a server: rows that are plain, or not bound.
    reader = database._replace(serde=reading(database.serde))
    with (
        reader.to_change(is_dry=True) as source,  # only read, but it must be there
        database._replace(url=into).to_write() as target,
    ):
        done = transfer(source, target, progress=telling())
    tell(
        f"{done.threads} threads copied, {done.checkpoints} checkpoints; "
        f"{done.skipped} threads were there"
    )
    return done.troubles
