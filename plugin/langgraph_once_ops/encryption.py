"""What is encrypted, written anew: `langgraph-once rotate` and `langgraph-once store`.

`rotate` puts all of it under the newest key, and says which keys may go. Which key a thing needs
the heads of rows tell; nothing is decrypted for that. `store` encrypts the values of the store, or
makes them plain. Servers may be running.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

import click

from langgraph_once.checkpoint import (
    Backend,
    EmptyDatabaseError,
    OnceSaver,
    Program,
    Progress,
    Rotating,
    Source,
    Statement,
    backend_of,
    batches,
    migrate,
    reading,
    sealed_in,
)
from langgraph_once.commands import (
    Database,
    config_option,
    database_of,
    database_option,
    json_option,
    load_if_there,
    tell,
    tell_left,
)
from langgraph_once.errors import ConfigError, OnceError, SerdeError, printable, shown
from langgraph_once.platform import serializer_for, store_database
from langgraph_once.serde import DAMAGED, HEAD_BYTES, NO_KEY, OnceSerializer, needed_key
from langgraph_once.store import Sealing
from langgraph_once_ops.progress import progress_bar
from langgraph_once_ops.survey import open_snapshot

_COLUMNS: Final = ("values", "metadata", "writes", "pieces", "streams", "store")
_NAME_CHARS: Final = 24


@click.command("rotate", short_help="Re-encrypt all with the newest key; say which keys may go.")
@database_option
@click.option("--dry-run", is_flag=True, help="Write nothing; count what needs which key.")
@json_option
@config_option
def rotate_command(database: str | None, dry_run: bool, for_machines: bool, config: str) -> None:
    """Re-encrypt all that is encrypted with the newest key, and say which old keys may go.

    Threads and the store, while servers run, once they have the new key. It may be stopped and
    started again. What is plain stays plain. The exit code is 1 if something cannot be read, or
    still needs an old key afterwards.

    \b
    Examples:
      langgraph-once rotate --dry-run
      langgraph-once rotate --database postgresql://user@host/threads
    """
    opened = database_of(config, database)
    keys = [*opened.serde.config.encryption_keys]
    if not keys:
        raise ConfigError("ONCE_SERDE__ENCRYPTION_KEYS", "there is no key to do this with")
    settings, _ = load_if_there(config)
    places = {"threads": opened.url, "store": database or store_database(settings)}
    places = {what: url for what, url in places.items() if _has(what, url, opened)}
    if not places:
        raise ConfigError(opened.url, "there are neither threads nor a store; name a database")
    troubles = [] if dry_run else _rotate(opened, places)
    use = _counted(opened, places)
    old = {key for key, _ in use} - {NO_KEY, keys[-1]}
    if for_machines:
        tell(json.dumps(_as_dict(use, keys), indent=2))
    else:
        tell("\n".join(_lines(use, keys, old)))
    if troubles or (old if not dry_run else old - {*keys}):
        sys.exit(1)


def _has(what: str, url: str, opened: Database) -> bool:
    """Whether a database has threads, or a store."""
    if not backend_of(url).is_there:
        return False
    try:
        with open_snapshot(url, schema=opened.config.schema) as snapshot:
            return snapshot.has_threads if what == "threads" else "store" in snapshot.names
    except EmptyDatabaseError:
        return False


def _rotate(opened: Database, places: dict[str, str]) -> list[Any]:
    """Rewrite what an older key sealed; return what could not be."""
    _, config, serde = opened
    troubles: list[Any] = []
    if "threads" in places:
        way = Rotating(serde, store_once=config.store_once)
        with opened.to_write() as saver, progress_bar() as progress:
            done = migrate(saver, way, progress=progress)
        tell(f"{done.rows} rows of {done.threads} threads re-encrypted", err=True)
        troubles += done.troubles
    if "store" in places:
        reader, schema = reading(serde), config.schema
        items = rewrite(
            places["store"], reading=reader, writing=reader, schema=schema, only_sealed=True
        )
        tell(f"{items.rows} items of the store re-encrypted", err=True)
        troubles += items.troubles
    tell_left(troubles)
    return troubles


def _counted(opened: Database, places: dict[str, str]) -> KeyUse:
    use = KeyUse()
    if "threads" in places:
        with opened.to_read() as saver, progress_bar() as progress:
            use = key_use(saver, progress=progress)
    if "store" in places:
        items = items_by_key(places["store"], schema=opened.config.schema)
        use.update({(key, "store"): count for key, count in items.items()})
    return use


def _as_dict(use: KeyUse, keys: list[str]) -> dict[str, Any]:
    rows = [
        {
            "key": shown(key),
            "is_newest": key == keys[-1],
            "is_configured": key in keys,
            "may_go": not count and key != keys[-1],
            **{name: use[key, name] for name in _COLUMNS},
        }
        for key, count in _totals(use, keys).items()
    ]
    plain = {name: use[NO_KEY, name] for name in _COLUMNS}
    return {"keys": rows, "not_encrypted": plain}


def _lines(use: KeyUse, keys: list[str], old: set[str]) -> Iterator[str]:
    yield _row("key", _COLUMNS)
    totals = _totals(use, keys)
    for key in totals:
        yield _row(_name(key), [f"{use[key, name]:,}" for name in _COLUMNS])
    if any(use[NO_KEY, name] for name in _COLUMNS):
        yield _row("(not encrypted)", [f"{use[NO_KEY, name]:,}" for name in _COLUMNS])
    yield ""
    for key, count in totals.items():
        if key == keys[-1]:
            yield f"{_name(key)} is the newest: it encrypts what is written."
        elif key == DAMAGED:
            yield f"Damaged: {count:,}. `langgraph-once verify` names them."
        elif not count:
            yield f"{_name(key)} may go: nothing here needs it. Backups may."
        else:
            known = "" if key in keys else ", and is not among the keys here"
            yield f"{_name(key)} must stay: {count:,} need it{known}."
    if old & {*keys}:
        yield "Run `langgraph-once rotate` once all servers have the newest key."


def _totals(use: KeyUse, keys: list[str]) -> Counter[str]:
    """How many things need a key, the keys of the settings first."""
    totals = Counter(dict.fromkeys(keys, 0))
    for (key, _), count in use.items():
        totals[key] += count
    del totals[NO_KEY]
    return totals


def _row(name: str, cells: Any) -> str:
    return f"{name:{_NAME_CHARS}}" + "".join(f" {cell:>8}" for cell in cells)


def _name(key: str) -> str:
    return "(damaged)" if key == DAMAGED else printable(shown(key), _NAME_CHARS)


KeyUse: TypeAlias = Counter[tuple[str, str]]
"""The number of stored things, by the id of the key they need (`needed_key`) and by their kind."""

_NAMES: Final = {"checkpoint": "values", "value": "values", "write": "writes"}


def key_use(saver: OnceSaver, *, progress: Progress | None = None) -> KeyUse:
    """Count what is stored in a database of threads by the key that it needs.

    Args:
        saver: The database, as `Backend.open_to_read` opens it.
        progress: Is told how far it is.

    Raises:
        StorageError: It cannot be read.
    """
    source, found = Source(saver), KeyUse()
    for thread_id in source.each_thread(progress):
        found.update(source.run(_of_thread(source, thread_id)))
    return found


def _of_thread(source: Source, thread_id: str) -> Program[KeyUse]:
    tables, found = source.tables, KeyUse()
    # The last one has the ledgers, which LangGraph's databases lack.
    read = [(each.name, each.data, _NAMES[each.holds]) for each in tables.cell_tables[:-1]]
    if source.has_own:
        read += [("once_stream_states", "data", "streams"), ("once_pieces", "data", "pieces")]
    for table, data, name in read:
        rows = yield Statement(
            f"SELECT type, substr({data}, 1, {HEAD_BYTES}) FROM {table} "
            "WHERE thread_id = ? AND type <> 'empty'",
            [thread_id],
        )
        found.update((needed_key(tag, bytes(head or b"")), name) for tag, head in rows)
    for places in batches((yield from tables.places(thread_id))):
        rows = yield from tables.metadata(places)
        found.update((_key_of_metadata(known), "metadata") for _, known in rows)
    return found


def _key_of_metadata(known: Mapping[str, Any]) -> str:
    try:
        cell = sealed_in(known)
    except SerdeError:
        return DAMAGED
    return NO_KEY if cell is None else needed_key(*cell)


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

    "--to encrypted" encrypts plain values, and those of older keys, with the newest key. "--to
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


# By key, not by offset: what others add or delete meanwhile makes no page skip an item.
_SELECT: Final = (
    "SELECT prefix, key, value{text} FROM store WHERE (prefix, key) > (?, ?) "
    "ORDER BY prefix, key LIMIT 200"
)
# Only where the value is still the one that was read: a server may have written meanwhile.
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
        only_sealed: Whether plain values stay plain.

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
