"""What pruning deletes of a thread, and what belongs to nothing any more."""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from langgraph_once.checkpoint.all_rows import MOST_METADATA
from langgraph_once.checkpoint.database import Program, batches, run_all
from langgraph_once.checkpoint.metadata import COUNTERS, opened_metadata
from langgraph_once.checkpoint.stored import CheckpointRef, StoredCheckpoint, first_id_at
from langgraph_once.checkpoint.tables import Tables
from langgraph_once.errors import SerdeError
from langgraph_once.redaction import printable

logger = logging.getLogger(__name__)

_SETTLED: Final = timedelta(minutes=5)
"""A checkpoint that is not stored this long after it was made will not be."""
CALL: Final = ":"
"""Stands in the namespace of a subgraph's call; a subgraph that remembers its calls has none."""
_FORKS: Final = frozenset({"update", "fork"})
"""Sources of checkpoints whose replay shows a subgraph as it was before their parent."""


def keep_last(tables: Tables, thread_id: str, count: int, before: str | None) -> Program[None]:
    """Delete all but the last checkpoints of each namespace, and what these are read from.

    The namespace of a subgraph's call goes with the root checkpoint that the call started from.
    A subgraph that remembers its calls also keeps what a replay of each kept root checkpoint reads.

    Args:
        tables: The database.
        thread_id: The thread.
        count: How many are kept in any case.
        before: Only checkpoints with smaller ids are deleted.
    """
    yield from run_all(tables.lock(thread_id, alone=True))
    yield from drop_all(
        tables, thread_id, (yield from dropped_of(tables, thread_id, count, before))
    )


def drop_all(tables: Tables, thread_id: str, dropped: Mapping[str, Sequence[str]]) -> Program[None]:
    """Delete checkpoints of a locked thread, by namespace, and what belongs to nothing then."""
    for checkpoint_ns, ids in dropped.items():
        yield from tables.drop(thread_id, checkpoint_ns, ids)
        yield from tables.forget_parents(thread_id, checkpoint_ns, ids)
    yield from sweep(tables, thread_id)


def dropped_of(
    tables: Tables, thread_id: str, count: int, before: str | None
) -> Program[dict[str, list[str]]]:
    """The checkpoints that `keep_last` deletes, by namespace. It is only read."""
    stored = yield from tables.ids(thread_id)
    root = CheckpointRef(thread_id, "")
    roots = yield from _kept(tables, root, stored.get("", []), count, before)
    remembering = [ns for ns in stored if ns and CALL not in ns]
    seen: set[str] = set()
    while remembering and (unseen := roots - seen):  # the parent of a fork may be one, too
        seen |= unseen
        parents = yield from _fork_parents(tables, root, unseen)
        if not parents <= roots:
            roots = yield from _kept(tables, root, stored[""], count, before, roots | parents)
    ended = yield from _ended_calls(tables, thread_id, stored, roots, before)
    dropped = {}
    for checkpoint_ns, ids in stored.items():
        kept = roots
        if checkpoint_ns in ended:
            kept = set()
        elif checkpoint_ns:
            place = CheckpointRef(thread_id, checkpoint_ns)
            replayed = _before(roots, ids) if checkpoint_ns in remembering else ()
            kept = yield from _kept(tables, place, ids, count, before, replayed)
        dropped[checkpoint_ns] = [id_ for id_ in ids if id_ not in kept]
    return dropped


def _before(roots: Iterable[str], ids: Sequence[str]) -> set[str]:
    """For each root checkpoint the one that its replay starts a subgraph from, newest first."""
    oldest_first = ids[::-1]
    places = (bisect_left(oldest_first, root) for root in roots)
    return {oldest_first[at - 1] for at in places if at}


def _fork_parents(tables: Tables, root: CheckpointRef, roots: Iterable[str]) -> Program[set[str]]:
    """The parents of those that were forked: a replay of these looks before the parent."""
    forks = []
    places = [root._replace(checkpoint_id=id_) for id_ in sorted(roots)]
    for some in batches(places, MOST_METADATA):
        for place, found in (yield from tables.metadata(some)):
            try:
                source = opened_metadata(tables.values, place, found).get("source")
            except SerdeError:  # it may be one
                source = "fork"
            if source in _FORKS:
                forks.append(place)
    return {*(yield from tables.parents(forks)).values()}


