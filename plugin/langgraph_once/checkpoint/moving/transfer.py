"""Copies threads into another database, of the same kind or not; the source is only read.

A thread is copied whole, in one transaction. What is there already is passed over: whoever is
killed goes on where he was.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from langgraph_once.checkpoint.database import Program, run_all
from langgraph_once.checkpoint.found import Found
from langgraph_once.checkpoint.moving.cells import Progress, Trouble, all_threads, why
from langgraph_once.checkpoint.pieces.manifest import CutValue
from langgraph_once.checkpoint.saver import OnceSaver
from langgraph_once.checkpoint.stored import CheckpointRef, StoredCheckpoint, bound
from langgraph_once.checkpoint.tables import NewCheckpoint, Query
from langgraph_once.checkpoint.threads import Threads
from langgraph_once.errors import SerdeError, StorageError

__all__ = ["Transfer", "transfer"]

_PAGE: Final = 20
"""How many checkpoints are in memory, with all that is on them."""


@dataclass
class Transfer:
    """What was copied."""

    threads: int = 0
    checkpoints: int = 0
    skipped: int = 0
    """Threads that were there whole."""
    troubles: list[Trouble] = field(default_factory=list)
    """Why threads were not copied."""


def transfer(source: OnceSaver, target: OnceSaver, *, progress: Progress | None = None) -> Transfer:
    """Copy all threads: checkpoints, writes and ledgers.

    Args:
        source: Is only read; a server may be using it. What it stores after a thread was copied
            is copied by the next call.
        target: Where the threads are to be.
        progress: Is told how far it is.

    Raises:
        StorageError: A database cannot do it; what was copied stays.
    """
    done = Transfer()
    for thread_id in all_threads(source, source.threads, progress):
        copy = _Copy(source, target, thread_id)
        try:
            missing = copy.missing()
            if missing:
                target.engine.run(copy.put(missing), writes=True)
        except (SerdeError, StorageError, TypeError, ValueError) as error:
            target.engine.run(target.threads.tables.has_own(), writes=False)  # does it answer?
            done.troubles.append(Trouble(thread_id, None, None, None, _reason(error)))
        else:
            done.threads += bool(missing)
            done.skipped += not missing
            done.checkpoints += len(missing)
    return done


class _GoneOnError(ValueError):
    pass


def _reason(error: Exception) -> str:
    if isinstance(error, _GoneOnError):
        return str(error)
    notes = getattr(error, "__notes__", ())
    return "; ".join((why(error), *notes))


class _Copy:
    """Copies a thread."""

    def __init__(self, source: OnceSaver, target: OnceSaver, thread_id: str) -> None:
        self._source = source
        self._reader = source.threads
        self._writer = target.threads
        self._target = target
        self._id = thread_id
        self._stored: set[tuple[str, str, str]] = set()
        self._has_own = self._ask(self._reader.tables.has_own())

    def missing(self) -> set[CheckpointRef]:
        """The checkpoints that the target lacks, or that have more there than here.

        Raises:
            ValueError: It has others: both went on.
        """
        here = self._ask(_contents(self._reader, self._id, has_own=self._has_own))
        there = self._target.engine.run(_contents(self._writer, self._id), writes=False)
        if there.keys() - here.keys():
            raise _GoneOnError(
                "the other database has checkpoints of it that are not here; delete the thread in "
                "one of the two"
            )
        return {place for place, rows in here.items() if not rows <= there.get(place, set())}

    def put(self, missing: set[CheckpointRef]) -> Program[None]:
        """Store checkpoints of the source, with all that is on them."""
        tables = self._writer.tables
        yield from run_all(tables.lock(self._id, alone=True))
        runs = self._ask(self._reader.tables.runs(self._id)) if self._has_own else {}
        config: Any = {"configurable": {"thread_id": self._id}}
        for page in self._reader.pages(Query(config), size=_PAGE):
            found: Found = self._ask(page)
            for stored in found.checkpoints:
                if stored.place in missing:
                    yield from self._put(found, stored, runs)
        for place in sorted(missing):
            if self._has_own and (ledger := self._ledger(place)) is not None:
                yield from self._writer.save_stream_state(place, ledger)

    def _put(
        self, found: Found, stored: StoredCheckpoint, runs: dict[tuple[Any, ...], str]
    ) -> Program[None]:
        place = stored.place
        values = {
            name: found.decoded(value, place, f"channel {name!r}")
            for name, value in stored.values.items()
        }
        versions = stored.checkpoint["channel_versions"]
        news = {}
        for name in values.keys() & versions.keys():
            at = (place.checkpoint_ns, name, str(versions[name]))
            if at not in self._stored:
                self._stored.add(at)
                news[name] = versions[name]
        checkpoint: Any = {**stored.checkpoint, "channel_values": values}
        run_id = runs.get(place[1:], stored.metadata.get("run_id"))
        new = NewCheckpoint(place, stored.parent_id, checkpoint, stored.metadata, news, run_id)
        cuts: list[CutValue] = []
        statements = self._writer.tables.put(new, cuts)
        by_run: dict[str | None, list[Any]] = {}
        for write in stored.writes:
            path, task_id, position, channel, value = write
            decoded = found.decoded(value, place, "write", write[:4])
            bound_to = bound("write", self._id, (*place[1:], task_id, position), channel)
            cell = self._writer.values.cell(decoded, cuts, bound_to)
            row = (task_id, position, path, channel, *cell)
            by_run.setdefault(runs.get((*place[1:], task_id, position)), []).append(row)
        statements += [
            self._writer.tables.put_writes(place, rows, run_id, replaces=True)
            for run_id, rows in by_run.items()
        ]
        yield from self._writer.store(self._id, cuts, statements)

    def _ledger(self, place: CheckpointRef) -> bytes | None:
        found: Found | None = self._ask(self._reader.load_stream_state(place))
        return None if found is None else found.ledger()

    def _ask(self, program: Program[Any]) -> Any:
        return self._source.engine.run(program, writes=False)


def _contents(
    threads: Threads, thread_id: str, *, has_own: bool = True
) -> Program[dict[CheckpointRef, set[tuple[Any, ...]]]]:
    """The checkpoints of a thread, each with the keys of what is on it."""
    found: dict[CheckpointRef, set[tuple[Any, ...]]] = {}
    for checkpoint_ns, ids in (yield from threads.tables.ids(thread_id)).items():
        found.update(
            {CheckpointRef(thread_id, checkpoint_ns, id_): {("checkpoint",)} for id_ in ids}
        )
    for table in threads.tables.cell_tables:
        if table.holds == "write" or (table.holds == "ledger" and has_own):
            for at in (yield from threads.tables.cells_at(table, thread_id)):
                place = CheckpointRef(thread_id, *at.key[:2])
                if place in found:
                    found[place].add((table.holds, *at.key[2:]))
    return found
