"""`astream_events`, v1 and v2: a model's answer that a repeated attempt says again is told once.

A reader of these events takes nothing back. So the events of a model run that may repeat another
are held while it says the same. What it says beyond that goes out under the run id and the message
id that the reader has; where it says something else, all of its events go out as they came. The
events of nodes, tools and graphs are not touched: the messages in them are states.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import aclosing
from typing import Any, Final, TypeAlias, cast
from uuid import UUID

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config, merge_configs

from langgraph_once.config import DedupConfig
from langgraph_once.stream.attempts import EmittedMessage
from langgraph_once.stream.content import Content, StreamedContent, content_of
from langgraph_once.stream.handler import NodeHandler
from langgraph_once.stream.hidden import Hiding
from langgraph_once.stream.places import NODE_KEY, NS_SEP, TASK_NS_KEY, node_path
from langgraph_once.stream.reexecution import end_of

START: Final = "on_chat_model_start"
STREAM: Final = "on_chat_model_stream"
END: Final = "on_chat_model_end"

NOTHING: Final = Content("ai", "")

Event: TypeAlias = dict[str, Any]

Start: TypeAlias = tuple[str, dict[str, None]]
"""The task that calls a model, and the ids of the runs whose answers are void, in their order: an
attempt of the task, or of one around it, began anew, or the model failed in the same attempt."""


class ModelRunsHandler(NodeHandler):
    """Notes which model runs may repeat others: when they start, as events are read later.

    Attributes:
        starts: The model runs by their ids, until somebody takes them from here.
    """

    ignore_agent = ignore_retriever = True

    def __init__(self) -> None:
        super().__init__()
        self.starts: dict[str, Start] = {}
        self._failed: set[str] = set()

    def on_chat_model_start(
        self, *_: Any, run_id: UUID, metadata: dict[str, Any] | None = None, **__: Any
    ) -> None:
        """Note what a model run may repeat."""
        if not metadata or TASK_NS_KEY not in metadata:
            return
        run = EmittedMessage(str(run_id), (), metadata[TASK_NS_KEY])
        task = self._tasks.get(run.task)
        void = [old.id for each in (*self._tasks.outer(task.ns), task) for old in each.stale]
        void += [old.id for old in list(task.said.values()) if old.id in self._failed]
        self.starts[run.id] = task.ns, dict.fromkeys(void)
        self._tasks.say(run)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """Note that the answer of a run is void, unless its reader just stopped reading."""
        if not isinstance(error, GeneratorExit):
            self._failed.add(str(run_id))


async def told_once(
    events: Callable[[RunnableConfig], AsyncIterator[Any]],
    config: RunnableConfig | None,
    dedup: DedupConfig,
) -> AsyncGenerator[Any]:
    """The events of a graph, each answer once; `events` runs the graph with a config."""
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
            for kept in told.ends():
                yield kept
            raise
        for kept in told.ends():
            yield kept


class _ModelRun:
    """A model run, as the reader of its events knows it.

    Attributes:
        next: The run that may repeat it.
        shown: The run under whose ids its events go out.
        held: Its events, while it repeats another; None once that is decided.
        message_id: The id of its first chunk that had one.
        said: What its chunks say. A run that goes on with another shares this with it.
        answer: What it answered, if it did not stream.
        is_over: The reader has its end.
    """

    def __init__(self, event: Event, task: str, repeats: _ModelRun | None) -> None:
        self.id: str = event["run_id"]
        self.name: str = event["name"]
        self.task = task
        self.next: _ModelRun | None = None
        self.shown: _ModelRun = self if repeats is None else repeats.shown
        self.held: list[Event] | None = None if repeats is None else []
        self.message_id: str | None = None
        self.said: StreamedContent | None = None
        self.answer: Content | None = None
        self.is_over = False

    @property
    def is_silent(self) -> bool:
        """Whether it has said nothing, where it may repeat another."""
        return self.held is not None and self.said is None and self.answer is None

    @property
    def spoken(self) -> Content:
        """What its chunks say."""
        return NOTHING if self.said is None else self.said.content()


class _ModelEventFilter:
    """Decides which events of models are told."""

    def __init__(self, dedup: DedupConfig, starts: dict[str, Start]) -> None:
        self._hiding = Hiding(dedup)
        self._starts = starts
        self._runs: dict[str, _ModelRun | None] = {}
        # Their ends, in v1, which tell that they failed; kept, as another run may go on with one.
        self._failed: dict[_ModelRun, Event] = {}
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
        if kind != START:
            return (self._streamed if kind == STREAM else self._ended)(run, event)
        if run.held is None:
            return (event,)
        run.held.append(event)
        return ()

    def ends(self, of: Callable[[_ModelRun], bool] = lambda _: True) -> Iterable[Event]:
        """The ends of runs that failed, in v1, but for those that others went on with."""
        for run in filter(of, [*self._failed]):
            end = self._failed.pop(run)
            if not run.is_over:
                run.is_over = True
                yield end

    def _ends_before(self, event: Event) -> Iterable[Event]:
        """Those of a node, or of the graph, that is done; a node that fails has no output."""
        metadata, data = event["metadata"], event["data"]
        if event["run_id"] == self._root and event["event"] == "on_chain_end":
            return self.ends()
        if event["name"] == metadata.get(NODE_KEY) and (data.get("output") or "chunk" in data):
            return self.ends(lambda run: run.task == metadata.get(TASK_NS_KEY))
        return ()

    def _begun(self, event: Event) -> _ModelRun | None:
        """A run that begins; None if it is hidden.

        It may repeat the first of the void runs of its node, best of the same name, that no other
        repeats but one that is void and silent. Of those that the reader did not ask for, none.
        """
        task, void = self._starts.pop(event["run_id"], ("", {}))
        name, nodes = event["name"], task.split(NS_SEP)
        if self._hiding and self._hiding.hides_run(
            tuple(nodes[:-1]), event["metadata"], event["tags"], name
        ):
            return None
        free = [
            old
            for old in map(self._runs.get, void)
            if old is not None
            and not old.is_silent
            and (old.next is None or (old.next.id in void and old.next.is_silent))
            and node_path(old.task.split(NS_SEP)) == node_path(nodes)
        ]
        old = next((old for old in free if old.name == name), free[0] if free else None)
        run = _ModelRun(event, task, old)
        if old is not None:
            old.next = run
        return run

    def _streamed(self, run: _ModelRun, event: Event) -> Iterable[Event]:
        chunk, old = event["data"]["chunk"], run.shown
        run.message_id = run.message_id or chunk.id
        try:
            if run.said is None:
                run.said = StreamedContent(chunk)
            else:
                run.said.extend(chunk)
        except Exception:  # no field of a message is validated when assigned
            if run.held is not None:
                return self._released(run, event)
        if run.held is None:
            return (event,) if old is run else (_shown(event, old, "chunk", chunk),)
        told, said = old.spoken, run.spoken
        rest = told.suffix_of(said)
        if rest is not None and not old.is_over:
            run.held, old.said = None, run.said
            cut = chunk if rest == chunk.text else rest and end_of(chunk, len(rest))
            return (_shown(event, old, "chunk", cut),) if cut else ()
        if not told.text.startswith(said.text):
            return self._released(run, event)
        run.held.append(event)
        return ()

    def _ended(self, run: _ModelRun, event: Event) -> Iterable[Event]:
        output, old = event["data"].get("output"), run.shown
        if isinstance(output, dict) and output.get("generations") == [[]]:
            if old is run:
                self._failed[run] = event
            return ()
        answer = _answer(output)
        if run.said is None:
            run.answer = NOTHING if answer is None else content_of(answer)
        if run.held is not None and (run.answer or run.spoken) != (old.answer or old.spoken):
            run.is_over = True
            return self._released(run, event)
        run.held, was_over, old.is_over = None, old.is_over, True
        if old is run or answer is None:
            return (event,)
        return () if was_over else (_shown(event, old, "output", answer),)

    def _released(self, run: _ModelRun, event: Event) -> Iterable[Event]:
        """All the events of a run that turned out not to repeat another."""
        old, held = run.shown, run.held or ()
        run.held, run.shown = None, run
        return [*self.ends(lambda failed: failed is old), *held, event]


def _answer(output: Any) -> BaseMessage | None:
    """The message at the end of a run: v1 has it in the fields of a result, v2 alone."""
    if isinstance(output, dict):
        answers = [each for batch in output.get("generations", ()) for each in batch]
        output = answers[0].get("message") if answers else None
    return output if isinstance(output, BaseMessage) else None


def _shown(event: Event, run: _ModelRun, key: str, message: BaseMessage) -> Event:
    """An event as one of another run; in v1 a result stays as it is."""
    data = dict(event["data"])
    if not isinstance(data[key], dict):
        data[key] = message.model_copy(update={"id": run.message_id or message.id})
    return {**event, "run_id": run.id, "data": data}
