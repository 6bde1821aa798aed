"""What the nodes of a random graph do."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES, push_message
from langgraph.runtime import get_runtime
from langgraph.types import interrupt

from tests.clients.graphs.pieces import about, is_first_attempt, model, streamed
from tests.clients.graphs.zoo import TOPICS
from tests.corpus.graphs import text_of, without_id

NODES = (2, 5)
"""The fewest and the most nodes of a graph."""

BREAKS_AFTER = 3
"""After how many words an answer breaks off."""

OTHER = ("pushes", "calls_tool", "streams_and_edits", "asks_midway", "footnotes", "chooses")
"""What says its other text as well."""


EVERYWHERE = (
    *("streams", "copies", "copies_own_id", "footnotes", "drafts", "whole", "pushes", "twice"),
    *("breaks", "breaks_twice", "breaks_other", "breaks_when_done", "whole_pair", "at_once"),
    *("streams_and_edits", "calls_tool", "unstreamed", "echoes", "chooses"),
)
"""What nodes do anywhere, any number of times."""

CHANGES = ("edits", "edits_early", "moves", "removes", "removes_early", "starts_anew")
"""One of these in a step, since two would change the same message."""

ASKS = ("asks", "asks_midway")
"""What asks a person."""

DIES = "dies"

ONCE = (*ASKS, DIES)
"""One of these in a graph, so that it is known which turns there are, and which of them fails."""

ALONE = ("loops",)
"""What has a step to itself."""

SPOKEN = (
    *("streams", "copies", "drafts", "twice", "at_once", "loops", DIES),
    *("breaks", "breaks_twice", "breaks_other"),
)
"""What may say the same as another node. What no tokens say is distinct: a client that reads
tokens alone never has it, and in a plain stream something else that came twice would hide that."""


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


def nodes_by(chance: random.Random) -> Iterator[Node]:
    """Some nodes."""
    kinds = [*EVERYWHERE, *CHANGES, *ONCE, *ALONE]
    texts: list[str] = []
    for at in range(chance.randint(*NODES)):
        kind = chance.choice([*kinds, *("streams",) * 4])
        if kind in ONCE:
            kinds = [kind for kind in kinds if kind not in ONCE]
        text = f"{{topic}} n{at} has {chance.choice(['a port', 'rain'])} today."
        if kind in SPOKEN:
            text = chance.choice(texts) if texts and chance.random() < 1 / 4 else text
            texts.append(text)
        yield Node(kind, text, f"{{topic}} n{at} {chance.choice(['has', 'lies'])} elsewhere.")


def text_about(state: Any, text: str) -> str:
    """A text, about what was asked last."""
    return text.format(topic=about(state["messages"]))


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
    return [AIMessage(text_about(state, node.other), id=answer.id)]


async def _footnotes(state: Any, node: Node) -> list[Any]:
    answer = await streamed(state, node.text)
    return [AIMessage(f"{text_of(answer)} {text_about(state, node.other)}")]


async def _at_once(state: Any, node: Node) -> list[Any]:
    return [*await asyncio.gather(streamed(state, node.text), streamed(state, node.text))]


async def _chooses(state: Any, node: Node) -> list[Any]:
    said = await asyncio.gather(streamed(state, node.other), streamed(state, node.text))
    return [said[1]]


async def _unstreamed(state: Any, node: Node) -> list[Any]:
    mute = model(node.text).model_copy(update={"disable_streaming": True})
    return [await mute.ainvoke(state["messages"])]


async def _echoes(state: Any, node: Node) -> list[Any]:
    return [*state["messages"], await streamed(state, node.text)]


async def _drafts(state: Any, node: Node) -> list[Any]:
    await streamed(state, node.text)
    return []


async def _whole(state: Any, node: Node) -> list[Any]:
    return [AIMessage(text_about(state, node.text))]


async def _whole_pair(state: Any, node: Node) -> list[Any]:
    return [("ai", text_about(state, node.text))]


async def _pushes(state: Any, node: Node) -> list[Any]:
    text = text_about(state, node.other)
    push_message(AIMessage(text, id=f"pushed-{text}"))
    return [await streamed(state, node.text)]


async def _calls_tool(state: Any, node: Node) -> list[Any]:
    calls = [{"name": "look", "args": {"at": about(state["messages"])}}]
    asked = await streamed(state, node.text, calls=calls)
    return [
        asked,
        ToolMessage(text_about(state, node.other), tool_call_id=asked.tool_calls[0]["id"]),
    ]


async def _breaks(state: Any, node: Node) -> list[Any]:
    return [
        await streamed(state, node.text, breaks_after=BREAKS_AFTER if is_first_attempt() else None)
    ]


async def _breaks_twice(state: Any, node: Node) -> list[Any]:
    if is_first_attempt():
        return [await streamed(state, node.text, breaks_after=2)]
    runtime: Any = get_runtime()
    is_second = runtime.execution_info.node_attempt == 2
    return [await streamed(state, node.text, breaks_after=BREAKS_AFTER if is_second else None)]


async def _breaks_other(state: Any, node: Node) -> list[Any]:
    if is_first_attempt():
        await streamed(state, node.other, breaks_after=BREAKS_AFTER)
    return [await streamed(state, node.text)]


async def _breaks_when_done(state: Any, node: Node) -> list[Any]:
    answer = await streamed(state, node.text)
    if is_first_attempt():
        raise ValueError("the answer did not please")
    return [without_id(answer)]


async def _dies(state: Any, node: Node) -> list[Any]:
    """Fails for good in the first turn."""
    answer = await streamed(state, node.text)
    if about(state["messages"]) == TOPICS[0]:
        raise ValueError("that was too much")
    return [answer]


async def _edits(state: Any, node: Node, at: int = -1) -> list[Any]:
    ids = [message.id for message in state["messages"] if message.type == "ai"]
    return [AIMessage(text_about(state, node.text), id=ids[at] if ids else None)]


async def _removes(state: Any, node: Node, at: int = -1) -> list[Any]:
    ids = [message.id for message in state["messages"] if message.type == "ai"]
    return [RemoveMessage(id=ids[at])] if ids else []


async def _moves(state: Any, node: Node) -> list[Any]:
    """Says the last answer last, under a new id."""
    said = [message for message in state["messages"] if message.type == "ai"]
    if not said:
        return []
    return [RemoveMessage(id=said[-1].id), AIMessage(f"{text_of(said[-1])}", id=f"{said[-1].id}m")]


async def _starts_anew(state: Any, node: Node) -> list[Any]:
    asked = [message for message in state["messages"] if isinstance(message, HumanMessage)][-1]
    return [RemoveMessage(id=REMOVE_ALL_MESSAGES), asked, AIMessage(text_about(state, node.text))]


async def _asks(state: Any, node: Node) -> list[Any]:
    answer = interrupt("May I go on?")
    return [AIMessage(f"{text_about(state, node.text)} {answer}")]


async def _asks_midway(state: Any, node: Node) -> list[Any]:
    plan = await streamed(state, node.other)
    return [plan, *await _asks(state, node)]


BEHAVIOURS: dict[str, Any] = {
    "streams": _streams,
    "copies": _copies,
    "copies_own_id": _copies_own_id,
    "drafts": _drafts,
    "footnotes": _footnotes,
    "at_once": _at_once,
    "chooses": _chooses,
    "unstreamed": _unstreamed,
    "echoes": _echoes,
    "breaks_twice": _breaks_twice,
    "moves": _moves,
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
    DIES: _dies,
}
