"""`astream_events`, v1 and v2: a model's answer that a repeated attempt says again is told once.

A reader of these events takes nothing back. So the events of a model run that may repeat another
are held while it says the same. What it says beyond that goes out under the run id and the message
id that the reader has; where it says something else, all of its events go out as they came. The
events of nodes, tools and graphs are not touched: the messages in them are states.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Final, NamedTuple, cast
from uuid import UUID

from langchain_core.messages import AIMessageChunk, BaseMessage, RemoveMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config, merge_configs

from langgraph_once.config import DedupConfig, HideConfig
from langgraph_once.stream.dedup.deduplicator import Deduplicator
from langgraph_once.stream.dedup.forms.stock import StockForm
from langgraph_once.stream.dedup.hidden import Hiding
from langgraph_once.stream.part.annotation import (
    SCHEMA_VERSION,
    Annotation,
    PrivateMetadata,
    Source,
)
from langgraph_once.stream.part.envelope import Part
from langgraph_once.stream.part.namespace import NS_SEP, TASK_NS_KEY, node_path
from langgraph_once.stream.part.where import NODE_KEY
from langgraph_once.stream.running.attempts import EmittedMessage
from langgraph_once.stream.running.node_handler import NodeHandler

__all__ = ["ModelRunsHandler", "ModelStart", "told_once"]


class ModelStart(NamedTuple):
    """What is known of a model run when it starts."""

    task: str
    """The task that calls the model."""

    earlier: tuple[str, ...]
    """The ids of the runs whose answers are void: an attempt of its task, or of a task around
    that, began anew, or the model failed in the same attempt. In order."""


class ModelRunsHandler(NodeHandler):
    """Notes which model runs may repeat others.

    A reader empties the queue of events later. So what a run may repeat is noted when that run
    starts, and looked up when its events are read.

    Attributes:
        starts: The model runs by their ids, until somebody takes them from here.
    """

    ignore_agent = ignore_retriever = True

    def __init__(self) -> None:
        super().__init__()
        self.starts: dict[str, ModelStart] = {}
        self._failed: set[str] = set()

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002  # the names are part of the call
        messages: list[list[BaseMessage]],  # noqa: ARG002  # as well
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """Note what a model run may repeat."""
        if not metadata or TASK_NS_KEY not in metadata:
            return
        run = EmittedMessage(str(run_id), (), metadata[TASK_NS_KEY])
        task = self._tasks.get(run.task)
        void = [old.id for each in (*self._tasks.outer(task.ns), task) for old in each.stale]
        void += [old.id for old in list(task.said.values()) if old.id in self._failed]
        self.starts[run.id] = ModelStart(task.ns, tuple(dict.fromkeys(void)))
        self._tasks.say(run)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """Note that the answer of a run is void, unless its reader just stopped reading."""
        if not isinstance(error, GeneratorExit):
            self._failed.add(str(run_id))


START: Final = "on_chat_model_start"
STREAM: Final = "on_chat_model_stream"
END: Final = "on_chat_model_end"

Event = dict[str, Any]


async def told_once(
    events: Callable[[RunnableConfig], AsyncIterator[Any]],
    config: RunnableConfig | None,
    dedup: DedupConfig,
) -> AsyncGenerator[Any]:
    """The events of a graph, each answer once.

    Args:
        events: Runs the graph with a config.
        config: The config that its caller gave.
        dedup: What counts as a repetition, and who is hidden.
    """
    handler = ModelRunsHandler()
    # Completed first: a config with callbacks takes none from the run around this one.
    heard = merge_configs(ensure_config(config), {"callbacks": [handler]})
    told = _ModelEventFilter(dedup, handler.starts)
    async with aclosing(cast("AsyncGenerator[Any]", events(heard))) as stream:
        try:
            async for event in stream:
                for kept in told.new(event):
                    yield kept
        except Exception:
            for kept in told.close():
                yield kept
            raise
        for kept in told.close():
            yield kept


class _ToldModelRun:
    """A model run, as the reader of its events knows it.

    Attributes:
        repeats: The run that it may repeat.
        shown: The run under whose ids its events go out.
        held: Its events, while it repeats the other; None once that is decided.
        key: The id under which the ledger knows its message.
        message_id: The id of its first chunk that had one.
        has_spoken: It has said something, of which the ledger knows.
        is_over: The reader has its end.
        failed_end: Its end in v1, which tells that it failed; kept, as another run may go on.
        next: The run that may repeat it.
    """

    def __init__(self, event: Event, start: ModelStart, repeats: _ToldModelRun | None) -> None:
        self.id: str = event["run_id"]
        self.name: str = event["name"]
        self.task = start.task
        self.repeats = repeats
        self.shown: _ToldModelRun = repeats.shown if repeats is not None else self
        self.held: list[Event] | None = None if repeats is None else []
        self.line: str = f"model:{self.id}" if repeats is None else repeats.line
        self.meta = self.noted("model")
        self.key = self.id
        self.message_id: str | None = None
        self.has_spoken = False
        self.is_over = False
        self.failed_end: Event | None = None
        self.next: _ToldModelRun | None = None

    def noted(self, source: Source) -> PrivateMetadata:
        """Metadata in which all that repeats each other is of one task, and nothing else is."""
        note = Annotation(v=SCHEMA_VERSION, source=source, attempt=1, run=self.id)
        return PrivateMetadata({TASK_NS_KEY: self.line}, note)

    def take_failed_end(self) -> Iterable[Event]:
        """Its end in v1, unless the reader has another."""
        if self.failed_end is None or self.is_over:
            return ()
        self.is_over = True
        return (self.failed_end,)


class _ModelEventFilter:
    """Decides which events of models are told."""

    def __init__(self, dedup: DedupConfig, starts: dict[str, ModelStart]) -> None:
        self._hiding = Hiding.of(dedup)
        self._dedup = Deduplicator(replace(dedup, hide=HideConfig()), form=StockForm())
        self._starts = starts
        self._runs: dict[str, _ToldModelRun | None] = {}
        self._failed: list[_ToldModelRun] = []
        self._root: str | None = None

    def new(self, event: Event) -> Iterable[Event]:
        """What the reader is told of an event."""
        kind, run_id = event["event"], event["run_id"]
        self._root = self._root or run_id
        if kind not in (START, STREAM, END):
            return (*self._ends_before(event), event) if self._failed else (event,)
        if run_id not in self._runs:
            self._runs[run_id] = self._begun(event)
        run = self._runs[run_id]
        if run is None:
            return ()
        if kind == STREAM:
            return self._streamed(run, event)
        if kind == END:
            return self._ended(run, event)
        if run.held is not None:
            run.held.append(event)
            return ()
        return (event,)

    def close(self) -> Iterable[Event]:
        """What is still to be said at the end."""
        return [end for run in self._failed for end in run.take_failed_end()]

    def _ends_before(self, event: Event) -> Iterable[Event]:
        """The ends of runs that failed and do not run again: their node, or the graph, is done."""
        is_root = event["run_id"] == self._root and event["event"] == "on_chain_end"
        for run in [*self._failed] if is_root else self._failed_in(event):
            self._failed.remove(run)
            yield from run.take_failed_end()

    def _failed_in(self, event: Event) -> list[_ToldModelRun]:
        """Those of a node that has an output; one that fails has none, and may run again."""
        metadata, data = event["metadata"], event["data"]
        if event["name"] != metadata.get(NODE_KEY) or not (data.get("output") or "chunk" in data):
            return []
        return [run for run in self._failed if run.task == metadata.get(TASK_NS_KEY)]

    def _begun(self, event: Event) -> _ToldModelRun | None:
        """A run that begins; None if it is hidden."""
        start = self._starts.pop(event["run_id"], ModelStart("", ()))
        metadata, tags = event["metadata"], event["tags"]
        graph = tuple(start.task.split(NS_SEP)[:-1])
        if self._hiding and self._hiding.hides_run(graph, metadata, tags, event["name"]):
            return None
        repeats = self._repeated(start, event["name"]) if start.earlier else None
        run = _ToldModelRun(event, start, repeats)
        if repeats is not None:
            repeats.next = run
        return run

    def _repeated(self, start: ModelStart, name: str) -> _ToldModelRun | None:
        """The first of the runs that may be repeated, in the same node and best of the same name.

        A run that was not told, because the reader asked for other names, is none of them.
        """
        known = (self._runs.get(run_id) for run_id in start.earlier)
        free = [run for run in known if run and _is_free(run, start)]
        return next((run for run in free if run.name == name), free[0] if free else None)

    def _streamed(self, run: _ToldModelRun, event: Event) -> Iterable[Event]:
        chunk = event["data"]["chunk"]
        run.message_id = run.message_id or chunk.id
        if run.shown is run and self._dedup.passes(chunk, run.meta):
            return (event,)
        new = self._said(run, chunk)
        if run.held is not None and not new:
            run.held.append(event)
            return ()
        if run.held is not None and self._is_new(run, new):
            return self._released(run, event)
        run.held = None
        if run.shown is run:
            return (event,)
        if run.shown.is_over or not new:
            return ()
        return (_shown(event, run.shown, "chunk", new[-1].data),)

    def _said(self, run: _ToldModelRun, message: BaseMessage) -> list[Part]:
        """What of a message is new."""
        feed = self._dedup.feed
        if not run.has_spoken:
            run.has_spoken = True
            if run.repeats is not None:
                void = RemoveMessage(id=run.repeats.key)
                list(feed(Part((), "messages", void, run.noted("retry"))))
            elif message.id:
                run.key = message.id  # so that the next chunks need no copy
        if message.id != run.key:
            message = message.model_copy(update={"id": run.key})
        return list(feed(Part((), "messages", message, run.meta)))

    def _is_new(self, run: _ToldModelRun, new: list[Part]) -> bool:
        """Whether it is told as it came: it says something else, or more than what has ended."""
        if not new:
            return False
        said = new[-1].data
        return said.id == run.key or (run.shown.is_over and bool(said.content))

    def _released(self, run: _ToldModelRun, event: Event) -> Iterable[Event]:
        """All the events of a run that turned out not to repeat another."""
        old, held = run.shown, run.held or []
        run.held, run.shown = None, run
        return [*old.take_failed_end(), *held, event]

    def _ended(self, run: _ToldModelRun, event: Event) -> Iterable[Event]:
        output = event["data"].get("output")
        if isinstance(output, dict) and output.get("generations") == [[]]:
            if run.shown is run:
                run.failed_end = event
                self._failed.append(run)
            return ()
        answer = _answer(output)
        new: list[Part] = []
        if answer is not None and not run.has_spoken:
            new = self._said(run, answer)
        elif run.held is not None:
            new = self._said(run, AIMessageChunk(content="", chunk_position="last"))
        if run.held is not None and (answer is None or self._is_new(run, new)):
            run.is_over = True
            return self._released(run, event)
        run.held, was_over = None, run.shown.is_over
        run.shown.is_over = True
        if run.shown is run or answer is None:
            return (event,)
        return () if was_over else (_shown(event, run.shown, "output", answer),)


def _is_free(run: _ToldModelRun, start: ModelStart) -> bool:
    """Whether no other run repeats it already, other than one that failed without a word.

    Such a one itself is repeated only if it began a line: in another's line there is nothing of it.
    """
    if run.repeats is not None and not run.has_spoken:
        return False
    later = run.next
    is_free = later is None or (later.id in start.earlier and not later.has_spoken)
    return is_free and _path(run.task) == _path(start.task)


def _path(task: str) -> str:
    return node_path(task.split(NS_SEP))


def _answer(output: Any) -> BaseMessage | None:
    """The message at the end of a run: v1 has it in the fields of a result, v2 alone."""
    if isinstance(output, dict):
        answers = [each for batch in output.get("generations", ()) for each in batch]
        output = answers[0].get("message") if answers else None
    return output if isinstance(output, BaseMessage) else None


def _shown(event: Event, run: _ToldModelRun, key: str, message: BaseMessage) -> Event:
    """An event of another run and message."""
    named: Any = message.model_copy(update={"id": run.message_id or message.id})
    old = event["data"][key]
    if isinstance(old, dict):  # v1
        first = {**old["generations"][0][0], "message": named}
        named = {**old, "generations": [[first]]}
    return {**event, "run_id": run.id, "data": {**event["data"], key: named}}
