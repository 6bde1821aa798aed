"""Copies threads into another database, of the same kind or not; the source is only read.

A thread is copied whole, in one transaction. What is there already is passed over: whoever is
killed goes on where he was.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from langgraph_once.checkpoint.database import Program, run_all
from langgraph_once.checkpoint.found import FoundCheckpoints
from langgraph_once.checkpoint.moving.cells import Progress, Source, Trouble, why
from langgraph_once.checkpoint.pieces.piece_manifest import CutValue
from langgraph_once.checkpoint.saver import OnceSaver
from langgraph_once.checkpoint.stored import CheckpointRef, StoredCheckpoint, bound
from langgraph_once.checkpoint.tables import NewCheckpoint, Query
from langgraph_once.errors import SerdeError, StorageError

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
    reader, writer = Source(source), Source(target)
    for thread_id in reader.each_thread(progress):
        copy = _Copy(reader, writer, thread_id)
        try:
            missing = copy.missing()
            if missing:
                target.engine.run(copy.put(missing), writes=True)
        except (SerdeError, StorageError, TypeError, ValueError) as error:
            writer.run(writer.tables.has_own())  # does it answer?
            reason = "; ".join((why(error), *getattr(error, "__notes__", ())))
            done.troubles.append(Trouble(thread_id, problem=reason))
        else:
            done.threads += bool(missing)
            done.skipped += not missing
            done.checkpoints += len(missing)
    return done


class _Copy:
    """Copies a thread."""

    def __init__(self, source: Source, target: Source, thread_id: str) -> None:
        self._source = source
        self._target = target
        self._writer = target.threads
        self._id = thread_id
        self._stored: set[tuple[str, str, str]] = set()

    def missing(self) -> set[CheckpointRef]:
        """The checkpoints that the target lacks, or that have more there than here.

        Raises:
            StorageError: It has others: both went on.
        """
        here = self._source.run(_contents(self._source, self._id))
        there = self._target.run(_contents(self._target, self._id))
        if there.keys() - here.keys():
            raise StorageError(
                "the other database has checkpoints of it that are not here; delete the thread in "
                "one of the two",
                path="",
            )
        return {
            place for place, rows in here.items() if place not in there or not rows <= there[place]
        }

    def put(self, missing: set[CheckpointRef]) -> Program[None]:
        """Store checkpoints of the source, with all that is on them."""
        source, threads = self._source, self._source.threads
        yield from run_all(self._writer.tables.lock(self._id, alone=True))
        runs = source.run(source.tables.runs(self._id)) if source.has_own else {}
        config: Any = {"configurable": {"thread_id": self._id}}
        for page in threads.pages(Query(config), size=_PAGE):
            found = source.run(page)
            for stored in found.checkpoints:
                if stored.place in missing:
                    yield from self._put(found, stored, runs)
        graphs = (
            {CheckpointRef.of_thread(*place[:2]) for place in missing} if source.has_own else set()
        )
        for place in sorted(graphs):
            ledger = source.run(threads.load_stream_state(place))
            if ledger is not None:
                yield from self._writer.save_stream_state(place, ledger.ledger())

    def _put(
        self, found: FoundCheckpoints, stored: StoredCheckpoint, runs: dict[tuple[Any, ...], str]
    ) -> Program[None]:
        place = stored.place
        values = {
            name: found.decoded(value, place, f"channel {name!r}")
            for name, value in stored.values.items()
        }
        versions = stored.checkpoint["channel_versions"]
        known = values.keys() & versions.keys()
        keys = {name: (place.checkpoint_ns, name, str(versions[name])) for name in known}
        news = {name: versions[name] for name, key in keys.items() if key not in self._stored}
        self._stored.update(keys.values())
        checkpoint: Any = {**stored.checkpoint, "channel_values": values}
        run_id = runs.get(place[1:], stored.metadata.get("run_id"))
        new = NewCheckpoint(place, stored.parent_id, checkpoint, stored.metadata, news, run_id)
        cuts: list[CutValue] = []
        statements = self._writer.tables.put(new, cuts)
        for write in stored.writes:
            path, task_id, position, channel, value = write
            key = (*place[1:], task_id, position)
            decoded = found.decoded(value, place, "write", write[:4])
            bound_to = bound("write", self._id, key, channel)
            cell = self._writer.values.cell(decoded, cuts, bound_to)
            row = (task_id, position, path, channel, *cell)
            put_writes = self._writer.tables.put_writes
            statements.append(put_writes(place, [row], runs.get(key), replaces=True))
        yield from self._writer.store(self._id, cuts, statements)


def _contents(source: Source, thread_id: str) -> Program[dict[CheckpointRef, set[tuple[Any, ...]]]]:
    """The checkpoints of a thread, each with the keys of what is on it."""
    places = yield from source.tables.places(thread_id)
    found: dict[CheckpointRef, set[tuple[Any, ...]]] = {place: set() for place in places}
    for table, some in (yield from source.batches(thread_id)):
        for at in some:
            place = CheckpointRef(thread_id, *at.key[:2])
            if table.holds in ("write", "ledger") and place in found:
                found[place].add((table.holds, *at.key[2:]))
    return found
