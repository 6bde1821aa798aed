"""One stream of a wrapped graph, from the ledger that its thread left to the one it leaves.

Nothing is asked twice: a run reads its checkpoint as it begins and stores others as it goes, and
a twin of its saver tells which. Nothing is written while it goes on: what a killed
process had said and no checkpoint holds comes again.

All that is asked of a saver, a store or a graph for our own sake is a `Call`: none fails a stream
or holds it up. One that raises, or takes too long, costs one log line, and perhaps that the
consumer gets something again.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any, Final, TypeAlias, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver, Checkpoint, CheckpointTuple
from langgraph.pregel import Pregel

from langgraph_once.stream.chunk_filter import Hears
from langgraph_once.stream.entries import PendingIds
from langgraph_once.stream.keeping import StreamAddress, StreamStateStore
from langgraph_once.stream.ledger import Ledger
from langgraph_once.stream.messages_within import entries_of, messages_in
from langgraph_once.stream.places import NS_SEP, Place, is_reserved
from langgraph_once.stream.run import Run
from langgraph_once.stream.shapes import Part
from langgraph_once.stream.state_cut import in_lists, listed_ids, named_and_not

logger = logging.getLogger(__name__)

T = TypeVar("T")

UNDER_WAY: Final[set[asyncio.Future[Any]]] = set()
"""Calls that are made in tasks, which an event loop alone holds weakly."""

WAIT_S: Final = 1.0
"""How long a stream waits for these calls, once before its first chunk and once after its last.

A database answers within milliseconds. A reader waits about a second for the first token of a
model as it is; a longer wait would be seen.
"""


def twin_of(saver: BaseCheckpointSaver[Any], thread: StreamThread) -> BaseCheckpointSaver[Any]:
    """A copy of `saver` that tells `thread` which checkpoints a run reads and which it stores.

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
    twin.thread = thread  # type: ignore[attr-defined]  # the slot
    return twin


@functools.cache
def _twin_class(saver: type) -> type:
    # `thread` is a slot: the twin shares the `__dict__` of the original, which has none.
    names = {"__slots__": ("thread",), "__module__": saver.__module__}
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

    thread: StreamThread

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        is_first = self.thread.takes_first()
        found = super().get_tuple(config)
        self.thread.reads(found, is_first=is_first)
        return found

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        is_first = self.thread.takes_first()  # before: it may call `get_tuple` of this twin
        found = await super().aget_tuple(config)
        await self.thread.areads(found, is_first=is_first)
        return found

    def put(self, config: Any, checkpoint: Any, *rest: Any, **named: Any) -> RunnableConfig:
        self.thread.comes_to(config, checkpoint)
        return super().put(config, checkpoint, *rest, **named)

    async def aput(self, config: Any, checkpoint: Any, *rest: Any, **named: Any) -> RunnableConfig:
        self.thread.comes_to(config, checkpoint)
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


