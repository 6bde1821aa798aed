"""The graph of docs/events.md: two agents with a tool, a supervisor, an answer. It needs no key."""

import operator
from collections.abc import Callable
from itertools import repeat
from typing import Annotated, Any

from langchain_core.language_models import FakeMessagesListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph, add_messages
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode

__all__ = ["graph", "question"]

question: Any = {"messages": [{"role": "user", "content": "Which is warmer, Paris or Oslo?"}]}


class State(MessagesState):
    """What the team shares."""

    supervisor_messages: Annotated[list[AnyMessage], add_messages]
    notes: Annotated[list[dict[str, str]], operator.add]


Graph = CompiledStateGraph[Any, None, Any, Any]
Node = Callable[[State], dict[str, Any]]


@tool
def search(city: str) -> str:
    """Look the weather up."""
    return f"It is mild in {city}."


@tool
def think(thought: str) -> str:
    """Think aloud."""
    return "Go on." if thought else "Of what?"


def says(text: str, *tags: str, **written: Any) -> Node:
    """A node whose model streams a text; it writes other keys, too."""
    model = GenericFakeChatModel(messages=repeat(AIMessage(text))).with_config(tags=[*tags])
    return lambda state: {"messages": [model.invoke(state["messages"])], **written}


def calls(name: str, args: dict[str, str], *tags: str, key: str = "messages") -> Node:
    """A node whose model calls a tool; the call goes to this key of the state."""
    usage = UsageMetadata(input_tokens=10, output_tokens=6, total_tokens=16)
    call: Any = {"name": name, "args": args, "id": f"call_{'_'.join(args.values())}"}
    asked = AIMessage("", tool_calls=[call], usage_metadata=usage)
    model = FakeMessagesListChatModel(responses=[asked]).with_config(tags=[*tags])
    return lambda state: {key: [model.invoke(state["messages"])]}


def chain(**nodes: Any) -> Graph:
    """A graph whose nodes run one after the other."""
    builder = StateGraph(State).add_sequence([*nodes.items()])
    return builder.add_edge(START, next(iter(nodes))).compile()


def agent(city: str) -> Graph:
    """Searches, takes a note, reports."""
    report = says("Found it.", notes=[{"id": f"note-{city}", "text": city}])
    return chain(model=calls("search", {"city": city}), tools=ToolNode([search]), report=report)


graph = chain(
    clarify=chain(check=says("internal"), ask=says("I compare both.", "public")),
    agent_a=agent("Paris"),
    agent_b=agent("Oslo"),
    supervisor=calls("think", {"thought": "Compare."}, "public", key="supervisor_messages"),
    tools=ToolNode([think], messages_key="supervisor_messages"),
    answer=says("Paris it is.", "public"),
)
