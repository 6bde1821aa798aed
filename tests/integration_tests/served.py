"""Graphs that the tests' server serves: one that repeats itself, made in every way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph_sdk.runtime import ServerRuntime

from graphs.models import ScriptedChatModel

HELLO = "Hello from a node that returns a copy of what it streamed."


def greet(state: MessagesState) -> dict[str, Any]:
    """Stream the greeting, and return a copy of it under another id (class D1)."""
    streamed = ScriptedChatModel(script=lambda _: AIMessage(HELLO)).invoke(state["messages"])
    return {"messages": [AIMessage(str(streamed.text))]}


async def wait(_: MessagesState) -> dict[str, Any]:
    """Take long enough to be interrupted by another run."""
    await asyncio.sleep(3)
    return {"messages": [AIMessage("That took a while.")]}


def _builder(node: Any) -> StateGraph[Any, Any, Any, Any]:
    return (
        StateGraph(MessagesState)
        .add_node("node", node)
        .add_edge(START, "node")
        .add_edge("node", END)
    )


builder = _builder(greet)
slow = _builder(wait)


def by_factory() -> Any:
    return builder


async def by_config(config: RunnableConfig) -> Any:
    if "configurable" not in config:
        raise TypeError("the server gave no config")
    return builder.compile()


def by_runtime(runtime: ServerRuntime[Any]) -> Any:
    if runtime.store is None:
        raise TypeError("the server gave no runtime")
    return builder.compile()


@asynccontextmanager
async def by_context_manager(
    config: RunnableConfig, runtime: ServerRuntime[Any]
) -> AsyncIterator[Any]:
    if "configurable" not in config or runtime.store is None:
        raise TypeError("the server gave no config or no runtime")
    yield builder.compile()
