"""A remote graph as a node of a local graph: it behaves there as a local subgraph does.

A local subgraph shares its parent's streams through the config. Messages go to the handlers among
the callbacks; everything else goes to the stream under `__pregel_stream`. Namespaces begin with
the parent's task. An interrupt is raised; a resume is found in the config. Measured with
langgraph 1.2.24; `test_graph_call` notices when a key changes.

A server lets one run at a time into a thread, and a remote graph in a node runs in the thread of
the graph around it. On another server that is a thread of the same name; on its own server the run
would wait for itself, for ever. There it gets a thread of its own: the same whenever the node runs
in that thread, so that it remembers and is resumed as on another server.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Self
from uuid import UUID, uuid5

from langchain_core.messages import BaseMessage, BaseMessageChunk, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphInterrupt
from langgraph.pregel._messages import StreamMessagesHandler, StreamMessagesHandlerV2
from langgraph.types import Command, Interrupt

from langgraph_once.config import DedupConfig
from langgraph_once.errors import ConfigError
from langgraph_once.stream import (
    NS_SEP,
    SERVED_KEY,
    TASK_NS_KEY,
    Deduplicator,
    OnceMessagesHandler,
    Part,
    annotated,
    annotation_of,
    as_whole,
    found_in_input,
    is_task,
    lineage,
    node_path,
    writer,
)

NS_KEY = "checkpoint_ns"
STREAM_KEY = "__pregel_stream"
SCRATCHPAD_KEY = "__pregel_scratchpad"
RESUMING_KEY = "__pregel_resuming"
RESUME_MAP_KEY = "__pregel_resume_map"
STEP_KEY = "langgraph_step"


class Caller:
    """The task of a local graph that runs a remote graph.

    Args:
        config: The config that the task was given.
        dedup: What counts as a repetition among the messages for the graphs around.
    """

    def __init__(self, config: RunnableConfig, dedup: DedupConfig | None) -> None:
        self._configurable: Mapping[str, Any] = config.get("configurable", {})
        self._scratchpad = self._configurable.get(SCRATCHPAD_KEY)
        self.task: str = self._configurable.get(NS_KEY) or ""
        # Upstream numbers the graphs of a task from the second on (langgraph/pregel/_loop.py).
        count = getattr(self._scratchpad, "subgraph_counter", lambda: 0)()
        self.ns = (*filter(None, self.task.split(NS_SEP)), *([str(count)] if count else []))
        self._step: int = config.get("metadata", {}).get(STEP_KEY, -1)
        self._stream: Any = self._configurable.get(STREAM_KEY)
        self._write = writer([], subgraphs=True)  # as graphs pass parts to each other
        self._stream_modes = frozenset(getattr(self._stream, "modes", ())) - {"messages"}
        self._listeners = [*map(_listener, _message_handlers(config))]
        self._dedup = Deduplicator(replace(dedup or DedupConfig(), state="full"))
        self._interrupts: list[Interrupt] | None = None
        self._has_begun = False

    @classmethod
    def of(cls, config: RunnableConfig | None, dedup: DedupConfig | None) -> Self | None:
        """Who calls with this config; None if it is no task of a graph."""
        return cls(config, dedup) if config is not None and is_task(config) else None

    @property
    def modes(self) -> frozenset[str]:
        """The modes that the graphs around want."""
        return self._stream_modes | ({"messages"} if self._listeners else set())

    @property
    def is_resuming(self) -> bool:
        """Whether the graph around is being resumed after an interrupt."""
        return bool(self._configurable.get(RESUMING_KEY))

    def resumed(self, input: Any, state: Mapping[str, Any]) -> Any:
        """The input of the remote run: an answer, or nothing, if its thread stopped halfway.

        Args:
            input: What the task runs it with.
            state: The thread's state, as the server tells it.
        """
        if not state.get("next") or isinstance(input, Command):
            return input
        pending = {interrupt["id"] for interrupt in state.get("interrupts") or ()}
        answers = self._configurable.get(RESUME_MAP_KEY) or {}
        if mine := {key: value for key, value in answers.items() if key in pending}:
            return Command(resume=mine)
        if pending and self._scratchpad is not None:
            answer = self._scratchpad.get_null_resume(True)
            return None if answer is None else Command(resume=answer)
        return None

    def placed(self, part: Part) -> Part:
        """A part of the remote graph, in the namespace that the graphs around see."""
        ns = self.ns + part.ns
        if part.mode != "messages":
            return part._replace(ns=ns)
        meta = dict(part.meta)
        if meta.get(TASK_NS_KEY):
            meta[TASK_NS_KEY] = NS_SEP.join((*self.ns, meta[TASK_NS_KEY]))
        if (note := annotation_of(part.meta)) is not None:
            outer = [*[-1] * (len(lineage(self.task)) - 1), self._step]
            steps = note.get("steps") or [part.meta.get(STEP_KEY, -1)]
            meta = annotated(meta, {**note, "steps": [*outer, *steps]})
        return part._replace(ns=ns, meta=meta)

    def forward(self, part: Part) -> None:
        """Pass a placed part on to the graphs around, if they want it."""
        if part.mode == "messages":
            if self._listeners:
                self._emit(self._dedup.feed(part))
            return
        if part.ns == self.ns:
            self._note(part)
        if part.mode in self._stream_modes:
            self._stream(self._write(part))

    def _emit(self, parts: Iterator[Part]) -> None:
        for part in parts:
            for listener in self._listeners:
                listener.emit(part)

    def _note(self, part: Part) -> None:
        if part.mode == "updates":
            if part.interrupts is not None:
                self._interrupts = [*(self._interrupts or ()), *part.interrupts]
        elif part.mode == "values" and not self._has_begun:
            self._has_begun = True  # with what the thread holds, which the task returns as well
            for _, message in found_in_input(part.data):
                for listener in self._listeners:
                    listener.mark_seen(message)

    def ran_again(self) -> None:
        """Note that the server runs it again, from its last checkpoint."""
        self._dedup.ledger.begin()

    def finish(self) -> None:
        """Note that the remote run has ended well.

        Raises:
            GraphInterrupt: It was interrupted, and so is the task.
        """
        self._emit(self._dedup.close())
        for listener in self._listeners:
            listener.finish()
        if self._interrupts is not None:
            raise GraphInterrupt(tuple(self._interrupts))


class _Listener:
    """One handler of the `messages` mode."""

    def __init__(self, handler: StreamMessagesHandler) -> None:
        self._handler = handler

    def mark_seen(self, message: BaseMessage) -> None:
        """Note a message as old. Our handler compares messages; upstream's goes by their ids."""
        if not isinstance(self._handler, OnceMessagesHandler) and message.id:
            self._handler.seen.add(message.id)

    def emit(self, part: Part) -> None:
        # As `push_message` does: the handler knows then what the node need not send again.
        self._handler._emit((part.ns, dict(part.meta)), part.data, dedupe=False)  # noqa: SLF001  # no other way

    def finish(self) -> None:
        """Note that the remote run has ended."""