class StreamThread:
    """The thread that a stream runs in, and what its consumer has of it.

    Args:
        graph: The graph that runs.
        config: The config of the stream.
        saver: Keeps the thread.
        store: Keeps its ledger.
        is_resumed: Whether the stream goes on from a checkpoint.
        may_repeat: Whether the stream may begin with updates of the one before.

    Attributes:
        saver: As given.
        is_resumed: As given.
        hears: Takes the states that the run begins with.
        ledger: What the consumer has; an empty one, until the run has read its checkpoint.
    """

    def __init__(
        self,
        graph: Pregel[Any, Any, Any, Any],
        config: RunnableConfig,
        *,
        saver: BaseCheckpointSaver[Any],
        store: StreamStateStore,
        is_resumed: bool,
        may_repeat: bool,
    ) -> None:
        asked = config["configurable"]
        self.saver: BaseCheckpointSaver[Any] = saver
        self.is_resumed: bool = is_resumed
        self.hears: Hears | None = None
        self.ledger: Ledger = Ledger()
        self._graph = graph
        self._config = config
        self._store = store
        self._address = StreamAddress(
            str(asked["thread_id"]), str(asked.get("checkpoint_ns") or "")
        )
        self._may_repeat = may_repeat
        # The state of a functional graph is what it returned and saved.
        self._keys = {key for key in graph.channels if not is_reserved(key)} or {*FUNCTIONAL_KEYS}
        self._saving = FailureGuard(UNSAVED)
        self._saved: bytes | None = None
        self._is_read = False
        self._is_open = False
        # The checkpoint that the run has come to, the state there, and whether no node is to run.
        self._at = ""
        self._state: Mapping[str, Any] = {}
        self._is_done = False

    def takes_first(self) -> bool:
        """Whether the run reads where it begins now; what it reads later graphs inside read."""
        is_first, self._is_read = not self._is_read, True
        return is_first

    def reads(self, found: CheckpointTuple | None, *, is_first: bool) -> None:
        """Hear what the run has read; with the first, the ledger is opened before any node runs."""
        if is_first:
            self._begin(answer(self._opening(found), FailureGuard(UNREAD)), found)
        else:
            self._reads_inner(found)

    async def areads(self, found: CheckpointTuple | None, *, is_first: bool) -> None:
        """`reads`, async."""
        if is_first:
            self._begin(await aanswer(self._opening(found), FailureGuard(UNREAD)), found)
        else:
            self._reads_inner(found)

    def _begin(self, ledger: Ledger | None, found: CheckpointTuple | None) -> None:
        self._is_open = True
        if ledger is not None:  # one that is empty is false
            self.ledger = ledger
            self._heard((), self._state, found)

    def _reads_inner(self, found: CheckpointTuple | None) -> None:
        if found is not None and (ns := found.config["configurable"].get("checkpoint_ns")):
            state = found.checkpoint["channel_values"]
            self._heard(tuple(str(ns).split(NS_SEP)), state, found)

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
        self._saved = yield Call(self._store, "load_stream_state", self._address)
        if self._saved is None and found is None:
            # A process that is killed leaves a ledger of nothing. Who resumes knows by it that the
            # thread was read, so that what no state holds of it is to be said again.
            nothing = Ledger().beside({}, is_done=True)
            with self._saving():
                yield Call(self._store, "save_stream_state", self._address, nothing)
                self._saved = nothing
        whole: Any = {}
        if any(isinstance(each, DeltaChannel) for each in self._graph.channels.values()):
            # A checkpoint holds only what is new.
            whole = (yield Call(self._graph, "get_state", self._config)).values
        before = found
        if found is not None and found.metadata.get("source") == "update":
            # Somebody has changed the state since: what left it is told as it was. There is no
            # parent in a thread that `update_state` has begun.
            parent = found.parent_config
            before = (yield Call(self.saver, "get_tuple", parent)) if parent else None
        if found is not None:
            self._at, self._is_done = found.checkpoint["id"], not self._has_next(found.checkpoint)
        self._state = self._state_at(found, whole)
        stood = self._state if before is found else self._state_at(before, whole)
        ledger = Ledger()
        if self._saved:  # one of another version, or damaged: the state tells most of it
            ledger = Ledger.from_bytes(
                self._saved, on_error="fresh", beside=functools.partial(in_lists, stood)
            )
        was_left = before is not None and ledger.left_at == before.checkpoint["id"]
        if not (was_left and before is found and self._may_repeat):
            ledger.forget_updates()  # the step that was under way is no more
        if not was_left:
            ledger.pending_ids = PendingIds()
        self._seed(ledger, stood)
        return ledger

    def _closing(self) -> Calls[None]:
        self.ledger.left_at = self._at
        # To look through the state of a long thread takes long, and a done step needs none of it.
        needs_state = not self._is_done or self.ledger.hidden is not None
        state = in_lists(self._state) if needs_state else {}
        data = self.ledger.beside(state, is_done=self._is_done)
        if data != self._saved:
            yield Call(self._store, "save_stream_state", self._address, data)

    def _has_next(self, checkpoint: Checkpoint) -> bool:
        """Whether nodes run from a checkpoint, as LangGraph decides it (1.2.24, `_triggers`)."""
        values, versions = checkpoint["channel_values"], checkpoint["channel_versions"]
        if values.get(TASKS):
            return True
        for name, node in self._graph.nodes.items():
            seen, channels = checkpoint["versions_seen"].get(name, {}), node.triggers
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
        return {names.get(key, key): value for key, value in values.items() if key in self._keys}

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


class Call:
    """One call of a method; its async form has the same name with an `a` before it."""

    def __init__(self, of: Any, method: str, *arguments: Any) -> None:
        self.of = of
        self.method = method
        self.arguments = arguments


Calls: TypeAlias = Generator[Call, Any, T]
"""Yields calls, and is sent what each returns; what one raises is raised where it was yielded."""


class FailureGuard:
    """Lets what is done inside fail; tells of the first failure what is `lost`, and no content."""

    def __init__(self, lost: str) -> None:
        self._lost = lost
        self._has_told = False

    @contextmanager
    def __call__(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if not self._has_told:
                self._has_told = True
                logger.warning("%s (%s)", self._lost, type(error).__name__)


def answer(calls: Calls[T], guard: FailureGuard) -> T | None:
    """What calls come to; None if one fails, or they take too long.

    In a thread of their own, since nothing else ends a wait for one that does not return.
    """
    found: list[T] = []

    def run() -> None:
        with guard():
            found.append(_run(calls))

    with guard():
        # A daemon: the process may end before it does.
        thread = threading.Thread(target=copy_context().run, args=(run,), daemon=True)
        thread.start()
        thread.join(WAIT_S)
        if thread.is_alive():
            raise TimeoutError
    return found[0] if found else None


async def aanswer(calls: Calls[T], guard: FailureGuard, *, goes_on: bool = False) -> T | None:
    """`answer`, async. With `goes_on` calls that take too long are made all the same, as those in a
    thread are."""
    task = asyncio.ensure_future(_arun(calls))
    UNDER_WAY.add(task)
    task.add_done_callback(_ended)
    try:
        await asyncio.wait({task}, timeout=WAIT_S)
    finally:
        if not goes_on:
            task.cancel()  # what comes later is of no use
    with guard():
        if task.done():
            return task.result()
        raise TimeoutError
    return None


def _ended(task: asyncio.Future[Any]) -> None:
    UNDER_WAY.discard(task)
    if not task.cancelled():
        task.exception()  # it was told, or comes too late to be


def _run(calls: Calls[T]) -> T:
    go_on, what = calls.send, None
    while True:
        try:
            call = go_on(what)
        except StopIteration as end:
            came_to: T = end.value
            return came_to
        try:
            go_on, what = calls.send, getattr(call.of, call.method)(*call.arguments)
        except Exception as error:
            go_on, what = calls.throw, error


async def _arun(calls: Calls[T]) -> T:
    go_on, what = calls.send, None
    while True:
        try:
            call = go_on(what)
        except StopIteration as end:
            came_to: T = end.value
            return came_to
        try:
            go_on, what = calls.send, await getattr(call.of, f"a{call.method}")(*call.arguments)
        except Exception as error:
            go_on, what = calls.throw, error
