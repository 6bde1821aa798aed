"""What plain streams repeat: copies, attempts that died; and what only looks like it."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

from tests.clients.graphs.pieces import (
    DELAY_S,
    RETRY,
    about,
    is_first_attempt,
    model,
    says,
    streamed,
)
from tests.clients.graphs.zoo import Animal, Graph
from tests.corpus.graphs import chain, text_of, without_id

TEXT = "{topic} lies by the sea, I think."
NEXT = "{topic} has been dealt with now."
OK = "Ok {topic}"


async def copies(state: Any) -> dict[str, Any]:
    return {"messages": [without_id(await streamed(state, TEXT))]}


async def copies_under_its_own_id(state: Any) -> dict[str, Any]:
    answer = await streamed(state, TEXT)
    return {"messages": [AIMessage(text_of(answer), id=f"own-{about(state['messages'])}")]}


child = chain(says(TEXT))


async def wraps_child(state: Any) -> dict[str, Any]:
    done = await child.ainvoke({"messages": state["messages"]})
    return {"messages": [AIMessage(text_of(done["messages"][-1]))]}


def retried(text: str, first_text: str, *, wait_s: float = 0) -> Any:
    """A node that breaks in the middle of its first attempt."""

    async def node(state: Any) -> dict[str, Any]:
        await asyncio.sleep(wait_s)
        if is_first_attempt():
            return {"messages": [await streamed(state, first_text, breaks_after=4)]}
        return {"messages": [await streamed(state, text)]}

    return node


async def breaks_when_done(state: Any) -> dict[str, Any]:
    answer = await streamed(state, TEXT)
    if is_first_attempt():
        raise ValueError("the answer did not please")
    return {"messages": [without_id(answer)]}


def side_by_side(*nodes: Any) -> Graph:
    """Nodes in one step, and one after them."""
    builder = StateGraph(MessagesState)
    names = [f"n{at}" for at in range(len(nodes))]
    for name, node in zip(names, nodes, strict=True):
        builder.add_node(name, node, retry_policy=RETRY)
        builder.add_edge(START, name)
    builder.add_node("after", says(NEXT))
    builder.add_edge(names, "after")
    return builder.compile()


def late(text: str, wait_s: float) -> Any:
    """A node that speaks a little later than its neighbours, so that who speaks first is sure."""

    async def node(state: Any) -> dict[str, Any]:
        await asyncio.sleep(wait_s)
        return {"messages": [await streamed(state, text)]}

    return node


async def falls_back(state: Any) -> dict[str, Any]:
    first = model("{topic} goes wrong in the middle.", breaks_after=4)
    second = model("{topic} goes well the second time.")
    return {"messages": [await first.with_fallbacks([second]).ainvoke(state["messages"])]}


async def asks_twice(state: Any) -> dict[str, Any]:
    return {"messages": [await streamed(state, TEXT), await streamed(state, TEXT)]}


ANIMALS = (
    Animal(
        name="copy",
        what="A node returns a copy, without the id, of what it streamed.",
        graph=chain(copies, says(NEXT)),
    ),
    Animal(
        name="copy_own_id",
        what="The copy has an id of its own.",
        graph=chain(copies_under_its_own_id, says(NEXT)),
    ),
    Animal(
        name="nested_copy",
        what="A node runs a graph and wraps its answer.",
        graph=chain(wraps_child, says(NEXT)),
    ),
    Animal(
        name="retry",
        what="An answer breaks off and is said again.",
        graph=chain(retried(TEXT, TEXT), says(NEXT), retry_policy=RETRY),
    ),
    Animal(
        name="retry_whole",
        what="A node fails after its answer, and returns a copy when it runs again.",
        graph=chain(breaks_when_done, says(NEXT), retry_policy=RETRY),
    ),
    Animal(
        name="retry_other",
        what="An answer breaks off, and another is given.",
        graph=chain(retried(TEXT, "{topic}, well, I cannot say."), says(NEXT), retry_policy=RETRY),
        unkept=("{topic}, well, I cannot say.",),
    ),
    Animal(
        name="parallel_retry",
        what="Two of three nodes side by side break off and begin anew.",
        graph=side_by_side(
            retried("{topic} has rain.", "{topic} has rain and more of it."),
            late("In the middle of it all is {topic}.", 2 * DELAY_S),
            retried(TEXT, TEXT, wait_s=4 * DELAY_S),
        ),
        unkept=("{topic} has rain and more of it.",),
    ),
    Animal(
        name="fallback",
        what="The first model breaks off and a second one answers.",
        graph=chain(falls_back, says(NEXT)),
        unkept=("{topic} goes wrong in the middle.",),
    ),
    Animal(
        name="loop_same",
        what="Three steps say the same.",
        graph=chain(says(OK), says(OK), says(OK)),
    ),
    Animal(
        name="three_ok",
        what="Three nodes side by side say the same.",
        graph=side_by_side(says(OK), late(OK, 2 * DELAY_S), late(OK, 4 * DELAY_S)),
    ),
    Animal(
        name="asks_twice",
        what="A node asks twice, is told the same, and returns both.",
        graph=chain(asks_twice),
    ),
)
