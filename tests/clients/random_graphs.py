"""Small graphs made by chance: from one seed always the same one.

A graph is a list of steps: a node, nodes side by side, or a graph inside. One factory is served
for all of them, which finds the seed in the config; each seed has assistants of its own, so that
clients know nothing of it.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Iterator
from functools import cache, partial
from typing import Any, Literal, NamedTuple, TypeAlias
from uuid import NAMESPACE_OID, uuid5

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Send
from langgraph_sdk.client import LangGraphClient

from tests.clients.graphs.pieces import DELAY_S, RETRY
from tests.clients.graphs.zoo import TOPICS, Animal, Graph, asks, resumes
from tests.clients.random_nodes import (
    ALONE,
    ASKS,
    BEHAVIOURS,
    CHANGES,
    DIES,
    Node,
    nodes_by,
    text_about,
)
from tests.clients.server import RANDOM, wrapped_name
from tests.corpus.graphs import text_of

SEED_KEY = "seed"


class Beside(tuple["Node | Inside", ...]):
    """Nodes in one step."""

    __slots__ = ()

    def __str__(self) -> str:
        return " | ".join(map(str, self))


class Inside(NamedTuple):
    """A graph in the graph."""

    steps: tuple[Step, ...]

    how: Literal["graph", "called", "sent"]
    """A node, called by a node that copies its last answer, or nodes in tasks side by side."""

    def __str__(self) -> str:
        return f"{self.how}[{', '.join(map(str, self.steps))}]"


Step: TypeAlias = Node | Beside | Inside


def steps_of(seed: int) -> tuple[Step, ...]:
    """The steps of the graph of a seed."""
    chance = random.Random(seed)  # no secret
    return tuple(_grouped(chance, list(nodes_by(chance))))


def _grouped(chance: random.Random, nodes: list[Node], levels: int = 2) -> Iterator[Step]:
    while nodes:
        shape = chance.choices(["node", "beside", "graph", "called", "sent"], [6, 4, 2, 1, 1])[0]
        size = 1 if shape == "node" else chance.randint(1 if levels else 2, 3)
        taken, nodes = nodes[:size], nodes[size:]
        is_single = any(node.kind in ALONE for node in taken) or shape == "node"
        if not is_single and shape == "beside" and _changes(taken) < 2:
            yield Beside(_perhaps_inside(chance, node) for node in taken)
        elif not is_single and shape == "sent" and not _changes(taken):
            yield Inside(tuple(taken), "sent")
        elif not is_single and shape in ("graph", "called") and levels:
            how: Any = shape
            yield Inside(tuple(_grouped(chance, taken, levels - 1)), how)
        else:
            yield from taken


def _perhaps_inside(chance: random.Random, node: Node) -> Node | Inside:
    return Inside((node,), "graph") if chance.random() < 1 / 4 else node


def _changes(nodes: Iterable[Node]) -> int:
    return sum(node.kind in CHANGES for node in nodes)


def leaves(steps: Iterable[Step]) -> Iterator[Node]:
    """All nodes of a graph."""
    for step in steps:
        if isinstance(step, Node):
            yield step
        else:
            yield from leaves(step.steps if isinstance(step, Inside) else step)


def built(steps: Iterable[Step]) -> Graph:
    """The graph of some steps, one after the other."""
    builder: Any = StateGraph(MessagesState)
    before, loop = [START], None
    for number, step in enumerate([*steps, None]):
        side_by_side: Any = step if isinstance(step, Beside) else [step]
        names = [f"n{number}_{at}" for at in range(len(side_by_side))] if step else [END]
        for at, (name, one) in enumerate(zip(names, side_by_side, strict=True)):
            if one:
                builder.add_node(name, _action(one, at * 2 * DELAY_S), retry_policy=RETRY)
            if loop is None:
                builder.add_edge(before if len(before) > 1 else before[0], name)
        if loop is not None:
            again = partial(_goes_on, loop, before[0], names)
            builder.add_conditional_edges(before[0], again, [*before, *names])
        before, loop = names, step if isinstance(step, Node) and step.kind in ALONE else None
    graph: Graph = builder.compile()
    return graph


def _goes_on(loop: Node, name: str, after: list[str], state: Any) -> list[str]:
    said = [message.text for message in state["messages"]]
    return after if said.count(text_about(state, loop.text)) > 2 else [name]


def _action(step: Node | Inside, wait_s: float) -> Any:
    if isinstance(step, Inside):
        if step.how == "sent":
            return _sent(step.steps)
        graph = built(step.steps)
        return partial(_calls, graph) if step.how == "called" else graph
    behaviour = BEHAVIOURS[step.kind]

    async def run(state: Any) -> dict[str, Any]:
        await asyncio.sleep(wait_s)  # so that it is sure who of a step speaks first
        said: dict[str, Any] = {"messages": await behaviour(state, step)}
        return said

    return run


def _sent(steps: Iterable[Any]) -> Graph:
    """A graph of tasks of one node."""
    workers = [_action(step, at * 2 * DELAY_S) for at, step in enumerate(steps)]

    async def worker(sent: Any) -> Any:
        return await workers[sent["at"]](sent)

    def spread(state: Any) -> list[Send]:
        given = {"messages": state["messages"]}
        return [Send("worker", {**given, "at": at}) for at in range(len(workers))]

    builder: Any = StateGraph(MessagesState)
    builder.add_node("worker", worker, retry_policy=RETRY)
    builder.add_conditional_edges(START, spread, ["worker"])
    graph: Graph = builder.compile()
    return graph


async def _calls(graph: Graph, state: Any) -> dict[str, Any]:
    done = await graph.ainvoke({"messages": state["messages"]})
    return {"messages": [AIMessage(text_of(done["messages"][-1]))]}


@cache
def _graph(seed: int) -> Graph:
    return built(steps_of(seed))


def random_graph(config: RunnableConfig) -> Graph:
    """What the server serves: the graph of the seed in the config."""
    return _graph(config.get("configurable", {}).get(SEED_KEY, 0))


def animal(seed: int) -> Animal:
    """The graph of a seed, and what a judge has to know of it."""
    steps = steps_of(seed)
    nodes = [*leaves(steps)]
    what = ", ".join(map(str, steps))
    are_asked = any(node.kind in ASKS for node in nodes)
    turns = [[asks(topic), resumes("Yes.")] if are_asked else [asks(topic)] for topic in TOPICS]
    return Animal(
        name=f"{RANDOM} {seed}: {what}",
        what=what,
        graph=_graph(seed),
        unkept=tuple(dict.fromkeys(text for node in nodes for text in sorted(node.says()))),
        fails=(0,) if any(node.kind == DIES for node in nodes) else (),
        turns=tuple(turn for both in turns for turn in both),
    )


def assistant_id(animal: Animal, wrapped: bool) -> str:
    """What a client has to ask for."""
    return str(uuid5(NAMESPACE_OID, wrapped_name(animal.name) if wrapped else animal.name))


async def make_assistants(client: LangGraphClient, seeds: Iterable[int]) -> None:
    """One assistant for each seed, plain and wrapped."""
    for seed in seeds:
        for wrapped in (False, True):
            await client.assistants.create(
                wrapped_name(RANDOM) if wrapped else RANDOM,
                config={"configurable": {SEED_KEY: seed}},
                assistant_id=assistant_id(animal(seed), wrapped),
                if_exists="do_nothing",
            )
