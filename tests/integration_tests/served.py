"""Graphs that the tests' server serves: one that repeats itself, made in every way."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.cache.memory import InMemoryCache
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import CachePolicy, interrupt
from langgraph_sdk.runtime import ServerRuntime

from graphs.models import ScriptedChatModel
from langgraph_once import DedupConfig, once
from langgraph_once.checkpoint import OnceSqliteSaver

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


def _extended(state: list[str], writes: Sequence[list[str]]) -> list[str]:
    return [*state, *(item for write in writes for item in write)]


_asked: Counter[str] = Counter()
_aget_tuple = OnceSqliteSaver.aget_tuple


async def _counted(saver: OnceSqliteSaver, config: RunnableConfig) -> CheckpointTuple | None:
    _asked["aget_tuple"] += 1
    return await _aget_tuple(saver, config)


OnceSqliteSaver.aget_tuple = _counted  # type: ignore[method-assign, assignment]  # counted, from outside


builder = _builder(greet)
slow = _builder(wait)
copying_stock = once(builder.compile(), DedupConfig(form="stock", state="new_messages"))


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


class Logged(TypedDict):
    log: Annotated[list[str], DeltaChannel(_extended, snapshot_frequency=1000)]
    asked: int


def log(_: Logged) -> dict[str, Any]:
    return {"log": ["said"], "asked": _asked["aget_tuple"]}


_deltas: Any = StateGraph(Logged)
deltas = _deltas.add_node("log", log).add_edge(START, "log")
"""It tells how often the saver was asked for one checkpoint, since the process began."""

_cached: Any = StateGraph(MessagesState)
_cached.add_node(
    "node",
    lambda _: {"messages": [("ai", HELLO)]},
    cache_policy=CachePolicy(key_func=lambda _: "always"),
)
_cached.add_node("asks", lambda _: {"messages": [("user", interrupt("Go on?"))]})
_cached.add_edge(START, "node").add_edge("node", "asks")
cached = _cached.compile(cache=InMemoryCache())
"""Its first node runs once in the life of the server; the second waits for an answer."""
