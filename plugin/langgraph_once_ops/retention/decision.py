"""Which checkpoints of a thread go. Nothing is written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from langgraph_once.checkpoint import (
    CheckpointRef,
    FoundCheckpoints,
    Program,
    Tables,
    dropped_of,
    moment_of,
)
from langgraph_once.config import RetentionConfig
from langgraph_once_ops.due import status_of


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
