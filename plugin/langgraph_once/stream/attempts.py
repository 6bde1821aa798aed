"""Which tasks run, in which attempt, and what was sent in attempts that failed.

And what they return, beside what they were given and what tasks beside them wrote.
"""

from __future__ import annotations

from asyncio import Future
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from langgraph.errors import ParentCommand
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command

from langgraph_once.stream.annotation import Source
from langgraph_once.stream.content import Content, Space, content_of
from langgraph_once.stream.entries import original_of
from langgraph_once.stream.messages_within import Found
from langgraph_once.stream.places import (
    NS_SEP,
    TASK_NS_KEY,
    PerGraph,
    lineage,
    node_path,
    task_order,
)
from langgraph_once.stream.run import GivenToGraph, GivenToTask

# Bounds memory in a node that starts runnables in a loop.
MAX_STARTED = 64

PUSH = "__pregel_push"
"""Private upstream (langgraph 1.2.24, langgraph/_internal/_constants.py); `test_once` notices when
it changes."""

ERROR_HANDLER = ("node_error_handler", False)
"""How the `langgraph_path` of an error handler's task ends; private upstream, too."""

Meta: TypeAlias = tuple[tuple[str, ...], dict[str, Any]]
"""A namespace and metadata."""


class EmittedMessage(NamedTuple):
    """A message that was sent."""

    id: str
    ns: tuple[str, ...]
    task: str


@dataclass(eq=False, slots=True)
class ModelRun:
    """One call of a chat model."""

    run_id: str
    task: Task

    meta: Meta
    """The namespace and the metadata of its tokens."""

    id: str = ""
    """The id of its first chunk that had one; all of it goes out under this id."""

    failed: bool = False
    """It ended in an error, so what it said is void."""

    is_over: bool = False
    """It has ended, well or badly."""

    awaited: Future[Any] | None = None
    """The asyncio task that it speaks in, if it speaks in one."""

    is_void: bool = False
    """Its task, or one around that, has begun anew since."""

    said: Content | None = None
    """What it said in all, once it has ended; its message may be changed after that."""

    kept_in: set[str] = field(default_factory=set)
    """The namespaces of the tasks that returned what it said."""

    @property
    def broke_off(self) -> bool:
        """Whether it failed, or was cancelled: langchain-core (1.7) calls nothing then."""
        is_cancelled = self.awaited is not None and self.awaited.done() and not self.is_over
        return self.failed or is_cancelled


@dataclass(eq=False, slots=True)
class Task:
    """One task of the running graph, over all its attempts in this stream."""

    ns: str

    attempt: int = 1
    """The number of the attempt that runs, from 1."""

    steps: list[int] = field(default_factory=list)
    """The steps in which it and the tasks around it run, outermost first."""

    given: GivenToTask = field(default_factory=GivenToTask)
    """What this attempt was given."""

    is_sent: bool = False
    """It was given that by a `Send`, and not by the state of its graph."""

    started: deque[GivenToGraph] = field(default_factory=lambda: deque(maxlen=MAX_STARTED))
    """What was given to what was started in it last: to a graph, perhaps."""

    runs: dict[str, ModelRun] = field(default_factory=dict)
    """The model runs of this attempt, by the ids they may be known under."""

    said: dict[tuple[str, str], EmittedMessage] = field(default_factory=dict)
    """What was sent in this attempt, tasks inside this one included."""

    stale: list[EmittedMessage] = field(default_factory=list)
    """What was sent inside it in earlier attempts and has not been taken back."""

    models: list[ModelRun] = field(default_factory=list)
    """The model runs that spoke in it, in any attempt, or in a task inside it."""

    _open: int = 0
    _started: bool = False

    @property
    def is_running(self) -> bool:
        """Whether it has started and not ended."""
        return self._open > 0

    def start(self) -> bool:
        """Note a start; whether it is an attempt after the first.

        A runnable inside a node may bear the node's name; it starts while the node runs.
        """
        self._open += 1
        if self._open > 1 or not self._started:
            self._started = True
            return False
        self.attempt += 1
        self.stale += self.said.values()
        for run in self.models:
            run.is_void = True
        self.given, self.runs, self.said = GivenToTask(), {}, {}
        return True

    def came_in_unnamed(self) -> list[Content]:
        """What was given without an id to what was started in it."""
        return [said for given in self.started for said in given.unnamed()]

    def end(self) -> bool:
        """Note an end; whether the task itself has ended, not something in it of its name."""
        self._open -= 1
        return self._open <= 0

    def keep(self, message_id: str | None) -> None:
        """Note that it returned a message, perhaps one that a model has streamed in it."""
        runs = [run for run in self.models if run.id == message_id]
        if not runs and message_id in self.runs:  # it bears the id that only its end told
            runs = [self.runs[message_id]]
        for run in runs:
            run.kept_in.add(self.ns)

    def copied(self, message: BaseMessage, *, space: Space) -> str | None:
        """The id of what a model has streamed in it and `message` repeats, for one copy each.

        Args:
            message: What its node returns, without an id.
            space: What white space may differ.
        """
        if not isinstance(message, AIMessage):
            return None
        free = [
            (run.id, run.said)
            for run in self.models
            if run.said and not (run.is_void or self.ns in run.kept_in)
        ]
        return original_of(content_of(message), free, space=space)

    def take_back(self, *, inner: bool) -> list[EmittedMessage]:
        """What earlier attempts sent: themselves, or with `inner` the tasks inside too."""
        taken = [said for said in self.stale if inner or said.task == self.ns]
        self.stale = [said for said in self.stale if said not in taken]
        return taken