def _kept(
    tables: Tables,
    namespace: CheckpointRef,
    ids: Sequence[str],
    count: int,
    before: str | None,
    also: Container[str] = (),
) -> Program[set[str]]:
    """Which checkpoints of a namespace stay: the last, others that are named, what they need."""
    here = namespace[:2]
    last = [
        id_ for at, id_ in enumerate(ids) if at < count or id_ in also or (before and id_ >= before)
    ]
    kept = {*last, *(yield from tables.senders(*here, last))}
    if (yield from tables.has_deltas(*here)):
        for id_ in sorted(kept):
            kept.update((yield from _needed(tables, namespace._replace(checkpoint_id=id_))))
    return kept


def _ended_calls(
    tables: Tables,
    thread_id: str,
    stored: Mapping[str, Sequence[str]],
    roots: set[str],
    before: str | None,
) -> Program[set[str]]:
    """The namespaces of calls that no kept checkpoint of the root started.

    A call may be stored before the root checkpoint that it started from. That one is then newer
    than all that are stored.
    """
    newest = max(stored.get("", []), default="")
    heads = [
        CheckpointRef(thread_id, checkpoint_ns, ids[0])
        for checkpoint_ns, ids in stored.items()
        if CALL in checkpoint_ns and (before is None or ids[0] < before)
    ]
    ended = set()
    for places in batches(heads, MOST_METADATA):
        for place, found in (yield from tables.metadata(places)):
            try:
                root = (opened_metadata(tables.values, place, found).get("parents") or {}).get("")
            except SerdeError as error:  # it may be of any
                logger.warning("A call of thread %s was kept: %s", printable(thread_id), error)
                continue
            if isinstance(root, str) and root not in roots and root < newest:
                ended.add(place.checkpoint_ns)
    return ended


def _needed(tables: Tables, place: CheckpointRef) -> Program[list[str]]:
    """The checkpoints that reading one depends on.

    Most stand alone. A `DeltaChannel` is rebuilt from the writes of the ancestors, back to the
    nearest one that stores it (a snapshot, or a plain value from before the channel became a
    delta channel). Without that one it reads as empty, and nothing says so.
    """
    path: list[StoredCheckpoint] = []

    def note(stored: StoredCheckpoint) -> bool:
        path.append(stored._replace(values=dict.fromkeys(stored.values)))
        return False

    yield from tables.path(place, note)
    # The names of the whole path, not of its head alone: a graph without the channel may have
    # run last, and the one that has it may run next.
    deltas = {name for stored in path for name in stored.metadata.get(COUNTERS) or ()}
    # A channel without a version was never written: it is empty by right.
    missing = deltas & path[0].checkpoint["channel_versions"].keys() if path else set()
    needed = []
    for stored in path:
        needed.append(str(stored.place.checkpoint_id))
        missing = missing - stored.values.keys()
        if not missing:
            break
    return needed


def sweep(tables: Tables, thread_id: str) -> Program[None]:
    """Delete what belongs to no checkpoint, and pieces that nothing refers to."""
    if not (yield from tables.sees_all()):
        return
    values = tables.values
    yield from run_all(tables.drop_orphans(thread_id, settled_before()))
    yield from tables.drop_unread(thread_id)
    if not tables.own:
        return
    cells = yield from tables.manifest_cells(thread_id)
    assembly = values.assembly(groups_only=True)
    try:
        manifests = [found for cell in cells for found in values.manifests(*cell)]
        yield from tables.collect(thread_id, manifests, assembly)
        kept = assembly.all_of(manifests)
    except SerdeError as error:  # it may refer to any
        logger.warning("No piece of thread %s was deleted: %s", printable(thread_id), error)
        return
    yield from tables.keep_pieces(thread_id, kept)


def settled_before() -> str:
    """An id: a smaller one, if its checkpoint is not stored by now, is that of none."""
    return first_id_at(datetime.now(UTC) - _SETTLED)
