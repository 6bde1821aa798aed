"""The chat models of the samples: one that follows a script, or a real one by name."""

import asyncio
import json
import os
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any
from uuid import uuid4

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import ToolCall, ToolCallChunk, tool_call, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from langgraph_once.errors import ConfigError

__all__ = ["Script", "ScriptedChatModel", "chat_model", "model_name"]

SCRIPTED = "scripted"
MODEL_KEY = "SAMPLES_MODEL"
MODEL_FORMS = f'"{SCRIPTED}", or "provider:model" such as "openai:gpt-4.1-mini"'

ARGS_PIECE_CHARS = 8

LOST = "the connection to the model was lost; ask it again"

Script = Callable[[Sequence[BaseMessage]], AIMessage]
"""What a scripted model answers to a conversation: text, tool calls, or both."""


def model_name() -> str:
    """The name of the samples' chat model, for `chat_model`: the variable `SAMPLES_MODEL`."""
    return os.environ.get(MODEL_KEY, SCRIPTED)


def chat_model(
    name: str, script: Script, *, breaks_off: Callable[[Sequence[BaseMessage]], bool] | None = None
) -> BaseChatModel:
    """The chat model called `name`.

    Args:
        name: "scripted", or a name for `init_chat_model` such as "openai:gpt-4.1-mini".
        script: The answers of the scripted model; a real model does not read it.
        breaks_off: When the scripted model loses its connection halfway through an answer.

    Raises:
        ConfigError: The name has another form, its packages are missing, or its provider
            refuses it.
    """
    if name == SCRIPTED:
        return ScriptedChatModel(script=script, breaks_off=breaks_off)
    provider, _, model = name.partition(":")
    if not (provider and model):
        raise ConfigError(MODEL_KEY, f"must be {MODEL_FORMS}, got {name!r}")
    return _provider_model(name, provider)


def _provider_model(name: str, provider: str) -> BaseChatModel:
    try:
        from langchain.chat_models import init_chat_model

        model: BaseChatModel = init_chat_model(name)
    except ImportError as error:
        package = f"langchain-{provider.replace('_', '-')}"
        raise ConfigError(
            MODEL_KEY,
            f"{name!r} needs packages that are not installed ({_first_line(error)}); "
            f"run `pip install langchain {package}`, or use {SCRIPTED!r}",
        ) from None
    except Exception as error:  # each provider has errors of its own, for a missing key say
        raise ConfigError(
            MODEL_KEY,
            f"{name!r} was refused ({_first_line(error)}); must be {MODEL_FORMS}, "
            "with the provider's key in the environment",
        ) from error
    return model


def _first_line(error: Exception) -> str:
    # Later lines of a validation error repeat the input, and with it perhaps a key.
    return next(iter(str(error).splitlines()), type(error).__name__)


class ScriptedChatModel(BaseChatModel):
    """A chat model that answers from a script and streams as providers do.

    Every call has an id of its own, which all of its chunks carry. Text comes in words,
    the arguments of tool calls in pieces of JSON, usage on the last chunk.
    """

    script: Script
    """Called with the conversation; a tool call without an id is given one."""

    breaks_off: Callable[[Sequence[BaseMessage]], bool] | None = None
    """Asked before each answer; if true, a `ConnectionError` ends it halfway."""

    delay_s: float = 0.0
    """Pause after each chunk of a stream, in seconds."""

    @property
    def _llm_type(self) -> str:
        return SCRIPTED

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind `tools`, so that they show in traces; the script alone decides on calls."""
        schemas = [convert_to_openai_tool(tool) for tool in tools]
        return self.bind(tools=schemas, tool_choice=tool_choice, **kwargs)

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        if self.breaks_off is not None and self.breaks_off(messages):
            raise ConnectionError(LOST)
        return ChatResult(generations=[ChatGeneration(message=_answer(self.script, messages))])

    def _stream(
        self,
        messages: list[BaseMessage],
        *_: Any,
        run_manager: CallbackManagerForLLMRun | None = None,
        **__: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in self._chunks(messages):
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk
            if self.delay_s:  # even `sleep(0)` counts as blocking in `langgraph dev`
                time.sleep(self.delay_s)

    async def _astream(
        self,
        messages: list[BaseMessage],
        *_: Any,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **__: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._chunks(messages):
            if run_manager:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk
            await asyncio.sleep(self.delay_s)

    def _chunks(self, messages: Sequence[BaseMessage]) -> Iterator[ChatGenerationChunk]:
        chunks = list(_chunks(_answer(self.script, messages)))
        if self.breaks_off is None or not self.breaks_off(messages):
            yield from chunks
            return
        yield from chunks[: len(chunks) // 2]
        raise ConnectionError(LOST)


def _answer(script: Script, messages: Sequence[BaseMessage]) -> AIMessage:
    """The script's answer, with what a provider adds: ids, usage and the reason of the end."""
    answer = script(messages)
    text = str(answer.text)
    calls = [
        tool_call(name=call["name"], args=call["args"], id=call["id"] or f"call_{uuid4().hex[:24]}")
        for call in answer.tool_calls
    ]
    read = sum(len(_words(str(message.text))) for message in messages)
    written = len(_words(text)) + sum(len(_args_pieces(call)) for call in calls)
    return AIMessage(
        content=text,
        id=f"chatcmpl-{uuid4().hex}",
        tool_calls=calls,
        usage_metadata={
            "input_tokens": read,
            "output_tokens": written,
            "total_tokens": read + written,
        },
        response_metadata={
            "finish_reason": "tool_calls" if calls else "stop",
            "model_name": SCRIPTED,
        },
    )


def _chunks(answer: AIMessage) -> Iterator[ChatGenerationChunk]:
    """`answer` as a provider streams it: text, then tool calls by index, then the usage."""
    for word in _words(str(answer.text)):
        yield _chunk(AIMessageChunk(content=word, id=answer.id))
    for index, call in enumerate(answer.tool_calls):
        opening = tool_call_chunk(name=call["name"], args="", id=call["id"], index=index)
        pieces = [tool_call_chunk(args=piece, index=index) for piece in _args_pieces(call)]
        for piece in (opening, *pieces):
            yield _call_chunk(answer, piece)
    yield _chunk(
        AIMessageChunk(
            content="",
            id=answer.id,
            usage_metadata=answer.usage_metadata,
            response_metadata=answer.response_metadata,
            chunk_position="last",
        )
    )


def _call_chunk(answer: AIMessage, piece: ToolCallChunk) -> ChatGenerationChunk:
    return _chunk(AIMessageChunk(content="", id=answer.id, tool_call_chunks=[piece]))


def _chunk(message: AIMessageChunk) -> ChatGenerationChunk:
    return ChatGenerationChunk(message=message)


def _words(text: str) -> list[str]:
    """`text` in words, each with the white space before it, so that they join to `text`."""
    return re.findall(r"\s*\S+|\s+", text)


def _args_pieces(call: ToolCall) -> list[str]:
    args = json.dumps(call["args"])
    return [args[at : at + ARGS_PIECE_CHARS] for at in range(0, len(args), ARGS_PIECE_CHARS)]
