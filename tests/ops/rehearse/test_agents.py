"""LangChain's agents, paused for approval, then built in another way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    TodoListMiddleware,
)
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from tests.ops.rehearse.rehearsed import kinds, rehearsed
from tests.ops.rehearse.tool_callers import forecast, weather

THREAD: Any = {"configurable": {"thread_id": "thread"}}


class Model(FakeMessagesListChatModel):
    """It calls a tool, and is glad of the result."""

    def bind_tools(self, tools: Any, **more: Any) -> Any:
        return self


class Hook(AgentMiddleware):
    def after_model(self, state: Any, runtime: Any) -> None:
        """It stands in the graph as a node."""


ASKS = HumanInTheLoopMiddleware(interrupt_on={"weather": True, "forecast": True})
CALL = AIMessage("", tool_calls=[{"name": "weather", "args": {"city": "Rome"}, "id": "call"}])


def agent(*middleware: Any, tools: Any = (weather,), name: str = "agent") -> Any:
    model = Model(responses=[CALL, AIMessage("Sunny.")])
    return create_agent(model, [*tools], middleware=middleware, name=name)


@pytest.mark.parametrize(
    ("new", "found", "results"),
    [
        (agent(ASKS, name="other"), set(), ["sun"]),
        (agent(ASKS, TodoListMiddleware(), tools=(forecast, weather)), set(), ["sun"]),
        (agent(Hook(), ASKS), set(), ["sun"]),
        (agent(Hook()), {"node-gone", "ends", "interrupt-gone"}, []),
        (
            agent(ASKS, tools=(forecast,)),
            {"tool-later"},
            ["Error: weather is not a valid tool, try one of [forecast]."],
        ),
    ],
    ids=["renamed", "more", "hooked", "without approval", "other tool"],
)
def test_an_agent_that_waits_for_approval(
    new: Any, found: set[str], results: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "threads.sqlite"
    with SqliteSaver.from_conn_string(str(path)) as saver:
        old = agent(ASKS).copy(update={"checkpointer": saver})
        old.invoke({"messages": [("human", "Hello")]}, THREAD)
        asked = old.get_state(THREAD).interrupts
    assert kinds(rehearsed(path, new)) == found
    with SqliteSaver.from_conn_string(str(path)) as saver:
        again = new.copy(update={"checkpointer": saver})
        answer = {each.id: {"decisions": [{"type": "approve"}]} for each in asked}
        messages = again.invoke(Command(resume=answer), THREAD)["messages"]
    assert [each.content for each in messages if each.type == "tool"] == results