class Tasks:
    """The tasks that are running."""

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}

    def get(self, task_ns: str) -> Task:
        """The task with this namespace; a new one if it is not running."""
        # `setdefault` is atomic: callbacks in two threads get the same new task.
        return self._tasks.get(task_ns) or self._tasks.setdefault(task_ns, Task(task_ns))

    def start_inside(self, task_ns: str, given: Any) -> None:
        """Note what is given to something that a task starts."""
        if (task := self._tasks.get(task_ns)) is not None:
            task.started.append(GivenToGraph(given))

    def at_step(self, task: Task, step: int | None) -> None:
        """Note the step in which a task runs."""
        if not task.steps:
            outer = self.outer(task.ns)
            task.steps = [*(outer[-1].steps if outer else ()), -1 if step is None else step]

    def finish(self, task: Task) -> None:
        """Forget a task that has succeeded, with all inside it: neither runs again."""
        inside = task.ns + NS_SEP
        for ns in list(self._tasks):  # tasks beside it may begin and end in other threads
            if ns == task.ns or ns.startswith(inside):
                self._tasks.pop(ns, None)

    def say(self, said: EmittedMessage, run: ModelRun | None = None) -> None:
        """Note what a task sent, for it and the tasks that it runs in.

        Args:
            said: The message.
            run: The model run whose first chunk it is, if it is one.
        """
        for ns in lineage(said.task):
            task = self.get(ns)
            task.said[said.task, said.id] = said
            if run is not None:
                task.models.append(run)

    def drafts(self, task: Task) -> list[ModelRun]:
        """The model runs whose answers no task returned, once no task is left that could.

        What a task inside others leaves may yet be returned by those.
        """
        if any(outer.is_running for outer in self.outer(task.ns)):
            return []
        return [run for run in task.models if not run.kept_in]

    def outer(self, task_ns: str) -> list[Task]:
        """The tasks that this one runs in, outermost first."""
        return [self.get(ns) for ns in lineage(task_ns)[:-1]]


def first_message(response: LLMResult) -> BaseMessage | None:
    """What a model answered, where it is a chat model."""
    answers = (answer for batch in response.generations for answer in batch)
    return next((each.message for each in answers if isinstance(each, ChatGeneration)), None)


def is_sent(metadata: Mapping[str, Any]) -> bool:
    """Whether a task runs because of a `Send`; a task of the functional API is called instead."""
    # langgraph 1.2.24, _algo.py: (PUSH, number of the `Send`); a call has its caller's path there.
    path: Any = metadata.get("langgraph_path") or ()
    return len(path) > 1 and path[0] == PUSH and isinstance(path[1], int)


