"""The relay graph: one of its nodes is another graph of the same server.

`research` is read as any remote graph is, here in the server's own process. What it streams is in
this graph's stream as if it were a subgraph; so is the question for approval, and the answer finds
its way back.
"""

from typing import Any

from langchain_core.messages import SystemMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph_sdk import get_client

from graphs.models import Script, chat_model, model_name
from graphs.relay import script
from langgraph_once import OnceRemoteGraph

__all__ = ["graph"]

ANNOUNCE = "Tell the user in one sentence that the research department is asked."
CLOSE = "Tell the user in one sentence that the research department has answered."


def announce(state: MessagesState) -> dict[str, Any]:
    """Say who is asked."""
    return _say(ANNOUNCE, script.announce, state)


def close(state: MessagesState) -> dict[str, Any]:
    """Say that it has answered."""
    return _say(CLOSE, script.close, state)


def _say(prompt: str, answers: Script, state: MessagesState) -> dict[str, Any]:
    model = chat_model(model_name(), answers)
    return {"messages": [model.invoke([SystemMessage(prompt), *state["messages"]])]}


research = OnceRemoteGraph("research", client=get_client())

graph = (
    StateGraph(MessagesState)
    .add_node("announce", announce)
    .add_node("research", research)
    .add_node("close", close)
    .add_edge(START, "announce")
    .add_edge("announce", "research")
    .add_edge("research", "close")
    .add_edge("close", END)
    .compile()
)
