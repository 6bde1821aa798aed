"""All threads of a database: which checkpoints go, by the rules, or since it is told to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from langgraph_once.checkpoint import (
    CheckpointRef,
    FoundCheckpoints,
    OnceSaver,
    Program,
    Progress,
    Tables,
    Trouble,
    drop_all,
    dropped_of,
    moment_of,
    run_all,
    told,
    why,
)
from langgraph_once.config import RetentionConfig
from langgraph_once.errors import StorageError
from langgraph_once_ops.due import status_of
from langgraph_once_ops.retention.weight import NO_WEIGHT, Weight, read_rows, weigh, weight_of


class Outgoing(NamedTuple):
    """What goes of a thread."""

    is_whole: bool
    checkpoints: Mapping[str, list[str]]
    """Their ids, by namespace."""

    def __bool__(self) -> bool:
        return any(self.checkpoints.values())


NOTHING: Final = Outgoing(False, {})


def is_older(newest: str, age: timedelta | None, now: datetime) -> bool:
    """Whether a checkpoint was made before; not if its id does not tell when it was made."""
    made = moment_of(newest)
    return age is not None and made is not None and made < now - age


def may_lose(count: int, newest: str, rules: RetentionConfig, now: datetime) -> bool:
    """Whether a rule may concern a thread of so many checkpoints, of which one is the newest."""
    return is_older(newest, rules.age, now) or 0 < rules.keep_last < count


def outgoing(
    tables: Tables, thread_id: str, rules: RetentionConfig, now: datetime
) -> Program[Outgoing]:
    """What the rules delete of a thread.

    Raises:
        SerdeError: A selector asks what its last checkpoint says, and that cannot be read.
    """
    stored = yield from tables.ids(thread_id)
    count = sum(map(len, stored.values()))
    newest = max((ids[0] for ids in stored.values()), default="")
    if not may_lose(count, newest, rules, now):
        return NOTHING
    if (rules.status or rules.metadata) and not (yield from _is_selected(tables, thread_id, rules)):
        return NOTHING
    if is_older(newest, rules.age, now):
        return Outgoing(True, stored)
    return Outgoing(False, (yield from dropped_of(tables, thread_id, rules.keep_last, None)))


def _is_selected(tables: Tables, thread_id: str, rules: RetentionConfig) -> Program[bool]:
    head = yield from tables.find(CheckpointRef(thread_id, ""))
    if head is None:  # of a subgraph alone nobody can say how it stands
        return False
    known = head.metadata
    if any(
        name not in known or _text(known[name]) != _text(value)
        for name, value in rules.metadata.items()
    ):
        return False
    if not rules.status:
        return True
    found = FoundCheckpoints(tables.values)
    found.checkpoints.append(head)
    yield from tables.collect(thread_id, found.manifests(), found.assembly)
    return any(status_of(saved.undecoded) in rules.status for saved in found.listed())


def _text(value: Any) -> str:
    """A value as a command line says it."""
    return value if isinstance(value, str) else json.dumps(value)


class Change(NamedTuple):
    """What became of a thread from which something went, or what would."""

    is_whole: bool
    checkpoints: int
    """How many went."""
    before: Weight
    after: Weight


@dataclass
class Pruned:
    """What became of a database, or what would.

    Attributes:
        threads: How many have checkpoints.
        deleted: How many of them went whole.
        shortened: From how many others something went.
        checkpoints: How many went.
        before: What the threads took from which something went.
        after: What is left of them.
        troubles: Why threads were left as they are.
    """

    threads: int = 0
    deleted: int = 0
    shortened: int = 0
    checkpoints: int = 0
    before: Weight = NO_WEIGHT
    after: Weight = NO_WEIGHT
    troubles: list[Trouble] = field(default_factory=list)

    def add(self, change: Change) -> None:
        """Count what became of a thread."""
        self.deleted += change.is_whole
        self.shortened += not change.is_whole
        self.checkpoints += change.checkpoints
        self.before = self.before.plus(*change.before)
        self.after = self.after.plus(*change.after)


class Pruner:
    """Holds the threads of a database against rules.

    Each thread is one transaction under its lock, in which it is decided what goes: whoever is
    killed left each thread as it was or as it should be, and goes on where he was. What is no
    concern of the rules is only read. Where our tables are not, none are made.

    Args:
        saver: The database.
        rules: What goes.
        now: From when on ages are counted back.

    Raises:
        StorageError: The database cannot be read, here or by a method.
    """

    def __init__(self, saver: OnceSaver, rules: RetentionConfig, now: datetime) -> None:
        self._engine = saver.engine
        self._rules = rules
        self._now = now
        self._tables = saver.tables_with(saver.threads.values)
        self._engine.run(self._tables.leave_out_missing(), writes=False)

    def threads(self) -> tuple[int, list[str]]:
        """The number of threads with checkpoints, and the ids of those that a rule may affect."""
        found = self._engine.run(self._tables.newest_by_thread(), writes=False)
        rules, now = self._rules, self._now
        return len(found), [
            name for name, count, newest in found if may_lose(count, newest, rules, now)
        ]

    def estimate(self, thread_id: str) -> Change | None:
        """What `prune` would do to a thread."""
        return self._engine.run(self._change(thread_id, is_dry=True), writes=False)

    def prune(self, thread_id: str) -> Change | None:
        """Delete of a thread what the rules say; None if that is nothing.

        Raises:
            SerdeError: A selector asks for what cannot be read.
        """
        if not self._engine.run(self._outgoing(thread_id), writes=False):
            return None
        return self._engine.run(self._change(thread_id, is_dry=False), writes=True)

    def attempt(self, thread_id: str, done: Pruned, *, is_dry: bool = False) -> None:
        """Prune a thread, and count it; of a damaged row others are none the worse."""
        try:
            change = self.estimate(thread_id) if is_dry else self.prune(thread_id)
        except StorageError:
            raise
        except Exception as error:
            done.troubles.append(Trouble(thread_id, problem=why(error)))
        else:
            if change is not None:
                done.add(change)

    def _outgoing(self, thread_id: str) -> Program[Outgoing]:
        return outgoing(self._tables, thread_id, self._rules, self._now)

    def _change(self, thread_id: str, *, is_dry: bool) -> Program[Change | None]:
        tables = self._tables
        if not is_dry:
            yield from run_all(tables.lock(thread_id, alone=True))
        found = yield from self._outgoing(thread_id)
        if not found:  # a run may have gone on with it meanwhile
            return None
        before = yield from weight_of(tables, thread_id)
        if is_dry:
            rows = yield from read_rows(tables, thread_id)
            after = before.less((yield from weigh(tables, thread_id, rows, found.checkpoints)))
        else:
            # By ids, also of a thread that goes whole: a saver without our lock may add to it.
            yield from drop_all(tables, thread_id, found.checkpoints)
            after = yield from weight_of(tables, thread_id)
        count = sum(map(len, found.checkpoints.values()))
        return Change(found.is_whole, count, before, after)


def prune(
    saver: OnceSaver,
    rules: RetentionConfig,
    *,
    is_dry: bool = False,
    progress: Progress | None = None,
    now: datetime | None = None,
) -> Pruned:
    """Delete from a database what rules say. Servers may be using it.

    Args:
        saver: The database.
        rules: What goes.
        is_dry: Whether nothing is written, and it is told what would be.
        progress: Is told how far it is.
        now: From when on ages are counted back.

    Raises:
        StorageError: The database cannot do it; what was done stays.
    """
    pruner = Pruner(saver, rules, now or datetime.now(UTC))
    done = Pruned()
    done.threads, ids = pruner.threads()
    for thread_id in told(ids, len(ids), progress):
        pruner.attempt(thread_id, done, is_dry=is_dry)
    return done
