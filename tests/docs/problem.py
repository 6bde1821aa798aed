"""The problem in one node: it is retried, and returns a copy of what it streamed."""

from __future__ import annotations

from itertools import count, repeat

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import RetryPolicy

ANSWER = "Paris is the capital of France."
QUESTION: MessagesState = {"messages": [HumanMessage("What is the capital of France?")]}


def agent() -> CompiledStateGraph[MessagesState, None, MessagesState, MessagesState]:
    """The same, as a server makes one for each run."""
    return retried()


def retried() -> CompiledStateGraph[MessagesState, None, MessagesState, MessagesState]:
    """A graph whose node asks a model, fails once, and returns the answer without its id."""
    model = GenericFakeChatModel(messages=repeat(AIMessage(ANSWER)))
    attempts = count(1)

    def answer(state: MessagesState) -> MessagesState:
        said = model.invoke(state["messages"])
        if next(attempts) == 1:
            raise ConnectionError("lost while the answer was being saved")
        return {"messages": [AIMessage(said.text)]}

    node = StateGraph(MessagesState).add_node(
        "answer", answer, retry_policy=RetryPolicy(initial_interval=0.01)
    )
    return node.add_edge(START, "answer").compile()
