"""`langgraph-once inspect`: the threads of a database, and the checkpoints of one as a tree.

All that is known of them is told to people and to machines.
"""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain
from typing import Any, Final

import click
from langgraph.checkpoint.base import CheckpointTuple

from langgraph_once.checkpoint import CheckpointRef, OnceSaver, reading
from langgraph_once.commands import (
    config_option,
    database_of,
    database_option,
    json_option,
    sized,
    tell,
)
from langgraph_once.errors import ConfigError, printable
from langgraph_once.stream import NS_SEP, around
from langgraph_once_ops.history.changes import ChannelChange, MessageChange, changes
from langgraph_once_ops.history.thread_tree import (
    CheckpointNode,
    ListedThread,
    ThreadTree,
    newest_threads,
    thread_tree,
)
from langgraph_once_ops.survey import open_snapshot

# What a terminal shows at once.
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


_WIDE: Final = 100
_NAME_CHARS: Final = 36
_LEAST_ID: Final = 8
_LEAST_GRAPH: Final = 4
_WROTE_CHARS: Final = 18
_VALUE_CHARS: Final = 2000
_SIGNS: Final = {"added": "+", "removed": "-", "changed": "~"}


def listing_as_dict(threads: Iterable[ListedThread]) -> list[dict[str, Any]]:
    """The list of threads for machines."""
    return [{**each._asdict(), "last": each.last and each.last.isoformat()} for each in threads]


def listing_as_text(threads: Sequence[ListedThread], *, columns: int) -> str:
    """The list of threads for people.

    Args:
        threads: The threads.
        columns: How wide the terminal is; the time of day needs 100. Names of graphs are cut.
    """
    if not threads:
        return "There are no threads."
    time = "%Y-%m-%d %H:%M" if columns >= _WIDE else "%Y-%m-%d"
    rows = [("thread", "last", "ckpts", "bytes", "status", "graph")]
    rows += [
        (
            _name(each.thread_id),
            f"{each.last:{time}}" if each.last else "",
            f"{each.checkpoints:,}",
            sized(each.bytes),
            each.status,
            _name(each.graph),
        )
        for each in threads
    ]
    names, times, counts, sizes, states, _ = (
        max(map(len, each)) for each in zip(*rows, strict=True)
    )
    left = columns - (names + times + counts + sizes + states + 5)
    return "\n".join(
        f"{name:{names}} {last:{times}} {count:>{counts}} {size:>{sizes}} {status:{states}} "
        f"{printable(graph, max(left, _LEAST_GRAPH))}".rstrip()
        for name, last, count, size, status, graph in rows
    )


def tree_as_dict(tree: ThreadTree) -> dict[str, Any]:
    """The tree for machines: `before`, `around` and `under` say how checkpoints hang together."""
    nodes = [
        {
            **asdict(node),
            "place": node.place[1:],
            **{name: _place(getattr(node, name)) for name in ("before", "around", "under")},
        }
        for node in tree.nodes.values()
    ]
    for node in nodes:
        node["checkpoint_ns"], node["checkpoint_id"] = node.pop("place")
    counted = {name: getattr(tree, name) for name in ("thread_id", "graph", "status", "tokens")}
    return {
        **counted,
        "shared_bytes": tree.shared,
        "forks": tree.forks(),
        "checkpoints": nodes,
    }


def tree_as_text(tree: ThreadTree) -> str:
    """The tree for people, the oldest checkpoint first; a fork stands beside what went on later."""
    short = short_ids(node.id for node in tree.nodes.values())
    drawn = [*_drawn(tree)]
    width = max(len(guide) + len(short[node.id]) for guide, node in drawn if node is not None)
    lines = [_head(tree), "", f"{'step':>4} {'checkpoint':{width}} {_columns('wrote', 'source')}"]
    for guide, node in drawn:
        if node is None:
            lines.append(f"     {guide}")
            continue
        step = "" if node.step is None else node.step
        row = _columns(
            ", ".join(node.wrote) or ("?" if node.source == "loop" else ""),
            node.source,
            "" if node.tokens is None else f"{node.tokens:,}",
            sized(node.bytes),
            ", ".join(_marks(node)),
        )
        lines.append(f"{step:>4} {guide + short[node.id]:{width}} {row}".rstrip())
    return "\n".join(lines)


def changes_as_dict(changes: Iterable[ChannelChange]) -> list[dict[str, Any]]:
    """The difference for machines; values as Python writes them."""
    return [_with_texts(each) for each in changes]


def changes_as_text(changes: Sequence[ChannelChange]) -> str:
    """The difference for people: `+` is in the second checkpoint alone, `-` in the first."""
    return "\n".join(chain.from_iterable(map(_channel, changes))) or "The same in all channels."


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """The ids of a thread, each as short as it is still the only one that begins so."""
    known = sorted({*ids})
    longest = max(map(len, known), default=0)
    for size in range(_LEAST_ID, longest):
        if len({each[:size].rstrip("-") for each in known}) == len(known):
            return {each: printable(each[:size].rstrip("-")) for each in known}
    return {each: printable(each) for each in known}