class _WholeListener(_Listener):
    """A handler of v3, which wants whole messages: its tokens are events of their own."""

    def __init__(self, handler: StreamMessagesHandler) -> None:
        super().__init__(handler)
        self._open: dict[tuple[tuple[str, ...], str | None], Part] = {}

    def emit(self, part: Part) -> None:
        message = part.data
        if isinstance(message, BaseMessageChunk):
            key = part.ns, message.id
            before = self._open.get(key)
            self._open[key] = part if before is None else part._replace(data=before.data + message)
            if getattr(message, "chunk_position", None) == "last":
                self._end(key)
        elif not isinstance(message, ToolMessage):  # v3 leaves them to the tools channel
            super().emit(part)

    def finish(self) -> None:
        for key in list(self._open):
            self._end(key)

    def _end(self, key: tuple[tuple[str, ...], str | None]) -> None:
        part = self._open.pop(key)
        super().emit(part._replace(data=as_whole(part.data)))


def _listener(handler: StreamMessagesHandler) -> _Listener:
    wants_whole = isinstance(handler, StreamMessagesHandlerV2)
    return _WholeListener(handler) if wants_whole else _Listener(handler)


def _message_handlers(config: RunnableConfig) -> Iterator[StreamMessagesHandler]:
    """The handlers that want messages of subgraphs."""
    callbacks: Any = config.get("callbacks")
    for handler in getattr(callbacks, "handlers", callbacks) or ():
        if isinstance(handler, StreamMessagesHandler) and handler.subgraphs:
            yield handler


METRICS = "/metrics?format=json"
IN_ONE_PROCESS = "langgraph_runtime_inmem"
"""The runtime of `langgraph dev`, whose only worker is in this process."""


class ServedRun(NamedTuple):
    """A run, by what names it on its server."""

    thread_id: str
    run_id: str


def served_run(config: RunnableConfig | None) -> ServedRun | None:
    """The run that a node belongs to whose config this is; None if no server runs it."""
    if config is None or not is_task(config):
        return None
    metadata = config.get("metadata", {})
    if SERVED_KEY not in metadata or "run_id" not in metadata:
        return None
    thread_id = config.get("configurable", {}).get("thread_id")
    return ServedRun(str(thread_id), str(metadata["run_id"])) if thread_id else None


def in_own_thread(config: RunnableConfig, run: ServedRun, assistant_id: str) -> RunnableConfig:
    """The config with the thread for this node and assistant in place of that of the run."""
    asked = config.get("configurable", {})
    node = node_path(asked.get(NS_KEY, "").split(NS_SEP))
    thread_id = uuid5(UUID(run.thread_id), f"{node} {assistant_id}")
    return {**config, "configurable": {**asked, "thread_id": str(thread_id)}}


def check_room(metrics: Any, assistant_id: str) -> None:
    """Refuse what would never end: the server runs one run at a time, and that one waits.

    Args:
        metrics: What the server answers for `METRICS`.
        assistant_id: Who is to be run.

    Raises:
        ConfigError: There is no room for a second run.
    """
    match metrics:
        case {"workers": {"max": 1}} if IN_ONE_PROCESS in sys.modules:
            raise ConfigError(
                "langgraph dev --n-jobs-per-worker",
                f"is 1, so that {assistant_id!r}, which a node runs on its own server, would wait "
                "for the run of that node, which waits for it; start the server with 10, say",
            )
