"""What a saver does with threads, as programs: the same for both databases.

`Threads` has one for each operation. What pruning deletes, the functions behind it decide.
"""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from time import perf_counter_ns
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    Checkpoint,
    CheckpointMetadata,
    get_checkpoint_metadata,
)

from langgraph_once.checkpoint.all_rows import MOST_METADATA
from langgraph_once.checkpoint.cut import Piece
from langgraph_once.checkpoint.database import Program, Statement, batches, run_all
from langgraph_once.checkpoint.metadata import COUNTERS, SEALED, moved, opened_metadata
from langgraph_once.checkpoint.pieces import Cell, CutValue, Missing
from langgraph_once.checkpoint.stored import (
    CheckpointRef,
    FoundCheckpoints,
    History,
    Naming,
    StoredCheckpoint,
    as_stored,
    bound,
    first_id_at,
)
from langgraph_once.checkpoint.tables import NewCheckpoint, Query, Tables
from langgraph_once.errors import SerdeError, printable
from langgraph_once.metrics import storage
from langgraph_once.serde import may_be_bound

logger = logging.getLogger(__name__)

_SETTLED: Final = timedelta(minutes=5)
"""A checkpoint that is not stored this long after it was made will not be."""
CALL: Final = ":"
"""Stands in the namespace of a subgraph's call; a subgraph that remembers its calls has none."""
_FORKS: Final = frozenset({"update", "fork"})
"""Sources of checkpoints whose replay shows a subgraph as it was before their parent."""
_MOST_CELLS: Final = 50
"""How many cells are bound anew at once: each may be large."""
_PAGE: Final = 50
"""How many checkpoints are listed by one statement."""


