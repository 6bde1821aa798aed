"""One stream of a wrapped graph, from the ledger that its thread left to the one it leaves.

Nothing is asked twice: a run reads its checkpoint as it begins and stores others as it goes, and
a twin of its saver tells which. Nothing is written while it goes on: what a killed
process had said and no checkpoint holds comes again.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, Checkpoint, CheckpointTuple
from langgraph.pregel import Pregel

from langgraph_once.stream.announcement import Hears
from langgraph_once.stream.bookkeeping import Call, Calls, FailureGuard, aanswer, answer
from langgraph_once.stream.chunk_filter import ChunkFilter, Opened
from langgraph_once.stream.dedup.state_cut import in_lists, listed_ids, named_and_not
from langgraph_once.stream.ledger.keeping import StreamAddress, StreamStateStore
from langgraph_once.stream.ledger.ledger import Ledger
from langgraph_once.stream.ledger.pending_ids import PendingIds
from langgraph_once.stream.part.messages_within import entries_of, messages_in
from langgraph_once.stream.part.places import NS_SEP, Place, is_reserved
from langgraph_once.stream.part.shapes import Part
from langgraph_once.stream.running.run import Run

__all__ = [
    "FUNCTIONAL_KEYS",
    "Begun",
    "Listener",
    "StreamThread",
    "aopened",
    "opened",
    "twin_of",
    "unread",
]


class Listener(Protocol):
    """Hears what one run reads and writes."""

    def takes_first(self) -> bool:
        """Whether nothing was read yet; from now on something is."""

    def begins_at(self, found: CheckpointTuple | None) -> None:
        """Hear where the run begins."""

    async def abegins_at(self, found: CheckpointTuple | None) -> None:
        """`begins_at`, async."""

    def reads(self, found: CheckpointTuple) -> None:
        """Hear what else was read: where a graph inside begins."""

    def comes_to(self, config: RunnableConfig, checkpoint: Checkpoint) -> None:
        """Hear what was stored."""


def twin_of(saver: BaseCheckpointSaver[Any], listener: Listener) -> BaseCheckpointSaver[Any]:
    """A saver that is as `saver`, and tells `listener` where a run begins and what it comes to.

    LangGraph makes shallow copies of savers, too (1.2.24, `BaseCheckpointSaver.with_allowlist`). A
    twin shares even the attributes of its original: what one of them sets up, the other has.

    One that keeps nothing in a `__dict__` has none: it is given back, and nobody is told.
    """
    try:
        original: Any = type(saver)
        cls: Any = _twin_class(original)
        twin: BaseCheckpointSaver[Any] = cls.__new__(cls)
        twin.__dict__ = vars(saver)
    except TypeError:
        return saver
    for name in _slots(original):
        if hasattr(saver, name):
            setattr(twin, name, getattr(saver, name))
    twin.listener = listener  # type: ignore[attr-defined]  # the slot
    return twin


@functools.cache
def _twin_class(saver: type) -> type:
    # `listener` is a slot: the twin shares the `__dict__` of the original, which has no listener.
    names = {"__slots__": ("listener",), "__module__": saver.__module__}
    return type(saver.__name__, (_Twin, saver), {**names, "__qualname__": saver.__qualname__})


def _slots(cls: type) -> Iterator[str]:
    """The attributes of an object that are in no `__dict__`."""
    for base in cls.__mro__:
        named = vars(base).get("__slots__", ())
        for name in (named,) if isinstance(named, str) else named:
            is_private = name.startswith("__") and not name.endswith("__")
            yield f"_{base.__name__.lstrip('_')}{name}" if is_private else name


class _Twin(BaseCheckpointSaver[Any]):
    """What a twin does beside its original."""

    __slots__ = ()

    listener: Listener

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        is_first = self.listener.takes_first()
        found = super().get_tuple(config)
        if is_first:
            self.listener.begins_at(found)
        elif found is not None:
            self.listener.reads(found)
        return found

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        is_first = self.listener.takes_first()
        found = await super().aget_tuple(config)
        if is_first:
            await self.listener.abegins_at(found)
        elif found is not None:
            self.listener.reads(found)
        return found

    def put(
        self, config: RunnableConfig, checkpoint: Checkpoint, *rest: Any, **named: Any
    ) -> RunnableConfig:
        self.listener.comes_to(config, checkpoint)
        return super().put(config, checkpoint, *rest, **named)

    async def aput(
        self, config: RunnableConfig, checkpoint: Checkpoint, *rest: Any, **named: Any
    ) -> RunnableConfig:
        self.listener.comes_to(config, checkpoint)
        return await super().aput(config, checkpoint, *rest, **named)

    def __del__(self) -> None:
        """Nothing: what there is to close belongs to the original."""


UNREAD = "What the consumer of a stream has was not read"
UNSAVED = "What the consumer of a stream has was not saved"

TASKS = "__pregel_tasks"
"""The channel of what is sent to nodes (langgraph 1.2.24, langgraph/_internal/_constants.py)."""

FUNCTIONAL_KEYS: Final[Mapping[str, str]] = {"__end__": "end", "__previous__": "previous"}
"""The channels of what a functional graph returned and saved, which has no other state; and what
they are called here, since who looks through a state leaves out keys that are LangGraph's own
(1.2.24, langgraph/_internal/_constants.py). `test_session` notices when they change."""


@dataclass(kw_only=True)
class StreamThread:
    """The thread that a stream runs in, and what its consumer has of it."""

    config: RunnableConfig
    """The config of the stream."""

    saver: BaseCheckpointSaver[Any]
    """Keeps the thread."""

    store: StreamStateStore
    """Keeps its ledger."""

    graph: Pregel[Any, Any, Any, Any] | None
    """Reads states of which a checkpoint holds only what is new (`DeltaChannel`); None where each
    holds its whole state."""

    keys: Collection[str]
    """The keys of its state; of a functional graph those of what it returned and saved."""

    triggers: Mapping[str, Collection[str]]
    """The channels that make a node run, by its name."""

    is_resumed: bool
    """Whether the stream goes on from a checkpoint."""

    may_repeat: bool
    """Whether the stream may begin with updates of the one before, `may_repeat`."""

    hears: Hears | None = None
    """Takes the states that the run begins with."""

    ledger: Ledger = field(init=False)
    """What the consumer has; an empty one, until the run has read its checkpoint."""

    _saved: bytes | None = None
    _is_open: bool = False
    _at: str | None = None
    """The checkpoint that the run has come to, as far as it is known."""

    _state: Mapping[str, Any] = field(default_factory=dict)
    """The state there."""

    _is_done: bool = False
    """Whether no node is to run there."""

    def __post_init__(self) -> None:
        asked = self.config["configurable"]
        self._address = StreamAddress(
            str(asked["thread_id"]), str(asked.get("checkpoint_ns") or "")
        )
        self._saving = FailureGuard(UNSAVED)
        self.ledger = Ledger()

    def takes_first(self) -> bool:
        """Whether a run reads its checkpoint now: the first that is read of the thread."""
        is_first, self._is_open = not self._is_open, True
        return is_first

    def begins_at(self, found: CheckpointTuple | None) -> None:
        """Open the ledger for a run that begins at a checkpoint, before any of its nodes runs."""
        self._open(answer(self._opening(found), FailureGuard(UNREAD)), found)

    async def abegins_at(self, found: CheckpointTuple | None) -> None:
        """`begins_at`, async."""
        self._open(await aanswer(self._opening(found), FailureGuard(UNREAD)), found)

    def _open(self, ledger: Ledger | None, found: CheckpointTuple | None) -> None:
        if ledger is not None:  # one that is empty is false
            self.ledger = ledger
            self._heard((), self._state, found)

    def reads(self, found: CheckpointTuple) -> None:
        """Note the state that a graph inside begins with."""
        ns = str(found.config["configurable"].get("checkpoint_ns") or "")
        if ns:
            self._heard(tuple(ns.split(NS_SEP)), found.checkpoint["channel_values"], found)

    def _heard(self, ns: Place, state: Mapping[str, Any], found: CheckpointTuple | None) -> None:
        if self.hears is not None:
            with FailureGuard(UNREAD)():
                writes = (found and found.pending_writes) or ()
                written = (value for _, key, value in writes if not is_reserved(key))
                self.hears(ns, state, [m for value in written for m in messages_in(value)])

    def comes_to(self, config: RunnableConfig, checkpoint: Checkpoint) -> None:
        """Note that the run has stored a checkpoint."""
        with self._saving():
            where = config["configurable"]
            if (str(where.get("thread_id")), where.get("checkpoint_ns") or "") == self._address:
                self._at, self._is_done = checkpoint["id"], not self._has_next(checkpoint)
                self._state = self._of_state(checkpoint["channel_values"])

    def end(self) -> None:
        """Keep the ledger for the next stream of the thread; not if none was opened."""
        if self._is_open:
            answer(self._closing(), self._saving)

    async def aend(self) -> None:
        """`end`, async."""
        if self._is_open:
            await aanswer(self._closing(), self._saving, goes_on=True)

    def _opening(self, found: CheckpointTuple | None) -> Calls[Ledger]:
        self._saved = yield Call(self.store, "load_stream_state", self._address)
        if self._saved is None and found is None:
            yield from self._first()
        whole: Any = {}
        if self.graph is not None:
            whole = (yield Call(self.graph, "get_state", self.config)).values
        before = found
        if found is not None and found.metadata.get("source") == "update":
            # Somebody has changed the state since: what left it is told as it was.
            before = yield from self._parent(found)
        if found is not None:
            self._at, self._is_done = found.checkpoint["id"], not self._has_next(found.checkpoint)
        self._state = self._state_at(found, whole)
        stood = self._state if before is found else self._state_at(before, whole)
        ledger = self._ledger(stood)
        was_left = before is not None and ledger.left_at == before.checkpoint["id"]
        if not (was_left and before is found and self.may_repeat):
            ledger.forget_updates()  # the step that was under way is no more
        if not was_left:
            ledger.pending_ids = PendingIds()
        self._seed(ledger, stood)
        return ledger

    def _parent(self, found: CheckpointTuple) -> Calls[CheckpointTuple | None]:
        if found.parent_config is None:  # a thread that `update_state` has begun
            return None
        before: CheckpointTuple | None = yield Call(self.saver, "get_tuple", found.parent_config)
        return before

    def _first(self) -> Calls[None]:
        """Keep a ledger of nothing, as a thread begins.

        A process that is killed leaves it. Who resumes knows by it that the thread was read, so
        that what no state holds of it is to be said again.
        """
        nothing = Ledger().beside({}, is_done=True)
        with self._saving():
            yield Call(self.store, "save_stream_state", self._address, nothing)
            self._saved = nothing

    def _closing(self) -> Calls[None]:
        self.ledger.left_at = self._at or ""
        # To look through the state of a long thread takes long, and a done step needs none of it.
        needs_state = not self._is_done or self.ledger.hidden is not None
        state = in_lists(self._state) if needs_state else {}
        data = self.ledger.beside(state, is_done=self._is_done)
        if data != self._saved:
            yield Call(self.store, "save_stream_state", self._address, data)

    def _has_next(self, checkpoint: Checkpoint) -> bool:
        """Whether nodes run from a checkpoint, as LangGraph decides it (1.2.24, `_triggers`)."""
        values, versions = checkpoint["channel_values"], checkpoint["channel_versions"]
        if values.get(TASKS):
            return True
        for node, channels in self.triggers.items():
            seen = checkpoint["versions_seen"].get(node, {})
            if any(each in values and versions.get(each) != seen.get(each) for each in channels):
                return True
        return False

    def _state_at(self, found: CheckpointTuple | None, whole: Any) -> Mapping[str, Any]:
        """The state at a checkpoint; `whole` has what a checkpoint holds in part."""
        if found is None:
            return {}
        return self._of_state({**found.checkpoint["channel_values"], **dict(entries_of(whole))})

    def _of_state(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        names = FUNCTIONAL_KEYS
        return {names.get(key, key): value for key, value in values.items() if key in self.keys}

    def _ledger(self, stood: Mapping[str, Any]) -> Ledger:
        """The ledger that was kept beside a state, if one was."""
        if not self._saved:
            return Ledger()
        # A ledger of a newer version, or damaged: the state tells most of it.
        return Ledger.from_bytes(
            self._saved, on_error="fresh", beside=functools.partial(in_lists, stood)
        )

    def _seed(self, ledger: Ledger, stood: Mapping[str, Any]) -> None:
        """Note what the state tells of what the consumer has.

        Args:
            ledger: What the consumer has that no state tells.
            stood: The state that the consumer knows.
        """
        named, unnamed = named_and_not(self._state)
        known = named if stood is self._state else listed_ids(stood)
        items = (item for _, item in entries_of(self._state))
        ledger.seed((message for item in items for message in messages_in(item)), known)
        for place, said in unnamed.items():
            ledger.pending_ids.state((), place, said)
        ledger.snapshot((), {**ledger.snapshots.get((), {}), **known})


class Begun(Protocol):
    """One stream of a graph that is about to be advanced for the first time."""

    run: Run
    thread: StreamThread | None

    def chunks(self) -> Any:
        """What the graph streams."""

    @property
    def filter(self) -> ChunkFilter:
        """What its reader is to get of it, known when the run has read its checkpoint."""

    def around_first(self) -> AbstractContextManager[None]:
        """What is entered while the first chunk is made."""


@contextmanager
def opened(begin: Callable[[], Begun]) -> Iterator[Opened]:
    """A stream, for `filtered`; the ledger is kept when it ends, well or badly.

    Args:
        begin: Begins the stream, when it is first advanced: only then the reader may announce
            itself.
    """
    begun = begin()
    try:
        yield begun.chunks(), lambda: begun.filter, begun.around_first()
    except BaseException:
        if begun.thread is not None:
            _keep_undelivered(begun)
        raise
    finally:
        if begun.thread is not None:
            begun.thread.end()


@asynccontextmanager
async def aopened(begin: Callable[[], Begun]) -> AsyncIterator[Opened]:
    """`opened`, async."""
    begun = begin()
    try:
        yield begun.chunks(), lambda: begun.filter, begun.around_first()
    except BaseException:
        if begun.thread is not None:
            with suppress(asyncio.CancelledError):  # which a cancelled scope of anyio raises again
                await asyncio.sleep(0)  # what was sent from other threads is on its way
            _keep_undelivered(begun)
        raise
    finally:
        if begun.thread is not None:
            await begun.thread.aend()


def _keep_undelivered(begun: Begun) -> None:
    with FailureGuard(UNSAVED)():
        begun.filter.keep_undelivered(unread(begun.run))


TELLS_OF_MESSAGES = frozenset({"updates", "values"})
"""A cached update has messages that mode `messages` lacks, and a state shows their ids."""


def unread(run: Run) -> Iterator[Part]:
    """The parts of an ended run that tell of messages and that nobody has read."""
    put: Any = run.put
    if isinstance(put, functools.partial):  # in async runs it is called in the loop's own time
        put = put.args[0]
    # Private upstream (langgraph 1.2.24, langgraph/_internal/_queue.py); the law with cuts
    # notices when it changes.
    sent = getattr(getattr(put, "__self__", None), "_queue", ())
    while sent:
        ns, mode, data = sent.popleft()
        if mode == "messages":
            yield Part(ns, mode, *data)
        elif mode in TELLS_OF_MESSAGES:
            yield Part(ns, mode, data)
