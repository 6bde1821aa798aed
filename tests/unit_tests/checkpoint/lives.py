"""A state machine that does with threads what LangGraph, its server and users may do."""

from __future__ import annotations

import random
from collections.abc import Callable
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME
from pydantic import SecretStr

from langgraph_once import OnceSerializer
from langgraph_once.checkpoint.saver import OnceSaver
from langgraph_once.stream import StreamAddress
from tests.unit_tests.checkpoint.life_model import At, Known, Model, exact

KEYS = {"k": SecretStr("MDEyMzQ1Njc4OWFiY2RlZg==")}
TABLES = (
    *("checkpoints", "checkpoint_blobs", "checkpoint_writes"),
    *("once_pieces", "once_stream_states"),
)
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = [f"{word:05x}" for word in random.Random(7).choices(range(2**20), k=4000)]
DELTA = "log"
CHANNELS = ("messages", "files", "text", "shared")
THREADS = st.sampled_from(["a", "a", "a", "b", "b", "c"])
CHANGES = st.sampled_from(["grow", "grow", "edit", "shrink", "file", "file", "say", "share", "set"])
SPACES = st.sampled_from(["", "", "inner:1", "remembering"])
RUNS = st.sampled_from([None, "run 1", "run 2"])
SMALL: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 1, 1.0, False, 0, "", "x", (1, "1"), [], {}, b"\0", 2**80]
)
WRITES = st.sampled_from([ERROR, INTERRUPT, RESUME, "messages", "text", DELTA, DELTA])

OPERATIONS: dict[str, tuple[Callable[..., None], dict[str, Any]]] = {}
NAMES: list[str] = []
F = TypeVar("F", bound=Callable[..., None])


def often(times: int, **given: Any) -> Callable[[F], F]:
    """Make a method an operation that is drawn so often, with strategies for its arguments.

    One rule draws them all: of several, Hypothesis leaves some out of each life, and without `put`
    there is none.
    """

    def marked(method: F) -> F:
        OPERATIONS[method.__name__] = method, given
        NAMES.extend([method.__name__] * times)
        return method

    return marked


def text(seed: int, size: int = 60) -> str:
    """Words that no other seed gives."""
    start = random.Random(seed).randrange(len(WORDS) - size)
    return f"{seed} {' '.join(WORDS[start : start + size])}"


def id_at(second: int, number: int) -> str:
    """A `uuid6` of a moment."""
    ticks = round((EPOCH.timestamp() + second) * 1e7) + 0x01B21DD213814000
    return f"{ticks >> 28:08x}-{ticks >> 12 & 0xFFFF:04x}-6{ticks & 0xFFF:03x}-8000-{number:012x}"


def config(thread: str, ns: str, id_: str | None = None, **more: Any) -> Any:
    at = {"thread_id": thread, "checkpoint_ns": ns}
    return {"configurable": at | ({"checkpoint_id": id_} if id_ else {}), **more}


