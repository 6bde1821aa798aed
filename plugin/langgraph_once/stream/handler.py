"""The handlers: when nodes begin, return and fail, and everything that is said in a run.

`NodeHandler` hears the nodes, for every handler; `HintsHandler` serves states that are streamed
alone; `OnceMessagesHandler` is the handler of the `messages` mode. Upstream's sends tokens and the
messages that nodes return, and drops what bears an id that it has seen, in any task and whatever
it says. Ours sends what upstream's loses, and leaves the decision to the deduplicator, for which it
writes down what only it knows: where a message comes from, in which attempt, and by which model
run.

    lost upstream                                       found here
    `Command(graph=PARENT, update=…)`                   raised: `on_chain_error`
    same id, new content; `RemoveMessage`               compared with the input by content
    messages in nested values, `Overwrite`, …           `walk`
    equal ids in parallel tasks                         inputs are known by task
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Literal
from uuid import UUID, uuid4

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import (
    AIMessageChunk,
    BaseMessage,
    RemoveMessage,
)
from langchain_core.outputs import ChatGenerationChunk, LLMResult
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.pregel._messages import StreamMessagesHandler, graph_namespace

from langgraph_once.stream.annotation import (
    ANNOTATION_KEY,
    SCHEMA_VERSION,
    Annotation,
    Source,
    annotated,
    flagged,
    note_in,
)
from langgraph_once.stream.attempts import (
    ConcurrentWrites,
    EmittedMessage,
    Meta,
    ModelRun,
    Task,
    Tasks,
    TaskWrite,
    beside_failed,
    dropped,
    first_message,
    is_sent,
    known_first,
    raised_update,
)
from langgraph_once.stream.content import AUTO_ID_PREFIX, Content, as_whole, content_of
from langgraph_once.stream.messages_within import Found, found_in_input, found_in_update
from langgraph_once.stream.places import NODE_KEY, NS_SEP, TASK_NS_KEY, node_names, runner_of
from langgraph_once.stream.run import Run, Standing
from langgraph_once.stream.state_cut import Hints

logger = logging.getLogger(__name__)


class NodeHandler(BaseCallbackHandler):
    """Hears the nodes of a run, of all graphs in it, and counts their attempts.

    Nodes without `async` run in threads, several at a time.

    Attributes:
        metadata: The runs of nodes that have not ended, where upstream's handler has them.
    """

    run_inline = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.metadata: dict[UUID, Meta] = {}
        self._tasks = Tasks()

    def on_chain_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002  # its name is part of the call
        inputs: dict[str, Any],  # noqa: ARG002  # as well
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Note that a node begins, perhaps once more."""
        if metadata and is_node(metadata, kwargs.get("name")):
            self.metadata[run_id] = graph_namespace(metadata), metadata
            self._begin(self._tasks.get(metadata[TASK_NS_KEY]))

    def on_chain_end(self, response: Any, *, run_id: UUID, **_: Any) -> Any:  # type: ignore[override]  # as upstream's
        """Note what a node returned."""
        if (meta := self.metadata.pop(run_id, None)) is not None:
            task = self._tasks.get(meta[1][TASK_NS_KEY])
            self._end(meta, task, response, "node", is_over=task.end())

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> Any:
        """Note that a node failed, or raised a command to the graph of this task."""
        if (meta := self.metadata.pop(run_id, None)) is not None:
            task = self._tasks.get(meta[1][TASK_NS_KEY])
            is_over = task.end()
            update = raised_update(error, task, meta[1].get(NODE_KEY))
            if update is not None:
                self._end(meta, task, update, "command", is_over=is_over)

    def _begin(self, task: Task) -> None:
        task.start()

    def _end(self, meta: Meta, task: Task, response: Any, source: Source, *, is_over: bool) -> None:  # noqa: ARG002  # for others
        """Note the update of a task that succeeded, or of what runs in it under its name."""
        if is_over:
            self._tasks.finish(task)


