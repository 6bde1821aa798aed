"""What changes or leaves after it was said: edits, removals, summaries, drafts."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from tests.clients.graphs.pieces import about, says, streamed
from tests.clients.graphs.zoo import TOPICS, Animal, Graph
from tests.corpus.graphs import chain

CARELESS = "{topic} is full of thieves."
CAREFUL = "{topic} is best seen with a guide."
NEXT = "{topic} has been dealt with now."
PLAN = "{topic} wants a plan: first look, then tell."
SUMMARY = "{topic} follows what was said before."


async def edits(state: Any) -> dict[str, Any]:
    careful = CAREFUL.format(topic=about(state["messages"]))
    return {"messages": [AIMessage(careful, id=state["messages"][-1].id)]}


def edit_beside_a_stream() -> Graph:
    builder = StateGraph(MessagesState)
    builder.add_node("first", says(CARELESS))
    builder.add_node("edits", edits)
    builder.add_node("speaks", says("{topic} has much to show, and all the time for it."))
    builder.add_node("after", says(NEXT))
    builder.add_edge(START, "first")
    builder.add_edge("first", "edits")
    builder.add_edge("first", "speaks")
    builder.add_edge(["edits", "speaks"], "after")
    return builder.compile()


async def removes_last(state: Any) -> dict[str, Any]:
    return {"messages": [RemoveMessage(id=state["messages"][-1].id)]}


async def removes_old_answer(state: Any) -> dict[str, Any] | None:
    """Removes, in a later turn, the first answer of the turn before."""
    if about(state["messages"]) == TOPICS[0]:
        return None
    return {"messages": [RemoveMessage(id=state["messages"][1].id)]}


async def starts_anew(state: Any) -> dict[str, Any]:
    fresh = f"{about(state['messages'])} is told anew."
    asked = [message for message in state["messages"] if isinstance(message, HumanMessage)][-1]
    return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), asked, AIMessage(fresh)]}


async def summarises(state: Any) -> dict[str, Any] | None:
    """As LangChain's middleware: a model writes a summary, which the state keeps as a human's."""
    if about(state["messages"]) == TOPICS[0]:
        return None
    summary = await streamed(state, SUMMARY)
    kept = state["messages"][-2:]
    said = HumanMessage(f"Before: {summary.text}")
    return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), said, *kept]}


async def plans(state: Any) -> dict[str, Any]:
    await streamed(state, PLAN)
    return {"messages": []}  # an update, so that the server tells the state, which is the same


ANIMALS = (
    Animal(
        name="edit",
        what="The next node returns the answer with new words, under its id.",
        graph=chain(says(CARELESS), edits, says(NEXT)),
    ),
    Animal(
        name="edit_beside",
        what="The same, while a neighbour is streaming.",
        graph=edit_beside_a_stream(),
    ),
    Animal(
        name="remove",
        what="The next node removes the answer.",
        graph=chain(says(CARELESS), removes_last, says(NEXT)),
    ),
    Animal(
        name="remove_later",
        what="The second turn begins with the removal of an answer of the first.",
        graph=chain(removes_old_answer, says(CARELESS), says(NEXT)),
    ),
    Animal(
        name="remove_all",
        what="A node removes everything but the question, and begins anew.",
        graph=chain(says(CARELESS), starts_anew, says(NEXT)),
    ),
    Animal(
        name="summarise",
        what="The second turn begins with a summary in place of what was said.",
        graph=chain(summarises, says(CAREFUL), says(NEXT)),
        unkept=(SUMMARY,),
    ),
    Animal(
        name="draft",
        what="A node streams a plan that it does not return; the next one answers.",
        graph=chain(plans, says(NEXT)),
        unkept=(PLAN,),
    ),
    Animal(
        name="draft_last",
        what="The last node streams what it does not return.",
        graph=chain(says(NEXT), plans),
        unkept=(PLAN,),
    ),
)
