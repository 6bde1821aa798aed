"""`langgraph-once inspect`: the threads of a database, and the checkpoints of one as a tree."""

from __future__ import annotations

import json
import shutil
from functools import partial
from typing import Any, Final

import click
from langgraph.checkpoint.base import CheckpointTuple

from langgraph_once.checkpoint import CheckpointRef, OnceSaver, reading
from langgraph_once.commands import config_option, database_of, database_option, json_option, tell
from langgraph_once.errors import ConfigError
from langgraph_once_ops.history import (
    ChannelChange,
    changes,
    changes_as_dict,
    changes_as_text,
    listing_as_dict,
    listing_as_text,
    newest_threads,
    thread_tree,
    tree_as_dict,
    tree_as_text,
)
from langgraph_once_ops.survey import open_snapshot

_LISTED: Final = 20
_PIPED: Final = 1000
"""How wide the list may be where it goes to no terminal: then names of graphs stay whole."""


@click.command("inspect", short_help="Show threads, and the checkpoints of one as a tree.")
@click.argument("thread", required=False)
@database_option
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    help=f"How many: the newest {_LISTED} threads, or all checkpoints, if left out.",
)
@click.option(
    "--diff",
    nargs=2,
    metavar="A B",
    help="Compare two checkpoints of the thread; how their ids begin is enough.",
)
@click.option("--values", "with_values", is_flag=True, help="With --diff: show the values, too.")
@json_option
@config_option
def inspect_command(
    thread: str | None,
    database: str | None,
    limit: int | None,
    diff: tuple[str, str] | None,
    with_values: bool,
    for_machines: bool,
    config: str,
) -> None:
    """Show the newest threads, or the checkpoints of one thread as a tree of its forks.

    It reads databases of LangGraph's own savers and of ours, in one snapshot; a role that may
    SELECT is enough, and servers may be running. Nothing is written. No value is printed without
    --values.

    \b
    Examples:
      langgraph-once inspect --database threads.sqlite
      langgraph-once inspect 1f0a5c7e-0000-6000-8000-000000000000
      langgraph-once inspect my-thread --diff 1f0a5c7e 1f0a5c80
    """
    if (diff and thread is None) or (with_values and not diff):
        raise click.UsageError("--diff takes a thread, and --values goes with --diff")
    opened = database_of(config, database).lenient()
    with open_snapshot(opened.url, schema=opened.config.schema) as snapshot:
        if not snapshot.has_threads:
            raise ConfigError(snapshot.name, "it has no threads, only a store")
        saver = snapshot.saver(reading(opened.serde))
        found: Any
        as_dict: Any
        as_text: Any
        if thread is None:
            found = newest_threads(snapshot, saver, limit or _LISTED)
            columns = shutil.get_terminal_size((_PIPED, 0)).columns
            as_dict, as_text = listing_as_dict, partial(listing_as_text, columns=columns)
        elif diff:
            found = _compared(saver, thread, diff, with_values=with_values)
            as_dict, as_text = changes_as_dict, changes_as_text
        else:
            found = thread_tree(snapshot, saver, thread, limit=limit)
            as_dict, as_text = tree_as_dict, tree_as_text
    if found is None:
        raise ConfigError("THREAD", f"no checkpoint of {thread!r} is stored")
    tell(json.dumps(as_dict(found), indent=2) if for_machines else as_text(found))


def _compared(
    saver: OnceSaver, thread: str, asked: tuple[str, str], *, with_values: bool
) -> list[ChannelChange] | None:
    """What differs between two checkpoints of a thread; None if it has none."""
    places = saver.engine.run(saver.threads.tables.places(thread), writes=False)
    if not places:
        return None
    first, second = (_named(saver, places, start) for start in asked)
    return changes(saver, first, second, with_values=with_values)


def _named(saver: OnceSaver, places: list[CheckpointRef], start: str) -> CheckpointTuple:
    """The only checkpoint whose id begins so."""
    found = [place for place in places if str(place.checkpoint_id).startswith(start)]
    saved = saver.get_tuple(found[0].config()) if len(found) == 1 else None
    if saved is None:
        raise ConfigError(f"--diff {start}", f"{len(found)} checkpoints of the thread begin so")
    return saved
