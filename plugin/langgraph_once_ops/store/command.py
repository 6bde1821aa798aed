"""`langgraph-once store`: all values of the store, encrypted or made plain."""

from __future__ import annotations

import sys
from dataclasses import replace

import click

from langgraph_once.checkpoint import reading
from langgraph_once.commands import config_option, database_option, load_if_there, tell, tell_left
from langgraph_once.errors import ConfigError
from langgraph_once.platform import serializer_for, store_database
from langgraph_once_ops.store import rewrite


@click.command("store", short_help="Encrypt all values of the store, or make them plain.")
@click.option(
    "--to",
    type=click.Choice(["encrypted", "plain"]),
    required=True,
    help="What they are to be.",
)
@database_option
@click.option("--dry-run", is_flag=True, help="Write nothing; tell what would be done.")
@config_option
def store_command(to: str, database: str | None, dry_run: bool, config: str) -> None:
    """Rewrite all values of the store. A server may be running.

    "--to encrypted" encrypts them with the newest key: plain ones, and those of older keys. "--to
    plain" is the way out: LangGraph's own stores read every value afterwards; servers must not
    have the keys by then, or they encrypt what they write. It can be stopped and started again.
    What cannot be read stays as it is; the exit code is 1 then.

    \b
    Examples:
      langgraph-once store --to encrypted --dry-run
      langgraph-once store --to plain
    """
    settings, _ = load_if_there(config)
    if not settings.serde.encryption_keys:
        raise ConfigError("ONCE_SERDE__ENCRYPTION_KEYS", "there is no key to do this with")
    reader = reading(serializer_for(settings))
    plain = replace(reader.config, encryption_keys={})
    writer = reader.with_config(plain) if to == "plain" else reader
    done = rewrite(
        database or store_database(settings),
        reading=reader,
        writing=writer,
        schema=settings.checkpoint.schema,
        is_dry=dry_run,
    )
    verb = "would be rewritten" if dry_run else "rewritten"
    tell(f"{done.items} items, {done.rows} {verb}")
    tell_left(done.troubles)
    if done.changed:
        tell(f"{done.changed} changed meanwhile; run this again", err=True)
    if done.troubles or done.changed:
        sys.exit(1)
