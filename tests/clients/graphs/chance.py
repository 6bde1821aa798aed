"""Graphs by chance: some steps of a few kinds, each of which says a thing of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import Any

from langchain_core.messages import AIMessage, RemoveMessage
from langgraph.graph import START, MessagesState, StateGraph

from tests.clients.graphs.pieces import DELAY_S, RETRY, about, is_first_attempt, says, streamed
from tests.clients.graphs.zoo import Animal
from tests.corpus.graphs import chain, text_of, without_id

__all__ = ["by_chance"]

WORDS = ("amber", "birch", "cedar", "delta", "ember", "flint", "grove", "heath")

Made = tuple[Any, tuple[str, ...]]
"""A node, and the texts that it streams and keeps nowhere."""


def _copies(text: str, _: Random) -> Made:
    async def node(state: Any) -> dict[str, Any]:
        return {"messages": [without_id(await streamed(state, text))]}

    return node, ()


def _copies_as_its_own(text: str, _: Random) -> Made:
    async def node(state: Any) -> dict[str, Any]:
        answer = await streamed(state, text)
        return {"messages": [AIMessage(text_of(answer), id=f"own-{answer.text}")]}

    return node, ()


def _breaks_off(text: str, chance: Random) -> Made:
    breaks_after = chance.randint(1, 5)

    async def node(state: Any) -> dict[str, Any]:
        broken = breaks_after if is_first_attempt() else None
        return {"messages": [await streamed(state, text, breaks_after=broken)]}

    return node, ()


def _says_another(text: str, chance: Random) -> Made:
    breaks_after, dead = chance.randint(1, 4), text.replace(" was ", " had been ")

    async def node(state: Any) -> dict[str, Any]:
        if is_first_attempt():
            return {"messages": [await streamed(state, dead, breaks_after=breaks_after)]}
        return {"messages": [await streamed(state, text)]}

    return node, (dead,)


def _plans(text: str, _: Random) -> Made:
    async def node(state: Any) -> dict[str, Any]:
        await streamed(state, text)
        return {"messages": []}

    return node, (text,)


def _edits(text: str, _: Random) -> Made:
    async def node(state: Any) -> dict[str, Any]:
        last = state["messages"][-1]
        said = text.format(topic=about(state["messages"]))
        return {"messages": [AIMessage(said, id=last.id if last.type == "ai" else None)]}

    return node, ()


def _removes(_: str, chance: Random) -> Made:
    async def node(state: Any) -> dict[str, Any]:
        said = [message for message in state["messages"] if message.type == "ai"]
        which = chance.randrange(4)
        return {"messages": [RemoveMessage(id=m.id) for m in said[which : which + 1]]}

    return node, ()


def _child(text: str, chance: Random) -> Made:
    kind = chance.choice([_says, _copies, _breaks_off])
    node, unkept = kind(text, chance)
    return chain(node, retry_policy=RETRY), unkept


def _pauses(text: str, _: Random) -> Made:
    async def node(state: Any) -> dict[str, Any]:
        await asyncio.sleep(4 * DELAY_S)
        return {"messages": [AIMessage(text.format(topic=about(state["messages"])))]}

    return node, ()


def _says(text: str, _: Random) -> Made:
    return says(text), ()


Kind = Callable[[str, Random], Made]

SPEAKERS: tuple[Kind, ...] = (_says, _copies, _copies_as_its_own, _breaks_off, _says_another)
KINDS: tuple[Kind, ...] = (*SPEAKERS, _plans, _edits, _removes, _child, _pauses)


def by_chance(seed: int) -> Animal:
    """The graph of a seed: two to four steps, some of two nodes side by side."""
    chance = Random(seed)
    steps = [
        [chance.choice(KINDS), *chance.choices(SPEAKERS, k=chance.randrange(2))]
        for _ in range(chance.randint(2, 4))
    ]
    words = iter(sorted(chance.sample(WORDS, sum(map(len, steps)))))  # as states sort neighbours
    builder, before, unkept = StateGraph(MessagesState), [START], list[str]()
    for step in steps:
        names: list[str] = []
        for kind in step:
            name = next(words)
            text = f"{{topic}}/{name} was here, and it was good."
            node, texts = kind(text, chance)
            unkept += texts
            builder.add_node(name, _later(node, len(names)), retry_policy=RETRY)
            for first in [before] if len(before) > 1 else before:
                builder.add_edge(first, name)
            names.append(name)
        before = names
    return Animal(
        name=f"chance_{seed:03}",
        what=", then ".join(
            " beside ".join(kind.__name__.strip("_") for kind in step) for step in steps
        ),
        graph=builder.compile(),
        unkept=tuple(unkept),
    )


def _later(node: Any, place: int) -> Any:
    """A node that begins after its neighbour, so that it is sure who speaks first."""
    if not place:
        return node

    async def waiting(state: Any) -> Any:
        await asyncio.sleep(2 * place * DELAY_S)
        return await node(state)

    return waiting
