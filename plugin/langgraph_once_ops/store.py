"""`langgraph-once store`: all values of the store, encrypted or made plain.

A server may be running.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

import click

from langgraph_once.checkpoint import Backend, backend_of, reading
from langgraph_once.commands import config_option, database_option, load_if_there, tell, tell_left
from langgraph_once.errors import ConfigError, OnceError, printable
from langgraph_once.platform import serializer_for, store_database
from langgraph_once.serde import OnceSerializer
from langgraph_once.store import Sealing


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


_SELECT: Final = (
    "SELECT prefix, key, value{text} FROM store WHERE (prefix, key) > (?, ?) "
    "ORDER BY prefix, key LIMIT 200"
)
_UPDATE: Final = "UPDATE store SET value = ?{json} WHERE prefix = ? AND key = ? AND value = ?{json}"


@dataclass(slots=True)
class Rewritten:
    """What was done.

    Attributes:
        items: How many items there are.
        rows: How many of them were rewritten.
        changed: How many others changed meanwhile; they are as their writer's settings say.
        troubles: What is wrong with each that could not be read, and stays as it is.
    """

    items: int = 0
    rows: int = 0
    changed: int = 0
    troubles: list[str] = field(default_factory=list)


def rewrite(
    database: str,
    *,
    reading: OnceSerializer,
    writing: OnceSerializer,
    schema: str = "",
    is_dry: bool = False,
    only_sealed: bool = False,
) -> Rewritten:
    """Rewrite what is not stored as `writing` would store it.

    Times, vectors and what expires stay as they are. It may be stopped and started again.

    Args:
        database: As `open_store` takes it.
        reading: Has the keys of all that is there.
        writing: Has the keys of how it shall be, or none.
        schema: PostgreSQL: where the tables are; if empty, where the connection looks.
        is_dry: Whether nothing is written.
        only_sealed: Whether what is plain stays plain.

    Raises:
        ConfigError: A URL of another database.
        StorageError: The database cannot be opened, read or written.
    """
    done = Rewritten()
    old, new = (Sealing(serde, database) for serde in (reading, writing))
    backend = backend_of(database)
    update = _UPDATE.format(json=backend.as_json)
    with backend.connect(schema) as execute:
        for rows in _pages(execute, backend):
            changes = [*_changes(rows, old, new, done, only_sealed=only_sealed)]
            done.rows += len(changes)
            if changes and not is_dry:
                # One for each 200 rows: a server that writes meanwhile waits for no more.
                execute("BEGIN", ())
                missed = sum(not execute(update, change).rowcount for change in changes)
                execute("COMMIT", ())
                done.rows -= missed
                done.changed += missed
    return done


def items_by_key(database: str, *, schema: str = "") -> Counter[str]:
    """How many items need which key, as `needed_key` names them.

    Args:
        database: As `open_store` takes it.
        schema: PostgreSQL: where the tables are; if empty, where the connection looks.

    Raises:
        ConfigError: A URL of another database.
        StorageError: The database cannot be opened or read.
    """
    backend = backend_of(database)
    with backend.connect(schema) as execute:
        return Counter(
            Sealing.key_of(json.loads(stored))
            for rows in _pages(execute, backend)
            for _, _, stored in rows
        )


def _pages(execute: Any, backend: Backend) -> Iterator[list[Any]]:
    select, after = _SELECT.format(text=backend.as_text), ("", "")
    while rows := execute(select, after).fetchall():
        yield rows
        after = rows[-1][:2]


def _changes(
    rows: list[Any], reading: Sealing, writing: Sealing, done: Rewritten, *, only_sealed: bool
) -> Iterator[tuple[Any, str, str, Any]]:
    """Yield what to store, where, and in whose place."""
    for prefix, key, stored in rows:
        done.items += 1
        row = json.loads(stored)
        if only_sealed and not Sealing.is_sealed(row):
            continue
        try:
            new = _rewritten(tuple(prefix.split(".")), key, row, reading, writing)
        except OnceError as error:
            done.troubles.append(printable(f"{prefix}, {key!r}: {error}"))
        else:
            if new is not None:
                yield new.encode() if isinstance(stored, bytes) else new, prefix, key, stored


def _rewritten(
    namespace: tuple[str, ...], key: str, row: Any, reading: Sealing, writing: Sealing
) -> str | None:
    """What is to be stored instead; None if it is right."""
    if writing.is_sealed_as_now(row):
        return None
    return json.dumps(writing.row(namespace, key, reading.value(namespace, key, row)))