def beside_failed(metadata: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
    """The metadata of a task and, if it is an `error_handler`, which task failed.

    LangGraph has an error handler run in its node, where a graph inside it would run, but it
    writes to the graph of the node (1.2.24, `prepare_node_error_handler_task` in
    langgraph/pregel/_algo.py). So nobody who reads that graph alone would hear it.
    """
    path: Any = metadata.get("langgraph_path") or ()
    if tuple(path[-2:]) != ERROR_HANDLER:
        return metadata, None
    *outer, failed, own = metadata[TASK_NS_KEY].split(NS_SEP)
    told = {**metadata, TASK_NS_KEY: NS_SEP.join((*outer, own))}
    return told, NS_SEP.join((*outer, failed))


def raised_update(error: BaseException, task: Task, node: str | None) -> Command[Any] | None:
    """What a command that was raised to the graph of this task says to write there."""
    if not isinstance(error, ParentCommand):
        return None
    command = error.args[0]
    graph_names = {task.ns, node_path(task.ns.split(NS_SEP)), node}  # as upstream compares it
    return Command(update=command.update) if command.graph in graph_names else None


class TaskWrite(NamedTuple):
    """A message that a task returned."""

    task: Task
    meta: Meta
    message: BaseMessage
    source: Source
    is_changed: bool = True
    """Whether it is other than what the task was given."""

    is_listed: bool = False
    """Whether it is in a list that keeps one message for each id."""

    is_named_here: bool = False
    """Whether the task returned the message without an id. A copy now has that of its original."""


class ConcurrentWrites:
    """The tasks of one step that write messages of one id into one list, which keeps the last.

    The last is not who is done last: upstream applies what the tasks of a step wrote in the
    order of their paths (langgraph 1.2.24, `apply_writes` in langgraph/pregel/_algo.py).
    """

    def __init__(self) -> None:
        self._steps: PerGraph[tuple[int, dict[str, TaskWrite]]] = PerGraph()

    def keep(self, written: TaskWrite) -> tuple[TaskWrite | None, bool]:
        """Note what a task writes into a list.

        Returns:
            What a task beside it wrote under this id, if one did, and not both wrote what was
            there; and whether the list keeps this one all the same.
        """
        task, (_, metadata), message, _, is_changed, *_ = written
        graph, step = lineage(task.ns)[:-1], metadata.get("langgraph_step", -1)
        known_step, known = self._steps.get(graph, (None, {}))
        if known_step != step:
            known = {}
            self._steps.note(graph, (step, known))
        before = known.get(str(message.id))
        wins = before is None or task_order(metadata) >= task_order(before.meta[1])
        if wins:
            known[str(message.id)] = written
        if before is None or before.task.ns == task.ns or not (is_changed or before.is_changed):
            return None, wins
        return before, wins


def known_first(
    messages: list[BaseMessage], task: Task, was_hidden: Callable[[str], bool]
) -> list[BaseMessage]:
    """Those that this task has said first, so that no other is taken for their copy.

    Args:
        messages: What it returned.
        task: The task.
        was_hidden: Whether it had said the message of an id before it was resumed, unheard.
    """
    known = {said.id for said in list(task.said.values())} | task.runs.keys()  # others may say
    return sorted(messages, key=lambda m: str(m.id) not in known and not was_hidden(str(m.id)))


def dropped(found: Found, task: Task) -> list[str]:
    """The ids that the node was given and that are in no list it replaced or cleared."""
    kept = found.replaced.copy()
    for at, message in enumerate(found.messages):
        if isinstance(message, RemoveMessage) and message.id == REMOVE_ALL_MESSAGES:
            keys = set(task.given.keys.values()) - kept.keys()
            kept |= dict.fromkeys(keys, found.messages[at + 1 :])
    ids = {key: {str(message.id) for message in messages} for key, messages in kept.items()}
    return [
        message_id
        for message_id, key in task.given.keys.items()
        if key in ids and message_id not in ids[key]
    ]