class Lives(RuleBasedStateMachine):
    """Savers of one database, of which one cuts and one does not, beside a model."""

    savers: list[OnceSaver]
    versions_tell = False
    """Whether a channel has the value of its version, even if the checkpoint was put without."""

    def open(self, serde: OnceSerializer) -> list[OnceSaver]:
        """Two savers of one empty database: one that stores once, one that does not."""
        raise NotImplementedError

    def rows(self, sql: str) -> list[Any]:
        """Ask the database."""
        raise NotImplementedError

    @initialize(is_encrypted=st.booleans())
    def begin(self, is_encrypted: bool) -> None:
        self.model = Model()
        self.number = 0
        self.second = 0
        self.values: dict[str, Any] = {"messages": [], "files": {}, "text": "", "shared": None}
        self.versions: dict[At, dict[str, str]] = {}
        self.savers = self.open(self.serde(is_encrypted=is_encrypted))

    def serde(self, *, is_encrypted: bool) -> OnceSerializer:
        raise NotImplementedError

    @property
    def saver(self) -> OnceSaver:
        return self.savers[0]

    @rule(data=st.data())
    def live(self, data: st.DataObject) -> None:
        method, given = OPERATIONS[data.draw(st.sampled_from(NAMES))]
        method(self, data, **{name: data.draw(each) for name, each in given.items()})

    # What a graph does to its state, in place.

    @often(6, change=CHANGES, seed=st.integers(0, 200), where=st.floats(0, 0.99), value=SMALL)
    def change(self, _: st.DataObject, change: str, seed: int, where: float, value: Any) -> None:
        messages, files = self.values["messages"], self.values["files"]
        name = CHANNELS[seed % len(CHANNELS)]
        match change:
            case "grow" if isinstance(messages, list):
                kind = AIMessage if seed % 2 else HumanMessage
                messages += [kind(text(seed + n), id=f"{seed}-{n}") for n in range(seed % 20)]
            case "edit" if isinstance(messages, list) and messages:
                message = messages[int(where * len(messages))]
                message.content = text(seed)
                message.additional_kwargs["n"] = seed % 2 == 0 or 1
            case "shrink" if isinstance(messages, list):
                at = int(where * len(messages))
                del messages[at : at + 1 + seed % 8]
            case "file" if isinstance(files, dict):
                files[f"file {seed % 30}"] = text(seed)
            case "say":
                self.values["text"] = text(seed, seed * 3)
            case "share":
                self.values["shared"] = self.values[name]
            case "set":
                self.values[name] = deepcopy(value)
            case _:
                self.values |= {"messages": [], "files": {}}

    # What savers are asked.

    @often(
        10,
        thread=THREADS,
        ns=SPACES,
        run=RUNS,
        seconds=st.integers(-3, 10),
        store_once=st.booleans(),
        has_delta=st.sampled_from([None, None, "counts", "snapshot"]),
        is_again=st.sampled_from([False, False, False, True]),
    )
    def put(
        self,
        data: st.DataObject,
        thread: str,
        ns: str,
        run: str | None,
        seconds: int,
        store_once: bool,
        has_delta: str | None,
        is_again: bool,
    ) -> None:
        listed = self.model.listed(thread, ns)
        parent = data.draw(st.sampled_from([*listed, None])) if listed else None
        self.number += 1
        self.second = max(0, self.second + seconds)  # a clock may go back
        checkpoint = empty_checkpoint()
        checkpoint["id"] = id_at(self.second, self.number)
        if is_again and listed:
            again = data.draw(st.sampled_from(listed))
            checkpoint["id"] = again.id
            id_ = self.model.checkpoints[again].parent
            parent = again._replace(id=id_) if id_ else None
        at = At(thread, ns, checkpoint["id"])
        values = dict(self.values)
        # A parent that was pruned says nothing any more, even if others keep what it had.
        versions = dict(self.versions[parent]) if parent in self.model.checkpoints else {}
        changed = [*values]
        metadata: Any = {"source": "loop", "step": self.number, "even": self.number % 2 == 0}
        if has_delta:
            metadata["counters_since_delta_snapshot"] = {DELTA: (1, 1)}
            changed.append(DELTA)
            if has_delta == "snapshot":
                values[DELTA] = [text(self.number)]
        elif DELTA in versions:
            metadata["counters_since_delta_snapshot"] = {DELTA: (1, 1)}
        new = {name: self.saver.get_next_version(versions.get(name), None) for name in changed}
        checkpoint["channel_values"] = values
        versions |= new
        checkpoint["channel_versions"] = dict(versions)
        more = {"metadata": {"run_id": run}} if run else {}
        asked = config(thread, ns, parent and parent.id, **more)
        self.savers[not store_once].put(asked, checkpoint, metadata, dict(new))
        self.versions[at] = versions
        stored = {name: exact(value) for name, value in values.items()}
        if self.versions_tell and parent in self.model.checkpoints and DELTA not in changed:
            before = self.model.checkpoints[parent].values
            stored |= {name: value for name, value in before.items() if name == DELTA}
        self.model.checkpoints[at] = Known(parent and parent.id, stored, metadata, run)

    @often(
        4,
        thread=THREADS,
        ns=SPACES,
        run=RUNS,
        task=st.sampled_from(["task 1", "task 2"]),
        path=st.sampled_from(["", "~a"]),
        channels=st.lists(WRITES, min_size=1, max_size=4),
        is_early=st.sampled_from([False, False, False, True]),
    )
    def put_writes(
        self,
        data: st.DataObject,
        thread: str,
        ns: str,
        run: str | None,
        task: str,
        path: str,
        channels: list[str],
        is_early: bool,
    ) -> None:
        listed = self.model.listed(thread, ns)
        id_ = data.draw(st.sampled_from(listed)).id if listed else id_at(0, 0)
        if is_early:  # its checkpoint is still to come, or never will
            id_ = id_at(self.second + 1000, self.number)
        at = At(thread, ns, id_)
        special = (ERROR, INTERRUPT, RESUME)
        values = [
            self.values["messages"] if channel in special else deepcopy(self.values["text"])
            for channel in channels
        ]
        writes = list(zip(channels, values, strict=True))
        more = {"metadata": {"run_id": run}} if run else {}
        self.saver.put_writes(config(thread, ns, id_, **more), writes, task, path)
        self.model.put_writes(at, writes, task, path, run)

    @often(3, thread=THREADS, size=st.sampled_from([0, 9, 300, 1400]))
    def save_ledger(self, data: st.DataObject, thread: str, size: int) -> None:
        if listed := self.model.listed(thread, None):
            at = data.draw(st.sampled_from(listed))
            ledger = text(self.number, size).encode()
            self.saver.save_stream_state(StreamAddress(*at[:2]), ledger)
            self.model.ledgers[at._replace(id="")] = ledger

    @often(1, source=THREADS, onto=THREADS)
    def copy(self, _: st.DataObject, source: str, onto: str) -> None:
        self.saver.copy_thread(source, onto)
        if source != onto and self.model.listed(source, None):
            for at in [at for at in self.versions if at.thread == onto]:
                del self.versions[at]
            for at in [at for at in self.versions if at.thread == source]:
                self.versions[at._replace(thread=onto)] = self.versions[at]
        self.model.copy(source, onto)

    @often(1, thread=THREADS)
    def delete(self, _: st.DataObject, thread: str) -> None:
        self.saver.delete_thread(thread)
        self.model.delete(thread)
        self.nothing_is_spare(thread)

    @often(1, runs=st.sets(st.sampled_from(["run 1", "run 2", "no run"]), min_size=1))
    def roll_back(self, _: st.DataObject, runs: set[str]) -> None:
        threads = {at.thread for at, known in self.model.checkpoints.items() if known.run in runs}
        self.saver.delete_for_runs(sorted(runs))
        self.model.delete_runs(runs)
        for thread in threads:
            self.nothing_is_spare(thread)

    @often(
        3,
        thread=THREADS,
        count=st.integers(1, 4),
        age=st.sampled_from([None, None, 0, 5]),
        strategy=st.sampled_from([*["keep_latest"] * 4, "delete", "delete_all"]),
    )
    def prune(
        self, _: st.DataObject, thread: str, count: int, age: int | None, strategy: str
    ) -> None:
        older = EPOCH + timedelta(seconds=self.second - age) if age is not None else None
        before = id_at(self.second - age, 0)[:18] if age is not None else None
        histories = {at: self.model.history(at, DELTA) for at in self.deltas(thread)}
        self.saver.prune([thread], strategy=strategy, keep_last=count, older_than=older)
        if strategy != "keep_latest":
            self.model.delete(thread)
        else:
            left = {At(**self.at(found)) for found in self.saver.list(config_of(thread))}
            least = self.model.kept(thread, count, before)
            assert least <= left
            if left != least:
                assert any(DELTA in self.versions[at] for at in self.model.listed(thread, None))
            self.model.prune(set(self.model.listed(thread, None)) - left)
            for at in least & set(histories):
                assert self.model.history(at, DELTA) == histories[at]
        self.nothing_is_spare(thread)

    # What must be true.

    @invariant()
    def all_is_there(self) -> None:
        if not hasattr(self, "savers"):
            return
        found = list(self.saver.list(None))
        assert [At(**self.at(each)) for each in found] == self.model.listed(None, None)
        for each in found:
            self.same(each)

    @often(1, thread=THREADS, ns=SPACES, by_other=st.booleans())
    def get_latest(self, _: st.DataObject, thread: str, ns: str, by_other: bool) -> None:
        listed = self.model.listed(thread, ns)
        found = self.savers[by_other].get_tuple(config(thread, ns))
        assert (found is None) == (not listed)
        if found is not None:
            assert At(**self.at(found)) == listed[0]
            self.same(found)
            found.checkpoint["channel_values"].clear()  # what is read is the reader's

    @often(2, thread=THREADS)
    def get_one(self, data: st.DataObject, thread: str) -> None:
        if listed := self.model.listed(thread, None):
            at = data.draw(st.sampled_from(listed))
            found = self.saver.get_tuple(config(*at))
            assert found is not None
            self.same(found)
            ledger = self.model.ledgers.get(at._replace(id=""))
            assert self.saver.load_stream_state(StreamAddress(*at[:2])) == ledger

    @often(1, thread=THREADS, ns=SPACES, limit=st.sampled_from([None, 1, 2, 60]))
    def list_some(self, data: st.DataObject, thread: str, ns: str, limit: int | None) -> None:
        listed = self.model.listed(thread, ns)
        filter_ = data.draw(st.sampled_from([None, {"even": True}, {"source": "no"}]))
        before = data.draw(st.sampled_from([*listed, None]))
        found = self.saver.list(
            config(thread, ns), filter=filter_, before=before and config(*before), limit=limit
        )
        known = self.model.checkpoints
        asked = [
            at
            for at in listed
            if (before is None or at.id < before.id)
            and (filter_ or {}).items() <= known[at].metadata.items()
        ]
        assert [At(**self.at(each)) for each in found] == asked[:limit]

    @often(2, thread=THREADS)
    def read_delta(self, data: st.DataObject, thread: str) -> None:
        if deltas := self.deltas(thread):
            at = data.draw(st.sampled_from(deltas))
            found = self.saver.get_delta_channel_history(config=config(*at), channels=[DELTA])
            seed = exact(found[DELTA]["seed"]) if "seed" in found[DELTA] else None
            writes = [(task, exact(value)) for task, _, value in found[DELTA]["writes"]]
            assert (seed, writes) == self.model.history(at, DELTA)

    def deltas(self, thread: str | None) -> list[At]:
        """Checkpoints that do not say what their delta channel is."""
        return [
            at
            for at in self.model.listed(thread, None)
            if DELTA in self.versions[at] and DELTA not in self.model.checkpoints[at].values
        ]

    def at(self, found: Any) -> dict[str, str]:
        at = found.config["configurable"]
        return {"thread": at["thread_id"], "ns": at["checkpoint_ns"], "id": at["checkpoint_id"]}

    def same(self, found: Any) -> None:
        at = At(**self.at(found))
        known = self.model.checkpoints[at]
        values = found.checkpoint["channel_values"]
        assert {name: exact(values[name]) for name in values} == known.values
        assert found.checkpoint["channel_versions"] == self.versions[at]
        assert known.metadata.keys() <= found.metadata.keys()
        assert found.metadata["step"] == known.metadata["step"]
        parent = found.parent_config and found.parent_config["configurable"]["checkpoint_id"]
        assert parent == known.parent
        writes = [(task, name, exact(value)) for task, name, value in found.pending_writes]
        assert writes == self.model.written(at)

    def nothing_is_spare(self, thread: str) -> None:
        """Pieces of a thread are those that something refers to."""
        values = self.saver.threads.values
        assembly = values.assembly()
        stored = self.rows(
            f"SELECT digest, type, data FROM once_pieces WHERE thread_id = '{thread}'"
        )
        assembly.add(stored)
        referring = self.saver.engine.run(
            self.saver.threads.tables.manifest_cells(thread), writes=False
        )
        manifests = [found for cell in referring for found in values.manifests(*cell)]
        assert assembly.all_of(manifests) == {bytes(row[0]) for row in stored}


def config_of(thread: str) -> Any:
    """All namespaces of a thread."""
    return {"configurable": {"thread_id": thread}}
