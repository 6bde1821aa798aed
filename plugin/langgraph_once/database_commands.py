"""`langgraph-once migrate` and `verify`: what is done to a whole database of threads."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click
from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import TextColumn, TimeRemainingColumn

from langgraph_once.checkpoint.by_url import is_postgres, open_saver, open_to_read
from langgraph_once.checkpoint.moving.cells import Progress, Trouble
from langgraph_once.checkpoint.moving.migrate import Migration, entering, leaving, migrate, reading
from langgraph_once.checkpoint.moving.transfer import transfer
from langgraph_once.checkpoint.moving.verify import Verdict, verify
from langgraph_once.config import CheckpointConfig
from langgraph_once.errors import ConfigError, OnceError
from langgraph_once.manifest import Manifest
from langgraph_once.platform.project_source import project_source
from langgraph_once.platform.startup import serializer_for
from langgraph_once.platform.types import types_of_code
from langgraph_once.serde import OnceSerializer
from langgraph_once.settings import Settings

__all__ = ["Load", "migrate_command", "verify_command"]

Load = Callable[[str], tuple[Settings, Manifest]]

_EVERY_S = 2.0


class _Place(NamedTuple):
    """A database, and how its rows are read and written."""

    database: str
    config: CheckpointConfig
    serde: OnceSerializer


def migrate_command(load: Load) -> click.Command:
    """`langgraph-once migrate`.

    Args:
        load: Reads the settings, as the server would.
    """

    @click.command("migrate")
    @click.option("--to", type=click.Choice(["msgpack", "once1"]), help="Rewrite all rows.")
    @click.option("--into", metavar="URL", help="Copy all threads into this database.")
    @click.option(
        "--database", metavar="URL", help="The database; that of the settings if left out."
    )
    @click.option("--dry-run", is_flag=True, help="Write nothing; tell what would be done.")
    @click.option("--keep-tables", is_flag=True, help="Do not drop our tables at the end.")
    @click.option("--config", default="langgraph.json", show_default=True, help="File to read.")
    def command(
        to: str | None,
        into: str | None,
        database: str | None,
        dry_run: bool,
        keep_tables: bool,
        config: str,
    ) -> None:
        """Rewrite all rows, or copy them into another database. A server may be running.

        "--to msgpack" is the way out: LangGraph's own savers read every row afterwards. "--to
        once1" rewrites all as the settings write now: codec, keys, pieces. Either can be stopped
        and started again. What cannot be rewritten leaves its thread as it is; the exit code is 1
        then.
        """
        if (to is None) == (into is None):
            raise click.UsageError("give either --to or --into")
        if into is not None and (dry_run or keep_tables):
            raise click.UsageError("--into goes with --database and --config alone")
        place = _place(load, config, database)
        if into is not None:
            troubles, is_any_left = _copy(place, into), False
        else:
            done = _rewrite(place, to == "msgpack", dry_run, keep_tables)
            troubles, is_any_left = done.troubles, done.is_any_left
        for trouble in troubles:
            click.echo(f"left as it is: {trouble}", err=True)
        if troubles or is_any_left:
            sys.exit(1)

    return command


def verify_command(load: Load) -> click.Command:
    """`langgraph-once verify`.

    Args:
        load: Reads the settings, as the server would.
    """

    @click.command("verify")
    @click.option(
        "--database", metavar="URL", help="The database; that of the settings if left out."
    )
    @click.option("--json", "for_machines", is_flag=True, help="Print JSON.")
    @click.option("--config", default="langgraph.json", show_default=True, help="File to read.")
    def command(database: str | None, for_machines: bool, config: str) -> None:
        """Check all that a database holds; exit code 1 if something is damaged.

        Nothing is written, and no value or key is printed; the server may be running.
        """
        place = _place(load, config, database)
        opened = open_to_read(place.database, config=place.config, serde=place.serde)
        with opened as saver, _progress() as progress:
            verdict = verify(saver, place.serde, progress=progress)
        click.echo(_as_json(verdict) if for_machines else _as_text(verdict))
        if verdict.troubles:
            sys.exit(1)

    return command


def _place(load: Load, config: str, database: str | None) -> _Place:
    settings, manifest = load(config)
    serde = settings.serde
    if not serde.source:
        serde = replace(serde, source=project_source(Path(config), manifest))
    serializer = serializer_for(settings.model_copy(update={"serde": serde}))
    types: set[tuple[str, ...]] = set()
    with suppress(OnceError):
        types = types_of_code(manifest).listed
    serializer = serializer.with_msgpack_allowlist(types)
    return _Place(database or settings.database, settings.checkpoint, serializer)


def _rewrite(place: _Place, is_leaving: bool, dry_run: bool, keep_tables: bool) -> Migration:
    database, config, serde = place
    way = leaving(serde) if is_leaving else entering(serde, store_once=config.store_once)
    _must_exist(database)
    opened = (
        open_to_read(database, config=config, serde=serde)
        if dry_run
        else open_saver(database, config=config, serde=serde)
    )
    with opened as saver, _progress() as progress:
        done = migrate(saver, way, is_dry=dry_run, keeps_tables=keep_tables, progress=progress)
    verb = "would be rewritten" if dry_run else "rewritten"
    click.echo(
        f"{done.threads} threads, {done.rows} rows {verb}: "
        f"{done.bytes_before} bytes before, {done.bytes_after} after"
    )
    if done.has_dropped:
        click.echo("our tables, indexes and columns are dropped")
    if done.is_any_left:
        click.echo(
            "rows of ours are left: of threads that are named below, or of a server that writes "
            "them; let it write msgpack (docs/checkpoints.md) and run this again",
            err=True,
        )
    return done


def _copy(place: _Place, into: str) -> list[Trouble]:
    database, config, serde = place
    _must_exist(database)
    reader = reading(serde)
    with (
        open_to_read(database, config=config, serde=reader) as source,
        open_saver(into, config=config, serde=serde) as target,
        _progress() as progress,
    ):
        done = transfer(source, target, progress=progress)
    click.echo(
        f"{done.threads} threads copied, {done.checkpoints} checkpoints; "
        f"{done.skipped} threads were there"
    )
    return done.troubles


def _must_exist(database: str) -> None:
    file = Path(database.removeprefix("sqlite:///")).expanduser()
    if not is_postgres(database) and not file.is_file():
        raise ConfigError(str(file), "there is no such file; name the database with --database")


@contextmanager
def _progress() -> Iterator[Progress]:
    if sys.stderr.isatty():
        columns = (*Bar.get_default_columns()[:-1], TextColumn("{task.completed}/{task.total}"))
        with Bar(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
            task = bar.add_task("threads", total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
        return
    last = time.monotonic()

    def say(done: int, total: int) -> None:
        nonlocal last
        if done == total or time.monotonic() - last > _EVERY_S:
            last = time.monotonic()
            click.echo(f"threads: {done} of {total}", err=True)

    yield say


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
