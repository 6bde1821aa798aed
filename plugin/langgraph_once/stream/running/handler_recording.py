"""The handler of a run that is recorded for two consumers: ours, and upstream's beside it.

What upstream's handler sends is marked (`SIDE_KEY`), so that `recording.py` passes it on as it is.
The graph runs once: its models and tools are not called again for the second consumer. Upstream's
goes first, and names what a node returns without an id. So the state is the one of LangGraph alone.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import UUID

from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult
from langgraph.pregel._messages import StreamMessagesHandler

from langgraph_once.stream.part.annotation import SIDE_KEY
from langgraph_once.stream.running.attempts import Meta
from langgraph_once.stream.running.handler_hiding import HidingMessagesHandler


class RecordingMessagesHandler(HidingMessagesHandler):
    """`OnceMessagesHandler` that also sends what upstream's handler would send in its place."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._stock = StreamMessagesHandler(self._send_stock, *args[1:], **kwargs)

    def _send_stock(self, chunk: Any) -> None:
        ns, mode, (message, metadata) = chunk
        self.stream((ns, mode, (message, {**metadata, SIDE_KEY: "stock"})))

    def _also(self, method: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        # LangChain passes over a handler that fails; ours is to go on then, as it would alone.
        with suppress(Exception):
            method(*args, **kwargs)

    def on_chat_model_start(self, *args: Any, **kwargs: Any) -> Any:
        """Note a model run, for both."""
        self._also(self._stock.on_chat_model_start, *args, **kwargs)
        super().on_chat_model_start(*args, **kwargs)

    def on_llm_new_token(self, token: str, **kwargs: Any) -> Any:  # type: ignore[override]  # as upstream's
        """Send a token, for both."""
        self._also(self._stock.on_llm_new_token, token, **kwargs)
        super().on_llm_new_token(token, **kwargs)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **told: Any) -> Any:
        """Send what a model has said, for both."""
        self._also(self._stock.on_llm_end, response, run_id=run_id, **told)
        super().on_llm_end(response, run_id=run_id, **told)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **told: Any) -> Any:
        """Forget a model run that failed, for both."""
        self._also(self._stock.on_llm_error, error, run_id=run_id, **told)
        super().on_llm_error(error, run_id=run_id, **told)

    def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: UUID, **told: Any) -> Any:
        """Note a node, for both."""
        self._also(self._stock.on_chain_start, serialized, inputs, run_id=run_id, **told)
        super().on_chain_start(serialized, inputs, run_id=run_id, **told)

    def on_chain_end(self, response: Any, *, run_id: UUID, **told: Any) -> Any:  # type: ignore[override]  # as upstream's
        """Send what a node has returned, for both."""
        self._also(self._stock.on_chain_end, response, run_id=run_id, **told)
        super().on_chain_end(response, run_id=run_id, **told)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **told: Any) -> Any:
        """Forget a node that failed, for both."""
        self._also(self._stock.on_chain_error, error, run_id=run_id, **told)
        super().on_chain_error(error, run_id=run_id, **told)

    def _emit(self, meta: Meta, message: BaseMessage, **how: Any) -> None:
        """Send what `push_message` pushes, for both."""
        self._also(self._stock._emit, meta, message, **how)  # noqa: SLF001  # upstream calls it so
        super()._emit(meta, message, **how)