def _head(tree: ThreadTree) -> str:
    namespaces = {node.place.checkpoint_ns for node in tree.nodes.values()} - {""}
    size = sum(node.bytes for node in tree.nodes.values()) + tree.shared
    told = [
        f"thread {_name(tree.thread_id)}",
        f"graph {_name(tree.graph)}" if tree.graph else "",
        tree.status,
        f"checkpoints {len(tree.nodes):,}",
        f"forks {tree.forks():,}" if tree.forks() else "",
        f"subgraph calls {len(namespaces):,}" if namespaces else "",
        f"tokens {tree.tokens:,}",
        sized(size) + (f", {sized(tree.shared)} shared" if tree.shared else ""),
    ]
    return " · ".join(filter(None, told))


def _columns(
    wrote: str, source: str, tokens: str = "tokens", size: str = "bytes", marks: str = ""
) -> str:
    name = printable(wrote, _WROTE_CHARS)
    return f"{name:{_WROTE_CHARS}} {printable(source):6} {tokens:>7} {size:>9} {marks}".rstrip()


def _marks(node: CheckpointNode) -> Iterator[str]:
    if node.waiting:
        yield "waits for an answer"
    elif node.interrupts:
        yield "interrupt"
    if node.failed:
        yield "failed"
    if node.pending:
        yield f"{node.pending} pending"


def _drawn(tree: ThreadTree) -> Iterator[tuple[str, CheckpointNode | None]]:
    """Each checkpoint behind its guide; before the first of a namespace, the name alone."""
    below: dict[CheckpointRef | None, list[CheckpointNode]] = defaultdict(list)
    newest = {place: node.id for place, node in tree.nodes.items()}
    for node in sorted(tree.nodes.values(), key=lambda node: node.id, reverse=True):
        below[node.under].append(node)
        if node.under is not None:
            newest[node.under] = max(newest[node.under], newest[node.place])
    # A thread may be longer than Python's stack; what is drawn next is at the end of this one.
    stack = [("", node, False) for node in below[None]]
    while stack:
        guide, node, is_branch = stack.pop()
        namespace, mark = node.place.checkpoint_ns, "├ " if is_branch else ""
        if is_branch and node.under is not None and namespace != node.under.checkpoint_ns:
            yield f"{guide}├ {printable(_call(namespace))}", None
            mark = "│ "
        yield f"{guide}{mark}● ", node
        inner = f"{guide}│ " if is_branch else guide
        ahead = sorted(below[node.place], key=lambda each: newest[each.place])
        same = [each for each in ahead if each.place.checkpoint_ns == namespace]
        calls = [each for each in ahead if each.place.checkpoint_ns != namespace]
        stack += [(inner, each, False) for each in same[-1:]]
        stack += [(inner, each, True) for each in reversed((*calls, *same[:-1]))]


def _call(namespace: str) -> str:
    """The call of a subgraph, with as much of the task's id as is shown of others."""
    task, *numbers = around(namespace)[1].split(NS_SEP)
    name, *ids = task.split(":", 1)
    return NS_SEP.join((":".join((name, *(id_[:_LEAST_ID] for id_ in ids))), *numbers))


def _channel(change: ChannelChange) -> Iterator[str]:
    sign = _SIGNS[change.how]
    yield f"{sign} {_name(change.name)}: {change.kind}, {_sizes(change.sizes)}"
    for each in change.messages or ():
        named = printable(f"{each.type} {each.id}")
        yield f"    {_SIGNS[each.how]} {named}, {_sizes(each.sizes)}"
        yield from _values("        ", each)
    yield from _values("    ", change)


def _values(indent: str, change: ChannelChange | MessageChange) -> Iterator[str]:
    for sign, size, value in zip("-+", change.sizes, change.values or (), strict=False):
        if size is not None:
            yield f"{indent}{sign} {printable(_text(value), _VALUE_CHARS)}"


def _sizes(sizes: tuple[int | None, int | None]) -> str:
    return " → ".join(sized(size) for size in sizes if size is not None)


def _with_texts(change: ChannelChange | MessageChange) -> dict[str, Any]:
    found = change._asdict()
    if (values := found.pop("values")) is not None:
        pairs = zip(change.sizes, values, strict=True)
        found["values"] = [None if size is None else _text(value) for size, value in pairs]
    if isinstance(change, ChannelChange) and change.messages is not None:
        found["messages"] = [_with_texts(each) for each in change.messages]
    return found


def _text(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _place(place: CheckpointRef | None) -> dict[str, Any] | None:
    return place and {"checkpoint_ns": place.checkpoint_ns, "checkpoint_id": place.checkpoint_id}


def _name(text: str) -> str:
    return printable(text, _NAME_CHARS)
