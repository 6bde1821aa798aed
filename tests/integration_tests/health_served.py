"""Graphs whose factories fail at times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, MessagesState, StateGraph

BROKEN = "broken"
"""A file in the server's folder: while it is there, `flaky` fails."""

_builder = StateGraph(MessagesState).add_node("n", lambda _: {}).add_edge(START, "n")


async def flaky() -> Any:
    """Make a graph, or fail for everybody."""
    if Path(BROKEN).exists():  # noqa: ASYNC240  # it takes no time
        raise RuntimeError("the password is drawer")
    return _builder


async def picky(config: RunnableConfig) -> Any:
    """Make a graph, or fail for who asks for what is not there."""
    if config.get("configurable", {}).get("tenant") == "nobody":
        raise LookupError("no such tenant")
    return _builder
