"""`langgraph-once verify`: all that a database holds, checked."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import click

from langgraph_once.checkpoint import (
    COUNTERS,
    Cell,
    CheckpointRef,
    OnceSaver,
    Program,
    Progress,
    ReadCell,
    Source,
    StoredCheckpoint,
    Trouble,
    Values,
    as_upstream,
    batches,
    opened_metadata,
    reading,
    settled_before,
    why,
)
from langgraph_once.commands import (
    Database,
    config_option,
    database_of,
    database_option,
    json_option,
    tell,
)
from langgraph_once.errors import PayloadError, SerdeError, StorageError
from langgraph_once.serde import OnceSerializer
from langgraph_once_ops.progress import progress_bar
from langgraph_once_ops.validate import validate_tuple, validate_write

_MOST_ALIKE: Final = 10
"""So many findings of one kind have a line each."""


@click.command("verify", short_help="Check all that a database holds.")
@database_option
@json_option
@click.option(
    "--repair",
    "repairs",
    is_flag=True,
    help="Then delete writes on checkpoints that are not there, and check again.",
)
@config_option
def verify_command(database: str | None, for_machines: bool, repairs: bool, config: str) -> None:
    """Check all that a database holds; exit code 1 if something is damaged.

    Nothing is written without --repair, and no value or key is printed; the server may be running.

    \b
    Examples:
      langgraph-once verify
      langgraph-once verify --database threads.sqlite --json
      langgraph-once verify --repair
    """
    checked = database_of(config, database)
    verdict = _verified(checked)
    if repairs and verdict.orphaned:
        with checked.to_write() as saver:
            repair(saver, verdict.orphaned)
        verdict = _verified(checked)
    tell(_as_json(verdict) if for_machines else _as_text(verdict))
    if verdict.troubles:
        sys.exit(1)


def _verified(database: Database) -> Verdict:
    with database.to_read() as saver, progress_bar() as progress:
        return verify(saver, database.serde, progress=progress)


def _as_text(verdict: Verdict) -> str:
    summary = (
        f"{verdict.threads} threads, {verdict.checkpoints} checkpoints, {verdict.cells} values, "
        f"{verdict.pieces} pieces: "
    )
    count = len(verdict.troubles)
    lines = [*_told(verdict.troubles)]
    if verdict.orphaned:
        lines.append("`--repair` deletes writes on checkpoints that are not there.")
    return "\n".join([*lines, summary + (f"{count} findings" if count else "sound")])


def _told(troubles: list[Trouble]) -> Iterator[str]:
    """A line for each; one alone where many say the same, as without a key."""
    times = Counter(trouble.problem for trouble in troubles)
    summed: set[str] = set()
    for trouble in troubles:
        if (count := times[problem := trouble.problem]) <= _MOST_ALIKE:
            yield str(trouble)
        elif problem not in summed:
            summed.add(problem)
            yield f"{trouble}; {count - 1} more say the same, which --json lists"


def _as_json(verdict: Verdict) -> str:
    counts = {
        name: getattr(verdict, name) for name in ("threads", "checkpoints", "cells", "pieces")
    }
    findings = [trouble._asdict() for trouble in verdict.troubles]
    return json.dumps({**counts, "findings": findings}, indent=2)


@dataclass
class Verdict:
    """What was found."""

    threads: int = 0
    checkpoints: int = 0
    cells: int = 0
    """Values, writes and ledgers."""
    pieces: int = 0
    troubles: list[Trouble] = field(default_factory=list)
    orphaned: set[str] = field(default_factory=set)
    """Threads with writes on checkpoints that are not there, which `repair` deletes."""

    def add(self, other: Verdict) -> None:
        """Take what was found in another thread."""
        self.threads += other.threads
        self.checkpoints += other.checkpoints
        self.cells += other.cells
        self.pieces += other.pieces
        self.troubles += other.troubles
        self.orphaned |= other.orphaned


def verify(saver: OnceSaver, serde: OnceSerializer, *, progress: Progress | None = None) -> Verdict:
    """Check all threads of a database.

    Args:
        saver: The database, as `Backend.open_to_read` opens it.
        serde: Reads what is stored.
        progress: Is told how far it is.

    Raises:
        StorageError: The database cannot be read.
    """
    source = Source(saver, Values(reading(serde)))
    verdict, upstream = Verdict(), as_upstream(serde)
    for thread_id in source.each_thread(progress):
        verdict.add(_checked(source, thread_id, upstream))
    return verdict


def _checked(source: Source, thread_id: str, upstream: OnceSerializer) -> Verdict:
    """What is found in a thread; that it cannot be read is a finding, too."""
    check = _Check(source, thread_id, upstream)
    try:
        for part in (check.checkpoints, check.cells, check.pieces):
            source.run(part())
    except StorageError as error:
        check.verdict.troubles.append(Trouble(thread_id, problem=str(error)))
    return check.verdict


def repair(saver: OnceSaver, thread_ids: Iterable[str]) -> None:
    """Delete what belongs to no checkpoint of threads, each in a transaction of its own.

    Args:
        saver: The database, as `open_saver` opens it.
        thread_ids: The threads, as `Verdict.orphaned` names them.

    Raises:
        StorageError: The database cannot do it.
    """
    for thread_id in sorted(thread_ids):
        saver.engine.run(saver.threads.repair(thread_id), writes=True)


class _Check:
    """Looks for what is wrong with a thread."""

    def __init__(self, source: Source, thread_id: str, upstream: OnceSerializer) -> None:
        self._source, self._upstream = source, upstream
        self._tables = source.tables
        self._id = thread_id
        self.verdict = Verdict(threads=1)

    def checkpoints(self) -> Program[None]:
        """Those that are stored: what they say of themselves, and the writes on them."""
        known = yield from self._tables.ids(self._id)
        for checkpoint_ns, ids in known.items():
            paths = _Paths()
            for id_ in ids[::-1]:  # parents come first
                self.verdict.checkpoints += 1
                yield from self._checkpoint(CheckpointRef(self._id, checkpoint_ns, id_), paths)
        if not (yield from self._tables.sees_all()):
            return
        # Younger ones may be of a step whose checkpoint is still to be stored.
        for *place, channel in (
            yield from self._tables.orphaned_writes(self._id, settled_before())
        ):
            self.verdict.orphaned.add(self._id)
            self._add(*place, channel, "it was written on a checkpoint that is not there")

    def _checkpoint(self, place: CheckpointRef, paths: _Paths) -> Program[None]:
        paths.meet(place.checkpoint_id)
        try:
            stored = yield from self._tables.find(place)
        except SerdeError:  # of the metadata, or of a cell, which `cells` names
            yield from self._metadata(place)
            return
        except Exception as error:  # of what the row says; those of the database pass us by
            self._add(*place[1:], None, f"it cannot be read: {why(error)}")
            return
        if stored is not None:
            for problem in _problems(stored):
                self._add(*place[1:], None, problem)
            gap = "it is rebuilt from checkpoints before it, of which one is not there"
            for channel in paths.broken(stored):
                self._add(*place[1:], channel, gap)

    def _metadata(self, place: CheckpointRef) -> Program[None]:
        for _, found in (yield from self._tables.metadata([place])):
            try:
                opened_metadata(self._tables.values, place, found)
            except SerdeError as error:
                self._add(*place[1:], None, f"metadata: {why(error)}")

    def cells(self) -> Program[None]:
        """All that stands in rows: it is decoded."""
        for batch in (yield from self._source.batches(self._id)):
            for read in (yield from self._source.open(self._id, batch)):
                self.verdict.cells += 1
                broken = read.decoded().broken
                for channel, error in broken.items():
                    trouble = yield from self._source.trouble(self._id, read, channel, error)
                    self.verdict.troubles.append(trouble)
                if not broken:
                    yield from self._misread(read)

    def _misread(self, read: ReadCell) -> Program[None]:
        for channel in read.misread(self._upstream):
            error = PayloadError("it is not read as LangGraph's serializer wrote it", tag="msgpack")
            trouble = yield from self._source.trouble(self._id, read, channel, error)
            self.verdict.troubles.append(trouble)

    def pieces(self) -> Program[None]:
        """All pieces, also those that nothing refers to: a new value may."""
        if not self._source.has_own:
            return
        assembly = self._tables.values.assembly()
        for some in batches((yield from self._tables.piece_names(self._id))):
            wanted = dict.fromkeys(some, 0)
            for digest, tag, data in (yield from self._tables.load_pieces(self._id, wanted)):
                self.verdict.pieces += 1
                try:
                    assembly.check(digest, Cell(tag, data))
                except Exception as error:
                    self._add(None, None, None, f"piece {digest.hex()}: {why(error)}")

    def _add(self, *found: Any) -> None:
        self.verdict.troubles.append(Trouble(self._id, *found))


class _Paths:
    """Of the checkpoints of a namespace: which can be rebuilt?"""

    def __init__(self) -> None:
        self._deltas: set[str] = set()
        self._broken: dict[str | None, set[str]] = {}

    def meet(self, checkpoint_id: str | None) -> None:
        """Take note of a checkpoint that is there; it may turn out to be damaged."""
        self._broken[checkpoint_id] = set()

    def broken(self, stored: StoredCheckpoint) -> set[str]:
        """The delta channels of the next checkpoint that lack what they are rebuilt from."""
        counted = set(stored.metadata.get(COUNTERS) or ())
        self._deltas |= counted
        broken: set[str] = set()
        if stored.parent_id is not None:  # of one that is not there, nothing is known
            broken = self._broken.get(stored.parent_id, self._deltas) - stored.values.keys()
        self._broken[stored.place.checkpoint_id] = broken
        versions: dict[str, Any] = stored.checkpoint["channel_versions"]
        return broken & counted & versions.keys()


def _problems(stored: StoredCheckpoint) -> Iterator[str]:
    writes = [(write.task_id, write.channel, None) for write in stored.writes]
    yield from map(str, validate_tuple(stored.as_tuple(stored.values, writes)))
    for write in stored.writes:
        for finding in validate_write(write.channel, write.position):
            yield f"write of task {write.task_id}: {finding}"