class Threads:
    """Programs for one database.

    Args:
        tables: Its statements.
    """

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.values = tables.values

    def get(self, place: CheckpointRef) -> Program[FoundCheckpoints]:
        """The checkpoint at a place, with all it needs to be decoded."""
        found = FoundCheckpoints(self.values, place.thread_id)
        stored = yield from self.tables.find_alone(place, found.assembly)
        if stored is not None:
            found.checkpoints.append(stored)
            manifests = found.manifests()
            yield from self.tables.collect(place.thread_id, manifests, found.assembly, alone=True)
            if not found.assembly.wanted():
                return found
            # Some were deleted meanwhile, or long ago.
            found = FoundCheckpoints(self.values, place.thread_id)
        stored = yield from self.tables.find(place)
        if stored is not None:
            found.checkpoints.append(stored)
            yield from self.tables.collect(place.thread_id, found.manifests(), found.assembly)
        return found

    def pages(
        self, query: Query, *, limit: int | None = None, size: int = _PAGE
    ) -> Iterator[Program[FoundCheckpoints]]:
        """The checkpoints that match, newest first: a program for each page of them.

        Each must have run before the next is asked for. The pieces of a page serve the next ones.

        Args:
            query: Which checkpoints.
            limit: How many at most; all if None, or if it is negative, as in SQLite.
            size: How many a page has.
        """
        found = FoundCheckpoints(self.values)
        left = None if limit is None or limit < 0 else limit
        while left is None or left > 0:
            wanted = size if left is None else min(left, size)
            yield self._page(query, found, wanted)
            if len(found.checkpoints) < wanted:
                return
            left = None if left is None else left - wanted

    def _page(self, query: Query, found: FoundCheckpoints, limit: int) -> Program[FoundCheckpoints]:
        """The checkpoints that come after those found, which they take the place of."""
        after = found.checkpoints[-1].place if found.checkpoints else None
        if query.filter and self.values.encrypts:
            places = yield from self._matching(query, query.filter, after, limit)
            found.checkpoints = yield from self.tables.at(places)
        else:
            found.checkpoints = yield from self.tables.page(query, after, limit)
        for thread_id in {stored.place.thread_id for stored in found.checkpoints}:
            of_thread = FoundCheckpoints(self.values)
            of_thread.checkpoints = [
                stored for stored in found.checkpoints if stored.place.thread_id == thread_id
            ]
            yield from self.tables.collect(thread_id, of_thread.manifests(), found.assembly)
        return found

    def _matching(
        self, query: Query, wanted: dict[str, Any], after: CheckpointRef | None, limit: int
    ) -> Program[list[CheckpointRef]]:
        """Where the checkpoints of the next page are; what is encrypted is compared here.

        No values are read for that, and of metadata only some at a time.
        """
        found: list[CheckpointRef] = []
        while True:
            rows = yield from self.tables.candidates(query, after, MOST_METADATA)
            for after, known in rows:
                if SEALED not in known or self.tables.matches(
                    opened_metadata(self.values, after, known), wanted
                ):
                    found.append(after)
                    if len(found) == limit:
                        return found
            if len(rows) < MOST_METADATA:
                return found

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        versions: Mapping[str, Any],
    ) -> Program[None]:
        """Store a checkpoint."""
        thread_id, checkpoint_ns, parent_id = self.tables.place(config)
        place = CheckpointRef(thread_id, checkpoint_ns, checkpoint["id"])
        cuts: list[CutValue] = []
        known = get_checkpoint_metadata(config, metadata)
        new = NewCheckpoint(place, parent_id, checkpoint, known, versions, run_id(config, known))
        began = perf_counter_ns()
        statements = self.tables.put(new, cuts)
        _count_write(began)
        return self.store(thread_id, cuts, statements)

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str,
    ) -> Program[None]:
        """Store the writes of a task."""
        place = self.tables.place(config)
        cuts: list[CutValue] = []
        rows = []
        replaces = True
        began = perf_counter_ns()
        for position, (channel, value) in enumerate(writes):
            index = WRITES_IDX_MAP.get(channel)
            if index is None:
                index, replaces = position, False
            at = bound("write", place.thread_id, (*place[1:], task_id, index), channel)
            cell = self.values.cell(as_stored(channel, value), cuts, at)
            rows.append((task_id, index, task_path, channel, *cell))
        _count_write(began)
        statement = self.tables.put_writes(place, rows, run_id(config, {}), replaces=replaces)
        return self.store(place.thread_id, cuts, [statement])

    def delete_threads(self, thread_ids: Iterable[str]) -> Program[None]:
        """Delete all that threads have."""
        ids = sorted(set(thread_ids))
        for thread_id in ids:
            yield from run_all(self.tables.lock(thread_id, alone=True))
        yield from self.tables.delete_threads(ids)

    def delete_for_runs(self, run_ids: Sequence[str]) -> Program[None]:
        """Delete what runs stored."""
        found = yield from self.tables.of_runs(run_ids)
        threads = {row[0] for row in found} | (yield from self.tables.written_by_runs(run_ids))
        for thread_id in sorted(threads):
            yield from run_all(self.tables.lock(thread_id, alone=True))
        found = yield from self.tables.of_runs(run_ids)  # what was stored until then, too
        yield from self.tables.drop_writes_of_runs(run_ids)
        for thread_id, checkpoint_ns in {row[:2] for row in found}:
            ids = [row[2] for row in found if row[:2] == (thread_id, checkpoint_ns)]
            yield from self.tables.drop(thread_id, checkpoint_ns, ids)
        for thread_id in sorted(threads):
            yield from sweep(self.tables, thread_id)

    def copy(self, source: str, target: str) -> Program[None]:
        """Make one thread a copy of another."""
        if source == target:
            return
        for thread_id in sorted((source, target)):
            yield from run_all(self.tables.lock(thread_id, alone=True))
        if not (yield from self.tables.ids(source)):
            return
        yield from self.tables.delete_threads([target])
        yield from run_all(self.tables.copy(source, target))
        yield from self._bind_anew(source, target)

    def _bind_anew(self, source: str, target: str) -> Program[None]:
        """Bind copied cells, which are still bound to the rows of the source, to their own."""
        for table, some in (yield from self.tables.cell_batches(target, _MOST_CELLS, ("empty",))):
            sealed = [one for one in some if may_be_bound(one.tag)]
            news = {}
            cells = (yield from self.tables.cells(table, target, sealed)) if sealed else {}
            for one in sealed:
                old, new = table.bound_to(source, one), table.bound_to(target, one)
                with Naming(CheckpointRef(source, *one.key[:2]), table.holds, one.key):
                    cell = self.values.moved(cells[one.key], old, new)
                if cell is not None:
                    news[one.key] = cell
            if news:
                yield self.tables.replace(table, target, news)

        def bind(place: CheckpointRef, known: dict[str, Any]) -> Mapping[str, Any] | None:
            return moved(self.values, place._replace(thread_id=source), place, known)

        yield from self.tables.change_metadata(target, bind)

    def prune(
        self, thread_ids: Sequence[str], strategy: str, count: int, older_than: datetime | None
    ) -> list[Program[None]]:
        """One for each transaction that pruning takes."""
        if isinstance(thread_ids, str):
            raise TypeError("thread_ids must be a list of thread ids, not a str")
        ids = [str(thread_id) for thread_id in thread_ids]
        if strategy in ("delete", "delete_all"):
            return [self.delete_threads(some) for some in batches(ids)]
        if strategy != "keep_latest":
            msg = f"strategy {strategy!r}: allowed are 'keep_latest', 'delete' and 'delete_all'"
            raise ValueError(msg)
        if count < 1:
            raise ValueError(f"keep_last {count}: at least 1; strategy 'delete' keeps nothing")
        before = None if older_than is None else first_id_at(older_than)
        return [keep_last(self.tables, thread_id, count, before) for thread_id in ids]

    def repair(self, thread_id: str) -> Program[None]:
        """Delete what belongs to no checkpoint of a thread."""
        yield from run_all(self.tables.lock(thread_id, alone=True))
        yield from sweep(self.tables, thread_id)

    def delta_history(self, place: CheckpointRef, channels: Sequence[str]) -> Program[History]:
        """What channels are rebuilt from."""
        history = History(self.values, channels)
        if place.checkpoint_id is None and (latest := (yield from self.tables.find(place))):
            place = latest.place
        yield from self.tables.path(place, history.is_end, channels)
        places = {step: None for steps in history.paths.values() for step in steps}
        writes = yield from self.tables.writes(list(places), channels)
        history.writes.update(writes)
        yield from self.tables.collect(place.thread_id, history.manifests(), history.found.assembly)
        return history

    def load_stream_state(self, place: CheckpointRef) -> Program[FoundCheckpoints | None]:
        """The ledger of a thread: the only value of what is found."""
        cell = yield from self.tables.load_stream_state(place)
        if cell is None:
            return None
        found = FoundCheckpoints(self.values)
        found.add_ledger(place, cell)
        yield from self.tables.collect(place.thread_id, found.manifests(), found.assembly)
        return found

    def save_stream_state(self, place: CheckpointRef, data: bytes) -> Program[None]:
        """Store the ledger of a thread."""
        cuts: list[CutValue] = []
        at = bound("ledger", place.thread_id, place[1:])
        statement = self.tables.save_stream_state(place, self.values.cell(data, cuts, at))
        return self.store(place.thread_id, cuts, [statement])

    def store(
        self, thread_id: str, cuts: Sequence[CutValue], statements: Sequence[Statement]
    ) -> Program[None]:
        """Store the pieces of values that a thread lacks, then what refers to them."""
        if cuts:
            yield from self._store_cut(thread_id, Missing(cuts), statements)
            return
        whole = self.tables.at_once(thread_id, statements, None)
        if whole is None or not (yield whole):
            yield from run_all([*self.tables.lock(thread_id, alone=False), *statements])

    def _store_cut(
        self, thread_id: str, missing: Missing, statements: Sequence[Statement]
    ) -> Program[None]:
        cells = self._cells(missing.found)
        if cells:  # all other pieces are probably stored: one statement may do
            new = [self._add(thread_id, cells), *statements]
            whole = self.tables.at_once(thread_id, new, missing)
            if whole is not None and (yield whole):
                return
        yield from run_all(self.tables.lock(thread_id, alone=False))
        missing.tell((yield from self.tables.known_pieces(thread_id, missing.wanted)))
        cells |= self._cells({name: missing.found[name] for name in missing.found.keys() - cells})
        if cells:
            yield self._add(thread_id, cells)
        yield from run_all(statements)

    def _cells(self, pieces: Mapping[bytes, Piece]) -> dict[bytes, Cell]:
        began = perf_counter_ns()
        cells = {name: self.values.piece(data) for name, data in pieces.items()}
        if cells:
            storage.encode_seconds.add(perf_counter_ns() - began)
        return cells

    def _add(self, thread_id: str, cells: Mapping[bytes, Cell]) -> Statement:
        # Sorted: two that store the same pieces in another order would wait for each other.
        return self.tables.add_pieces(thread_id, sorted(cells.items()))


def _count_write(began: int) -> None:
    storage.writes += 1
    storage.encode_seconds.add(perf_counter_ns() - began)


def run_id(config: RunnableConfig, metadata: Mapping[str, Any]) -> str | None:
    """Find the run where the server looks for it, in the same order."""
    for place in (config.get("metadata"), config.get("configurable"), config, metadata):
        if place and (found := place.get("run_id")):
            return str(found)
    return None


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
