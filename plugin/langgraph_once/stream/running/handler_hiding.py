"""The handler of the `messages` mode, which streams no hidden model."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from langchain_core.messages import BaseMessage, RemoveMessage
from langchain_core.outputs import LLMResult

from langgraph_once.stream.part.annotation import note_in
from langgraph_once.stream.running.attempts import Task, first_message
from langgraph_once.stream.running.handler import OnceMessagesHandler
from langgraph_once.stream.running.suppressed_runs import SuppressedRuns

__all__ = ["HidingMessagesHandler"]


class HidingMessagesHandler(OnceMessagesHandler):
    """`OnceMessagesHandler` that knows what is not streamed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._suppressed = SuppressedRuns(self.run.config, self._tasks, self.stream)

    def on_chat_model_start(self, *args: Any, **kwargs: Any) -> Any:
        """Note a model run, and whether it is hidden."""
        super().on_chat_model_start(*args, **kwargs)
        run_id: UUID = kwargs["run_id"]
        if self._suppressed.starts(kwargs):
            self._ended(run_id)  # for all that is streamed
        elif (name := kwargs.get("name")) and (run := self._models.get(run_id)) is not None:
            note_in(run.meta[1])["name"] = name

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **told: Any) -> Any:
        """Say what a model has said."""
        self._suppressed.ends(run_id, first_message(response))
        super().on_llm_end(response, run_id=run_id, **told)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **told: Any) -> Any:
        """Who closes a stream early has what was wanted."""
        so_far = told.get("response") if isinstance(error, GeneratorExit) else None
        self._suppressed.ends(run_id, so_far and first_message(so_far))
        super().on_llm_error(error, run_id=run_id, **told)

    def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: UUID, **told: Any) -> Any:
        """Note a node, and whether what it returns is told."""
        super().on_chain_start(serialized, inputs, run_id=run_id, **told)
        self._suppressed.enters(run_id, inputs, told, is_told=run_id in self.metadata)

    def on_chain_end(  # type: ignore[override]  # as upstream's own
        self, response: Any, *, run_id: UUID, **told: Any
    ) -> Any:
        """Say what a node has returned."""
        self._suppressed.leaves(run_id, response)
        super().on_chain_end(response, run_id=run_id, **told)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **told: Any) -> Any:
        """Say what a node has raised."""
        self._suppressed.fails(run_id, error)
        super().on_chain_error(error, run_id=run_id, **told)

    def _send(
        self, ns: tuple[str, ...], message: BaseMessage, metadata: dict[str, Any], task: Task
    ) -> None:
        is_gone = isinstance(message, RemoveMessage)
        if not is_gone and (tags := self._suppressed.tags_of(message, task.ns)):
            note_in(metadata)["tags"] = tags
        super()._send(ns, message, metadata, task)
