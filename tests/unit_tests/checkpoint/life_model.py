"""What savers must have: threads as plain dicts in memory, in the fewest words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.base import WRITES_IDX_MAP


def exact(value: Any) -> Any:
    """A value that is equal to another only if all types in it are, too."""
    if isinstance(value, BaseMessage):
        return type(value), exact(value.model_dump())
    if isinstance(value, dict):
        return dict, tuple((exact(key), exact(each)) for key, each in value.items())
    if isinstance(value, list | tuple):
        return type(value), tuple(map(exact, value))
    return type(value), value


class At(NamedTuple):
    """Where a checkpoint is."""

    thread: str
    ns: str
    id: str


class Written(NamedTuple):
    """A pending write."""

    path: str
    channel: str
    value: Any
    run: str | None


@dataclass(frozen=True)
class Known:
    """A checkpoint."""

    parent: str | None
    values: dict[str, Any]
    """Exact."""
    metadata: dict[str, Any]
    run: str | None


class Model:
    """All threads."""

    def __init__(self) -> None:
        self.checkpoints: dict[At, Known] = {}
        self.writes: dict[At, dict[tuple[str, int], Written]] = {}
        self.ledgers: dict[At, bytes] = {}
        """With an empty id: they are of threads."""

    def listed(self, thread: str | None, ns: str | None) -> list[At]:
        """Checkpoints of a thread, newest first."""
        found = [
            at for at in self.checkpoints if thread in (None, at.thread) and ns in (None, at.ns)
        ]
        return sorted(found, key=lambda at: (at.id, at.thread, at.ns), reverse=True)

    def put_writes(
        self, at: At, writes: list[tuple[str, Any]], task: str, path: str, run: str | None
    ) -> None:
        """Note writes; special channels take the place of what was there, if alone."""
        known = self.writes.setdefault(at, {})
        replaces = all(channel in WRITES_IDX_MAP for channel, _ in writes)
        for position, (channel, value) in enumerate(writes):
            key = task, WRITES_IDX_MAP.get(channel, position)
            if replaces or key not in known:
                known[key] = Written(path, channel, exact(value), run)

    def written(self, at: At) -> list[tuple[str, str, Any]]:
        """The writes on a checkpoint, in their order: task, channel, exact value."""
        found = [(write.path, *key, write) for key, write in self.writes.get(at, {}).items()]
        found.sort(key=lambda each: each[:3])
        return [(task, write.channel, write.value) for _, task, _, write in found]

    def delete(self, thread: str) -> None:
        """Forget a thread."""
        for each in (self.checkpoints, self.writes, self.ledgers):
            self._drop(each, lambda at: at.thread == thread)

    def drop(self, gone: set[At]) -> None:
        """Forget checkpoints, and what is on them; a ledger goes with the last of its graph."""
        for each in (self.checkpoints, self.writes):
            self._drop(each, lambda at: at in gone)
        self._drop(self.ledgers, lambda at: not self.listed(at.thread, at.ns))

    def prune(self, gone: set[At]) -> None:
        """Forget checkpoints; their children have no parent then."""
        self.drop(gone)
        for at, known in [*self.checkpoints.items()]:
            if known.parent is not None and at._replace(id=known.parent) in gone:
                self.checkpoints[at] = replace(known, parent=None)

    def delete_runs(self, runs: set[str]) -> None:
        """Forget what runs stored."""
        for writes in self.writes.values():
            for key in [key for key, write in writes.items() if write.run in runs]:
                del writes[key]
        self.drop({at for at, known in self.checkpoints.items() if known.run in runs})

    def copy(self, source: str, target: str) -> None:
        """Make a thread a copy of another; what is copied is of no run."""
        if source == target or not self.listed(source, None):
            return
        self.delete(target)
        for at, known in [*self.checkpoints.items()]:
            if at.thread == source:
                self.checkpoints[at._replace(thread=target)] = replace(known, run=None)
        for at, writes in [*self.writes.items()]:
            if at.thread == source:
                copies = {key: write._replace(run=None) for key, write in writes.items()}
                self.writes[at._replace(thread=target)] = copies
        for at, data in [*self.ledgers.items()]:
            if at.thread == source:
                self.ledgers[at._replace(thread=target)] = data

    def kept(self, thread: str, count: int, before: str | None) -> set[At]:
        """What pruning keeps at least."""
        kept = set()
        for ns in sorted({at.ns for at in self.checkpoints if at.thread == thread}):
            listed = self.listed(thread, ns)
            kept |= {at for n, at in enumerate(listed) if n < count or (before and at.id >= before)}
            if ns and ":" not in ns:  # a replay of the root begins with what is before it
                roots = [at.id for at in kept if not at.ns]
                kept |= {at for root in roots for at in [at for at in listed if at.id < root][:1]}
        return kept

    def path(self, at: At) -> Iterator[At]:
        """The ancestors of a checkpoint that are there, nearest first."""
        seen = {at}
        while (known := self.checkpoints.get(at)) is not None and known.parent is not None:
            at = at._replace(id=known.parent)
            if at in seen or at not in self.checkpoints:
                return
            seen.add(at)
            yield at

    def history(self, at: At, channel: str) -> tuple[Any, list[tuple[str, Any]]]:
        """What a delta channel is rebuilt from: the seed, if there is one, and writes."""
        writes: list[list[tuple[str, Any]]] = []
        seed = None
        for each in self.path(at):
            on = self.written(each)
            writes.append([(task, value) for task, name, value in on if name == channel])
            if channel in self.checkpoints[each].values:
                seed = self.checkpoints[each].values[channel]
                break
        return seed, [write for step in reversed(writes) for write in step]

    @staticmethod
    def _drop(each: dict[At, Any], is_gone: Any) -> None:
        for at in [at for at in each if is_gone(at)]:
            del each[at]
