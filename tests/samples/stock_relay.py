"""The relay as it is without this package: its node is LangGraph's own `RemoteGraph`."""

from __future__ import annotations

from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk import get_client

graph = (
    StateGraph(MessagesState)
    .add_node("research", RemoteGraph("research_plain", client=get_client()))
    .add_edge(START, "research")
    .add_edge("research", END)
    .compile()
)
