"""Small graphs made by chance: from one seed always the same one.

A graph is a list of steps: a node, nodes side by side, or a graph inside. One factory is served
for all of them, which finds the seed in the config; each seed has assistants of its own, so that
clients know nothing of it.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple, TypeAlias
from uuid import NAMESPACE_OID, uuid5

from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES, push_message
from langgraph.types import interrupt
from langgraph_sdk.client import LangGraphClient

from tests.clients.graphs.pieces import DELAY_S, RETRY, about, is_first_attempt, streamed
from tests.clients.graphs.zoo import TOPICS, Animal, Graph, asks, resumes
from tests.clients.server import RANDOM, wrapped_name
from tests.corpus.graphs import text_of, without_id

__all__ = ["SEED_KEY", "animal", "assistant_id", "make_assistants", "random_graph"]

SEED_KEY = "seed"

NODES = (2, 5)
"""The fewest and the most nodes of a graph."""

BREAKS_AFTER = 3
"""After how many words an answer breaks off."""

OTHER = ("pushes", "calls_tool", "streams_and_edits", "asks_midway")
"""What says its other text as well."""


@dataclass(frozen=True)
class Node:
    """A node: what it does, and the texts it does it with."""

    kind: str
    text: str
    other: str

    def __str__(self) -> str:
        return f"{self.kind}({self.text.split()[1]})"

    def says(self) -> set[str]:
        """Every text that it may say. Of its other one an attempt says no more than a beginning."""
        dead = " ".join(self.other.split()[:BREAKS_AFTER])
        is_other = self.kind in OTHER or (
            self.kind == "breaks_other" and not self.text.startswith(dead)
        )
        return {self.text, self.other} if is_other else {self.text}


class Beside(tuple[Node, ...]):
    """Nodes in one step."""

    __slots__ = ()

    def __str__(self) -> str:
        return " | ".join(map(str, self))


class Inside(NamedTuple):
    """A graph in the graph: as a node, or called by a node that copies its last answer."""

    nodes: tuple[Node, ...]
    is_called: bool

    def __str__(self) -> str:
        return f"{'called' if self.is_called else 'graph'}[{', '.join(map(str, self.nodes))}]"


Step: TypeAlias = Node | Beside | Inside

EVERYWHERE = (
    *(
        "streams",
        "streams",
        "streams",
        "streams",
        "copies",
        "copies_own_id",
        "drafts",
        "whole",
        "pushes",
        "calls_tool",
        "twice",
    ),
    *("breaks", "breaks_other", "breaks_when_done", "whole_pair", "streams_and_edits"),
)
"""What nodes do anywhere, any number of times."""

CHANGES = ("edits", "edits_early", "removes", "removes_early", "starts_anew")
"""One of these in a step, since two would change the same message."""

ASKS = ("asks", "asks_midway")
"""One of these in a graph: a person is asked one thing at a time."""

ALONE = ("loops",)
"""What has a step to itself."""

SPOKEN = ("streams", "copies", "drafts", "twice", "breaks", "breaks_other", "loops")
"""What may say the same as another node. What no tokens say is distinct: a client that reads
tokens alone never has it, and in a plain stream something else that came twice would hide that."""


def steps_of(seed: int) -> list[Step]:
    """The steps of the graph of a seed."""
    chance = random.Random(seed)  # no secret
    nodes = list(_nodes(chance))
    steps: list[Step] = []
    while nodes:
        shape = chance.choices(["node", "beside", "inside"], [5, 3, 2])[0]
        size = 1 if shape == "node" else chance.randint(1 if shape == "inside" else 2, 3)
        taken, nodes = nodes[:size], nodes[size:]
        alone = any(node.kind in ALONE for node in taken)
        if shape == "inside" and not alone:
            steps.append(Inside(tuple(taken), is_called=chance.random() < 1 / 3))
        elif shape == "beside" and not alone and _changes(taken) < 2:
            steps.append(Beside(taken))
        else:
            steps += taken
    return steps


def _nodes(chance: random.Random) -> Iterator[Node]:
    kinds = [*EVERYWHERE, *CHANGES, *ASKS, *ALONE]
    texts: list[str] = []
    for at in range(chance.randint(*NODES)):
        kind = chance.choice(kinds)
        if kind in ASKS:
            kinds = [kind for kind in kinds if kind not in ASKS]
        text = f"{{topic}} n{at} has {chance.choice(['a port', 'rain'])} today."
        if kind in SPOKEN:
            text = chance.choice(texts) if texts and chance.random() < 1 / 4 else text
            texts.append(text)
        yield Node(kind, text, f"{{topic}} n{at} {chance.choice(['has', 'lies'])} elsewhere.")


def _changes(nodes: Iterable[Node]) -> int:
    return sum(node.kind in CHANGES for node in nodes)


def leaves(steps: Iterable[Step]) -> Iterator[Node]:
    """All nodes of a graph."""
    for step in steps:
        if isinstance(step, Node):
            yield step
        else:
            yield from step.nodes if isinstance(step, Inside) else step


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
    return after if said.count(_text(state, loop.text)) > 2 else [name]


def _action(step: Node | Inside, wait_s: float) -> Any:
    if isinstance(step, Inside):
        graph = built(step.nodes)
        return partial(_calls, graph) if step.is_called else graph
    behaviour = BEHAVIOURS[step.kind]

    async def run(state: Any) -> dict[str, Any]:
        await asyncio.sleep(wait_s)  # so that it is sure who of a step speaks first
        said: dict[str, Any] = {"messages": await behaviour(state, step)}
        return said

    return run


def _text(state: Any, text: str) -> str:
    return text.format(topic=about(state["messages"]))


async def _calls(graph: Graph, state: Any) -> dict[str, Any]:
    done = await graph.ainvoke({"messages": state["messages"]})
    return {"messages": [AIMessage(text_of(done["messages"][-1]))]}


async def _streams(state: Any, node: Node) -> list[Any]:
    return [await streamed(state, node.text)]


async def _twice(state: Any, node: Node) -> list[Any]:
    return [await streamed(state, node.text), await streamed(state, node.text)]


async def _copies(state: Any, node: Node) -> list[Any]:
    return [without_id(await streamed(state, node.text))]


async def _copies_own_id(state: Any, node: Node) -> list[Any]:
    answer = await streamed(state, node.text)
    return [AIMessage(text_of(answer), id=f"own-{answer.id}")]


async def _streams_and_edits(state: Any, node: Node) -> list[Any]:
    answer = await streamed(state, node.text)
    return [AIMessage(_text(state, node.other), id=answer.id)]


async def _drafts(state: Any, node: Node) -> list[Any]:
    await streamed(state, node.text)
    return []


async def _whole(state: Any, node: Node) -> list[Any]:
    return [AIMessage(_text(state, node.text))]


async def _whole_pair(state: Any, node: Node) -> list[Any]:
    return [("ai", _text(state, node.text))]


async def _pushes(state: Any, node: Node) -> list[Any]:
    text = _text(state, node.other)
    push_message(AIMessage(text, id=f"pushed-{text}"))
    return [await streamed(state, node.text)]


async def _calls_tool(state: Any, node: Node) -> list[Any]:
    calls = [{"name": "look", "args": {"at": about(state["messages"])}}]
    asked = await streamed(state, node.text, calls=calls)
    return [asked, ToolMessage(_text(state, node.other), tool_call_id=asked.tool_calls[0]["id"])]


async def _breaks(state: Any, node: Node) -> list[Any]:
    return [
        await streamed(state, node.text, breaks_after=BREAKS_AFTER if is_first_attempt() else None)
    ]


async def _breaks_other(state: Any, node: Node) -> list[Any]:
    if is_first_attempt():
        await streamed(state, node.other, breaks_after=BREAKS_AFTER)
    return [await streamed(state, node.text)]


async def _breaks_when_done(state: Any, node: Node) -> list[Any]:
    answer = await streamed(state, node.text)
    if is_first_attempt():
        raise ValueError("the answer did not please")
    return [without_id(answer)]


async def _edits(state: Any, node: Node, at: int = -1) -> list[Any]:
    ids = [message.id for message in state["messages"] if message.type == "ai"]
    return [AIMessage(_text(state, node.text), id=ids[at] if ids else None)]


async def _removes(state: Any, node: Node, at: int = -1) -> list[Any]:
    ids = [message.id for message in state["messages"] if message.type == "ai"]
    return [RemoveMessage(id=ids[at])] if ids else []


async def _starts_anew(state: Any, node: Node) -> list[Any]:
    asked = [message for message in state["messages"] if isinstance(message, HumanMessage)][-1]
    return [RemoveMessage(id=REMOVE_ALL_MESSAGES), asked, AIMessage(_text(state, node.text))]


async def _asks(state: Any, node: Node) -> list[Any]:
    answer = interrupt("May I go on?")
    return [AIMessage(f"{_text(state, node.text)} {answer}")]


async def _asks_midway(state: Any, node: Node) -> list[Any]:
    plan = await streamed(state, node.other)
    return [plan, *await _asks(state, node)]


BEHAVIOURS: dict[str, Any] = {
    "streams": _streams,
    "copies": _copies,
    "copies_own_id": _copies_own_id,
    "drafts": _drafts,
    "whole": _whole,
    "whole_pair": _whole_pair,
    "pushes": _pushes,
    "calls_tool": _calls_tool,
    "twice": _twice,
    "breaks": _breaks,
    "breaks_other": _breaks_other,
    "breaks_when_done": _breaks_when_done,
    "streams_and_edits": _streams_and_edits,
    "edits": _edits,
    "edits_early": partial(_edits, at=0),
    "removes": _removes,
    "removes_early": partial(_removes, at=0),
    "starts_anew": _starts_anew,
    "asks": _asks,
    "asks_midway": _asks_midway,
    "loops": _streams,
}


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
