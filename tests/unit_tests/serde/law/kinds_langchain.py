"""What LangChain and LangGraph put into a state."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, timedelta
from random import Random
from typing import Any, Final

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    ChatMessageChunk,
    FunctionMessage,
    FunctionMessageChunk,
    HumanMessage,
    HumanMessageChunk,
    RemoveMessage,
    SystemMessage,
    SystemMessageChunk,
    ToolMessage,
    ToolMessageChunk,
)
from langchain_core.outputs import (
    ChatGeneration,
    ChatGenerationChunk,
    ChatResult,
    Generation,
    GenerationChunk,
    LLMResult,
)
from langchain_core.prompt_values import ChatPromptValue, ImagePromptValue, StringPromptValue
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.errors import GraphInterrupt, ParentCommand
from langgraph.store.base import Item, SearchItem
from langgraph.types import Command, Interrupt, Overwrite, RetryPolicy, Send, TimeoutPolicy

from tests.unit_tests.serde.law import values as v
from tests.unit_tests.serde.law.drawn import moment, number, plain, word


def _usage(r: Random) -> Any:
    counts = {"input_tokens": number(r), "output_tokens": 2, "total_tokens": 5}
    return {**counts, "input_token_details": {"cache_read": 1}}


def _call(r: Random) -> Any:
    return {"name": "f", "args": {"a": plain(r)}, "id": f"c{number(r)}", "type": "tool_call"}


def _invalid_call(r: Random) -> Any:
    return {**_call(r), "args": "{", "error": word(r), "type": "invalid_tool_call"}


def _piece(r: Random) -> Any:
    return {"name": "f", "args": '{"a', "id": word(r), "index": 0, "type": "tool_call_chunk"}


def _blocks(r: Random) -> Any:
    return [{"type": "text", "text": word(r)}, {"type": "image", "url": "u"}, word(r)]


def _id(r: Random) -> str | None:
    return r.choice([None, f"run-{number(r)}"])


def _sum(r: Random) -> Any:
    return AIMessageChunk(content=word(r), id="1") + AIMessageChunk(content=word(r))


def _answer(r: Random) -> AIMessage:
    return AIMessage(
        word(r), id=_id(r), tool_calls=[_call(r)], usage_metadata=_usage(r), name="bot"
    )


def _generations(r: Random) -> list[Any]:
    return [ChatGeneration(message=_answer(r), generation_info={"t": plain(r)})]


def _assigned(r: Random) -> AIMessage:
    made = AIMessage(word(r))
    made.content = _blocks(r)
    made.tool_calls = [_call(r)]
    return made


def _prompt(r: Random) -> ChatPromptTemplate:
    return ChatPromptTemplate.from_messages([("system", "be nice"), ("human", "{question}")])


MESSAGES: Final[dict[str, Callable[[Random], Any]]] = {
    "AIMessage": _answer,
    "AIMessage with blocks": lambda r: AIMessage(_blocks(r)),
    "AIMessage with invalid tool calls": lambda r: AIMessage(
        "", invalid_tool_calls=[_invalid_call(r)]
    ),
    "AIMessage with what was assigned": _assigned,
    "AIMessageChunk": lambda r: AIMessageChunk(
        content=word(r), tool_call_chunks=[_piece(r)], usage_metadata=_usage(r)
    ),
    "AIMessageChunk, a sum": _sum,
    "ChatMessage": lambda r: ChatMessage(content=word(r), role="critic"),
    "ChatMessageChunk": lambda r: ChatMessageChunk(content=word(r), role="critic"),
    "FunctionMessage": lambda r: FunctionMessage(content=word(r), name="f"),
    "FunctionMessageChunk": lambda r: FunctionMessageChunk(content=word(r), name="f"),
    "HumanMessage": lambda r: HumanMessage(word(r), id=_id(r)),
    "HumanMessage with blocks": lambda r: HumanMessage(_blocks(r)),
    "HumanMessage with a field of its own": lambda r: HumanMessage(word(r), mood=("calm",)),
    "HumanMessageChunk": lambda r: HumanMessageChunk(content=word(r)),
    "RemoveMessage": lambda r: RemoveMessage(word(r)),
    "subclass of AIMessage": lambda r: v.MyAnswer(content=word(r), sources=(word(r),)),
    "subclass of HumanMessage": lambda r: v.MyMessage(content=word(r), mood=word(r)),
    "SystemMessage": lambda r: SystemMessage(word(r), additional_kwargs={"cache": True}),
    "SystemMessageChunk": lambda r: SystemMessageChunk(content=word(r)),
    "thread": lambda r: [HumanMessage(word(r)), _answer(r), ToolMessage("", tool_call_id="1")],
    "ToolMessage": lambda r: ToolMessage(word(r), tool_call_id="c", status="error"),
    "ToolMessage with an artifact": lambda r: ToolMessage(
        word(r), tool_call_id="c", artifact={"raw": (1, plain(r))}
    ),
    "ToolMessageChunk": lambda r: ToolMessageChunk(content=word(r), tool_call_id="c"),
}

LANGCHAIN: Final[dict[str, Callable[[Random], Any]]] = {
    "AgentAction": lambda r: AgentAction("t", {"a": plain(r)}, word(r)),
    "AgentFinish": lambda r: AgentFinish({"out": plain(r)}, word(r)),
    "ChatGeneration": lambda r: _generations(r)[0],
    "ChatGenerationChunk": lambda r: ChatGenerationChunk(message=AIMessageChunk(content="x")),
    "ChatPromptTemplate": _prompt,
    "ChatPromptValue": lambda r: ChatPromptValue(messages=[HumanMessage(word(r)), _answer(r)]),
    "ChatPromptValue of a template": lambda r: _prompt(r).invoke({"question": word(r)}),
    "ChatResult": lambda r: ChatResult(generations=_generations(r)),
    "Document": lambda r: Document(word(r), id=_id(r), metadata={"n": plain(r)}),
    "Generation": lambda r: Generation(text=word(r), generation_info={"t": plain(r)}),
    "GenerationChunk": lambda r: GenerationChunk(text=word(r)),
    "ImagePromptValue": lambda r: ImagePromptValue(image_url={"url": word(r)}),
    "LLMResult": lambda r: LLMResult(generations=[_generations(r)], llm_output={"a": plain(r)}),
    "PromptTemplate": lambda r: PromptTemplate.from_template("Tell {what}"),
    "StringPromptValue": lambda r: StringPromptValue(text=word(r)),
    "subclass of Document": lambda r: v.MyDocument(page_content=word(r), score=r.random()),
}

LANGGRAPH: Final[dict[str, Callable[[Random], Any]]] = {
    "Command": lambda r: Command(goto=[Send("a", 1), "b"], update={"x": plain(r)}, resume=1),
    "Command to the parent": lambda r: Command(graph=Command.PARENT, update=[("k", plain(r))]),
    "DeltaSnapshot": lambda r: _DeltaSnapshot([HumanMessage(word(r))]),
    "GraphInterrupt": lambda r: GraphInterrupt([Interrupt(word(r), id="i")]),
    "Interrupt": lambda r: Interrupt(plain(r), id=word(r)),
    "Item": lambda r: Item(
        value={"a": plain(r)},
        key=word(r),
        namespace=("n", "m"),
        created_at=moment(r).replace(tzinfo=UTC),
        updated_at=moment(r).replace(tzinfo=UTC),
    ),
    "Overwrite": lambda r: Overwrite([plain(r)]),
    "ParentCommand": lambda r: ParentCommand(Command(goto=word(r))),
    "RetryPolicy": lambda r: RetryPolicy(retry_on=(ValueError, KeyError)),
    "SearchItem": lambda r: SearchItem(("n",), "k", {"a": plain(r)}, moment(r), moment(r), 0.5),
    "Send": lambda r: Send(word(r), {"messages": [HumanMessage(word(r))]}),
    "Send with a timeout": lambda r: Send("n", plain(r), timeout=TimeoutPolicy(idle_timeout=3)),
    "TimeoutPolicy": lambda r: TimeoutPolicy(run_timeout=timedelta(seconds=number(r) + 1)),
}

KINDS: Final = {**MESSAGES, **LANGCHAIN, **LANGGRAPH}