class HintsHandler(NodeHandler):
    """Notes what tells how to cut states, for a stream without the `messages` mode.

    A state tells neither which task a message comes from nor that a task ran again, and an update
    may carry a message before its reducer gives it an id. So a message without an id gets one at
    once, as upstream's handler does in the `messages` mode. No model streams because of this.

    Attributes:
        hints: Takes what is noted.
    """

    ignore_llm = ignore_chat_model = ignore_agent = ignore_retriever = True

    def __init__(self, hints: Hints) -> None:
        super().__init__()
        self.hints: Hints = hints

    def _begin(self, task: Task) -> None:
        if task.start():
            self.hints.note_rerun(task.ns)

    def _end(self, meta: Meta, task: Task, response: Any, source: Source, *, is_over: bool) -> None:
        for message in found_in_update(response).messages:
            message.id = message.id or str(uuid4())
            self.hints.note_returned(message.id, meta[0], task.ns)
        super()._end(meta, task, response, source, is_over=is_over)


def is_node(metadata: Mapping[str, Any], name: str | None) -> bool:
    """Whether a run of these metadata is that of a node, and not of something inside it."""
    return TASK_NS_KEY in metadata and name == metadata.get(NODE_KEY)


class OnceMessagesHandler(NodeHandler, StreamMessagesHandler):
    """`StreamMessagesHandler` for a graph that is wrapped by `once`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.run = Run.take()
        self.run.put = self.stream
        self._models: dict[UUID, ModelRun] = {}
        # One tuple: callbacks in threads never see the id of one run beside another run.
        self._last: tuple[UUID | None, ModelRun | None] = None, None
        self._concurrent = ConcurrentWrites()
        self._standing = Standing()
        self._writing = threading.Lock()

    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], **kwargs: Any
    ) -> Any:
        """Note a model run, if upstream would stream it."""
        if TASK_NS_KEY in (kwargs.get("metadata") or {}):
            kwargs["metadata"], _ = beside_failed(kwargs["metadata"])
        super().on_chat_model_start(serialized, messages, **kwargs)
        run_id: UUID = kwargs["run_id"]
        meta = self.metadata.get(run_id)
        # Upstream noted nothing: the run is tagged `nostream`, or in a graph that is not streamed.
        if meta is None:
            return
        task = self._tasks.get(meta[1][TASK_NS_KEY])
        self._take_back_inner(task.ns)
        # D4: a model speaks after others failed (`with_retry`, fallbacks): those are void.
        self._take_back_broken(meta, task)
        run = self._models[run_id] = ModelRun(str(run_id), task, meta)
        run.meta = meta[0], self._annotate(meta[1], "model", task, run=run)

    def on_llm_new_token(  # type: ignore[override]  # as upstream's own
        self,
        token: str,  # noqa: ARG002  # its name is part of the call
        *,
        chunk: ChatGenerationChunk | None = None,
        run_id: UUID,
        **_: Any,
    ) -> Any:
        """Send a token, under the id of its model run."""
        if not isinstance(chunk, ChatGenerationChunk):
            return
        message: BaseMessage = chunk.message
        run_told, run = self._last
        if run_told is not run_id:  # a UUID takes longer to hash than all the rest of a token
            run = self._models.get(run_id)
            self._last = run_id, run
        if run is None:
            return
        ns, metadata = run.meta
        if not run.id or run.id != message.__dict__["id"]:  # past pydantic, for speed
            message, metadata = self._under_one_id(run, message)
        self.stream((ns, "messages", (message, metadata)))

    def _under_one_id(
        self, run: ModelRun, message: BaseMessage
    ) -> tuple[BaseMessage, dict[str, Any]]:
        own, metadata = message.id, run.meta[1]
        if own:
            run.task.runs.setdefault(own, run)
        if not run.id:
            self._begin_to_speak(run, own)
        if own == run.id:
            return message, metadata
        # The state has it under the provider's id, which plain LangGraph sends.
        if own and not self.run.form.folds and run.id.startswith(AUTO_ID_PREFIX):
            metadata = annotated(metadata, {**note_in(metadata), "named": own})
        return message.model_copy(update={"id": run.id}), metadata

    def _take_back_broken(self, meta: Meta, task: Task) -> None:
        """Take back what models said in a task that broke off, and that it did not return."""
        runs = dict.fromkeys(list(task.runs.values()))  # others may begin beside
        broken = [run for run in runs if run.broke_off and task.ns not in run.kept_in]
        if broken:
            void = [EmittedMessage(run.id, meta[0], task.ns) for run in broken]
            self._take_back(task, void, meta[1])
            task.runs = {known: run for known, run in list(task.runs.items()) if run not in broken}

    def _begin_to_speak(self, run: ModelRun, message_id: str | None) -> None:
        with suppress(RuntimeError):  # no loop runs in this thread
            run.awaited = asyncio.current_task()
        run.id = message_id or f"{AUTO_ID_PREFIX}-{run.run_id}"
        note_in(run.meta[1])["id"] = run.id
        run.task.runs[run.id] = run
        self._tasks.say(EmittedMessage(run.id, run.meta[0], run.task.ns), run)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> Any:
        """Send the whole message of a model that did not stream."""
        run = self._ended(run_id)
        message = first_message(response)
        if run is None or message is None:
            return
        run.said = content_of(message)
        # On the object that the node returns, as upstream does: so the state has the same id.
        message.id = message.id or str(uuid4())
        self.seen.add(message.id)
        self._standing.tell(message.id)
        run.task.runs.setdefault(message.id, run)
        if not run.id:
            self._begin_to_speak(run, message.id)
            self._send(run.meta[0], as_whole(message), run.meta[1], run.task)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> Any:
        """Note that a model run failed: what it sent is void."""
        run = self._ended(run_id)
        if run is not None:
            # GeneratorExit: the caller stopped reading. Not a failure.
            run.failed = not isinstance(error, GeneratorExit)

    def _ended(self, run_id: UUID) -> ModelRun | None:
        self.metadata.pop(run_id, None)
        run = self._models.pop(run_id, None)
        if run is not None:
            run.is_over = True
        if self._last[1] is run:
            self._last = None, None
        return run

    def on_chain_start(
        self,
        serialized: dict[str, Any],
        inputs: dict[str, Any],
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Note what a node is given; take back what an attempt before this one has said."""
        failed = None
        if metadata is not None and TASK_NS_KEY in metadata:
            metadata, failed = beside_failed(metadata)
        # Upstream knows which graphs are streamed. The inputs are walked here, so it gets none to
        # walk, but where its way is asked for.
        known = {} if self.run.form.keeps_thread else inputs
        with suppress(TypeError):  # ids come last there, and may be of what cannot be hashed
            StreamMessagesHandler.on_chain_start(
                self, serialized, known, run_id=run_id, metadata=metadata, **kwargs
            )
        if metadata is None or TASK_NS_KEY not in metadata:
            return
        if run_id not in self.metadata:
            self._tasks.start_inside(metadata[TASK_NS_KEY], inputs)
            return
        task = self._tasks.get(metadata[TASK_NS_KEY])
        task.is_sent = is_sent(metadata)
        self._tasks.at_step(task, metadata.get("langgraph_step"))
        if failed is not None:
            broken = self._tasks.get(failed)
            node = node_names(failed.split(NS_SEP))[-1]
            about = {**metadata, TASK_NS_KEY: failed, NODE_KEY: node}
            self._take_back(broken, list(broken.said.values()), about)
        if task.start():
            self._take_back(task, task.take_back(inner=False), metadata)
        else:
            self._take_back_inner(task.ns)
        self.seen -= self._standing.added
        step = None if task.is_sent else task.steps[-1]
        found = [*found_in_input(inputs)]
        outer = self._tasks.outer(task.ns)
        around = [each.given for each in outer]
        came_in = outer[-1].came_in_unnamed if outer else None
        unproven = self._standing.unproven(runner_of(task.ns), step, inputs, found, came_in)
        unproven.update(*(given.still_unproven(found) for given in around))
        task.given.add(inputs, found, unproven, with_details=self.run.form.tells_details)
        for given in around:
            given.inside |= task.given.named.keys()

    def _end(self, meta: Meta, task: Task, response: Any, source: Source, *, is_over: bool) -> None:
        """Send the messages that a node returned, or raised with a command.

        What it runs may bear its name, and say what it does not return: upstream sends that.
        """
        if not is_over:
            if not self.run.form.folds:
                self._send_found(meta, task, self._found(meta, response), source)
            return
        self._take_back(task, task.take_back(inner=True), meta[1])
        found = self._found(meta, response)
        for message in found.messages:
            if isinstance(message.id, str):
                task.keep(message.id)
        self._take_back_broken(meta, task)  # first: else what the node copied of it would go, too
        self._send_found(meta, task, found, source)
        self._standing.end(task.given)
        for run in self._tasks.drafts(task):  # whether another repeats it the deduplicator knows
            ns, metadata = run.meta
            last = AIMessageChunk(content="", id=run.id, chunk_position="last")
            self.stream((ns, "messages", (last, flagged(metadata, "draft"))))
        self._tasks.finish(task)

    def _emit(self, meta: Meta, message: BaseMessage, **_: Any) -> None:
        """Send what `push_message` pushes; it calls this method of upstream's class."""
        task = self._tasks.get(meta[1][TASK_NS_KEY])
        self._send(meta[0], message, self._annotate(meta[1], "push", task), task)

    def _found(self, meta: Meta, response: Any) -> Found:
        return found_in_update(response, lambda key: self.run.is_message_key(meta[0], key))

    def _send_found(self, meta: Meta, task: Task, found: Found, source: Source) -> None:
        repeated = task.given.repeated(  # a `Send` gives no list that its task could replace
            found,
            lambda key: (
                not task.is_sent and (key in found.replaced or self.run.replaces(meta[0], key))
            ),
        )
        for message in known_first(found.messages, task, self.run.was_hidden):
            is_listed = id(message) in found.by_id
            written = TaskWrite(task, meta, message, source, is_listed=is_listed)
            try:
                is_unnamed, is_repeated = (
                    id(message) in each for each in (found.nameless, repeated)
                )
                self._send_returned(written, is_unnamed=is_unnamed, is_repeated=is_repeated)
            except Exception as error:  # a malformed message costs no other
                told = "A %s of node %r is streamed as it is: it is malformed (%s)"
                kind = type(message).__name__
                logger.warning(told, kind, meta[1].get(NODE_KEY), type(error).__name__)
                own = {key: meta[1][key] for key in meta[1] if key != ANNOTATION_KEY}
                self.stream((meta[0], "messages", (message, own)))
        for message_id in dropped(found, task):
            self._send_removal(meta, task, message_id, source)

    def _send_returned(self, written: TaskWrite, *, is_unnamed: bool, is_repeated: bool) -> None:
        """Send a message that a task returned, under an id.

        Args:
            written: The message, of which it is not known yet whether it is changed.
            is_unnamed: Whether its graph will give it another id.
            is_repeated: Whether it repeats what had no id.
        """
        task, meta, message, source, *_ = written
        is_named_here = not message.id
        if not message.id:  # as upstream, so that the state has it under this id
            is_copy = not (is_unnamed or is_repeated)
            streamed = task.copied(message, space=self.run.form.space) if is_copy else None
            message.id = streamed or str(uuid4())
        task.keep(message.id)
        if isinstance(message, RemoveMessage):
            if message.id != REMOVE_ALL_MESSAGES or not self.run.form.folds:
                self._send_removal(meta, task, message.id, source)
        elif is_unnamed:
            if self.run.form.folds:  # a state tells it, and under which id
                self._send_whole(written, "unnamed")
        else:
            is_news = is_named_here or self._has_changed(task, message)
            if is_named_here:
                self._standing.tell_unnamed(runner_of(task.ns), message)
            with self._writing:  # which of two is sent last decides what the consumer has
                is_changed = is_news and not is_repeated
                told = written._replace(is_changed=is_changed, is_named_here=is_named_here)
                self._send_written(told)

    def _send_written(self, written: TaskWrite) -> None:
        """Send a message that a task returned, if the consumer is to have it now."""
        task, message = written.task, written.message
        beside, wins = self._concurrent.keep(written) if written.is_listed else (None, True)
        if beside is not None and wins:
            self._send_whole(written, "wins")
        elif beside is not None:
            if message.id in task.runs:  # the consumer has both under one id
                self._send_whole(beside, "wins")
        elif written.is_changed or (
            task.is_sent and not self._was_given_around(task, content_of(message))
        ):
            self._send_whole(written)

    def _send_removal(self, meta: Meta, task: Task, message_id: str, source: Source) -> None:
        self.seen.add(message_id)
        gone = RemoveMessage(id=message_id)
        self._send(meta[0], gone, self._annotate(meta[1], source, task), task)

    def _send_whole(self, written: TaskWrite, *flags: Literal["unnamed", "wins"]) -> None:
        task, meta, message, source, *_ = written
        run = task.runs.get(str(message.id))
        message = as_whole(message)
        metadata = self._annotate(meta[1], source, task, run=run)
        note = note_in(metadata)
        is_known = not self.run.form.keeps_thread and message.id in self.seen
        if is_known or str(message.id) in task.given.named:
            note["given"] = True
        if run is not None and run.said == content_of(message):
            note["streamed"] = True
        if written.is_named_here:
            note["nameless"] = True
        for flag in flags:
            note[flag] = True
        self._send(meta[0], message, metadata, task)

    def _has_changed(self, task: Task, message: BaseMessage) -> bool:
        """Whether it is other than what the task was given, or the graphs around it were."""
        if str(message.id) in task.given.named:
            return not task.given.has(message, with_details=self.run.form.tells_details)
        return not self._was_given(task, message)

    def _was_given(self, task: Task, message: BaseMessage) -> bool:
        """Whether a message comes from outside, and nothing was told of it since.

        A graph inside this task may have named it; the task was given it as a string then.
        """
        message_id = str(message.id)
        if message_id in self.seen:
            return False
        content = content_of(message)
        # `previous` of a functional graph is in no input.
        if self.run.stood(message) or self._was_given_around(task, content, under=message_id):
            return True
        return message_id in task.given.inside and task.given.claims(content)

    def _was_given_around(self, task: Task, content: Content, *, under: str | None = None) -> bool:
        """Whether a graph around this task was run with a message. Later ones the ledger knows."""
        outer = self._tasks.outer(task.ns)
        given = [self.run.given, *(each for around in outer for each in around.started)]
        is_message_key = partial(self.run.is_message_key, ())
        return any(each.has(content, is_message_key, under=under) for each in given)

    def _send(
        self, ns: tuple[str, ...], message: BaseMessage, metadata: dict[str, Any], task: Task
    ) -> None:
        if not isinstance(message, RemoveMessage):
            self.seen.add(str(message.id))
            self._standing.tell(str(message.id))
            self._tasks.say(
                EmittedMessage(note_in(metadata).get("id") or str(message.id), ns, task.ns)
            )
        self.stream((ns, "messages", (message, metadata)))

    def _take_back_inner(self, task_ns: str) -> None:
        """Take back what was said inside the tasks around this one, if they run it again."""
        for outer in self._tasks.outer(task_ns):
            self._take_back(outer, outer.take_back(inner=True), {TASK_NS_KEY: outer.ns})

    def _take_back(
        self, task: Task, said: Iterable[EmittedMessage], metadata: Mapping[str, Any]
    ) -> None:
        for gone in said:
            task.said.pop((gone.task, gone.id), None)
            about = {**metadata, TASK_NS_KEY: gone.task}
            note = self._annotate(about, "retry", task)
            self.stream((gone.ns, "messages", (RemoveMessage(id=gone.id), note)))

    def _annotate(
        self,
        metadata: Mapping[str, Any],
        source: Source,
        task: Task,
        *,
        run: ModelRun | None = None,
    ) -> dict[str, Any]:
        note = Annotation(v=SCHEMA_VERSION, source=source, attempt=task.attempt)
        if len(task.steps) > 1:
            note["steps"] = task.steps
        if run is not None:
            note["run"] = run.run_id
            if run.id:
                note["id"] = run.id
        return annotated(metadata, note, sent=self.run.form.reads_annotations)
