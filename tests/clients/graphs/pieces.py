"""Building blocks of the zoo: models that stream slowly enough to be watched, and nodes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langgraph.runtime import get_runtime
from langgraph.types import RetryPolicy

from graphs.models import ScriptedChatModel
from tests.corpus.models import BrokenConnectionError

DELAY_S = 0.004
"""Pause after each word; a text of eight words is on its way for as many reads of a client."""

RETRY = RetryPolicy(initial_interval=0.01, jitter=False, max_attempts=3, retry_on=Exception)


class BreakingModel(ScriptedChatModel):
    """A scripted model whose connection breaks in the middle of an answer."""

    breaks_after: int

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        raise BrokenConnectionError("the connection broke")

    async def _astream(
        self,
        messages: list[BaseMessage],
        *args: Any,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        at = 0
        async for chunk in super()._astream(messages, *args, run_manager=run_manager, **kwargs):
            if at == self.breaks_after:
                raise BrokenConnectionError("the connection broke")
            yield chunk
            at += 1


def about(messages: Sequence[BaseMessage]) -> str:
    """What the last person to speak asked about."""
    asked = [message for message in messages if isinstance(message, HumanMessage)]
    return str(asked[-1].text).rpartition(" ")[2]


def model(
    text: str,
    *,
    calls: Sequence[dict[str, Any]] = (),
    breaks_after: int | None = None,
    delay_s: float = DELAY_S,
) -> ScriptedChatModel:
    """A model that says `text`, with what is asked about for `{topic}`."""

    def script(messages: Sequence[BaseMessage]) -> AIMessage:
        named: Any = [{"id": None, **call} for call in calls]
        return AIMessage(text.format(topic=about(messages)), tool_calls=named)

    if breaks_after is None:
        return ScriptedChatModel(script=script, delay_s=delay_s)
    return BreakingModel(script=script, delay_s=delay_s, breaks_after=breaks_after)


async def streamed(state: Any, text: str, **how: Any) -> AIMessage:
    """What a model says to the conversation, streamed."""
    answer: AIMessage = await model(text, **how).ainvoke(state["messages"])
    return answer


def says(text: str, **how: Any) -> Any:
    """A node that streams a text and returns what it streamed."""

    async def node(state: Any) -> dict[str, Any]:
        return {"messages": [await streamed(state, text, **how)]}

    return node


def is_first_attempt() -> bool:
    """Whether the node that runs now has not failed before."""
    info = get_runtime().execution_info
    return info is None or info.node_attempt == 1
