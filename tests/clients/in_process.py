"""Readers that run the graph in their own process: by hand, over LangServe, over AG-UI.

None of them takes back what it has shown. Each plays a graph of the zoo on a thread of its own.
What is imported in a function takes a quarter of a second, which each worker of pytest would take.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any, TypeAlias
from uuid import uuid4

import httpx
from ag_ui.core import RunAgentInput, UserMessage
from langchain_core.messages import AIMessageChunk
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from langgraph_once import once
from tests.clients.graphs import Animal
from tests.clients.graphs.zoo import Graph
from tests.clients.history import History, Unit, count
from tests.clients.judge import Verdict, judge
from tests.clients.play import Cell, worse_cells
from tests.clients.python_clients import RunFailedError, Screen
from tests.clients.recording import Recording, Shown, Snapshot, Turn, shown

Reader: TypeAlias = Callable[[Graph, str, dict[str, Any], Screen], AsyncIterator[None]]
"""Runs one turn of a graph on a thread, and shows it; each step is a moment to be seen."""


def _asked(turn: dict[str, Any]) -> Any:
    return Command(resume=turn["resume"]) if "resume" in turn else turn["input"]


def _config(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}}


class Bubbles:
    """What is appended to the screen: one bubble for each source."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._bubbles: dict[Any, Shown] = {}

    def append(self, source: Any, chunk: dict[str, Any]) -> None:
        """Append what a chunk says to the bubble of its source."""
        said = shown(chunk)
        if source not in self._bubbles:
            if said["text"] or said["tool_calls"]:
                self._bubbles[source] = {**said, "id": None}
                self._screen.messages.append(self._bubbles[source])
            return
        bubble = self._bubbles[source]
        bubble["text"] += said["text"]
        bubble["tool_calls"] = list(dict.fromkeys([*bubble["tool_calls"], *said["tool_calls"]]))


async def appends(
    graph: Graph, thread: str, turn: dict[str, Any], screen: Screen
) -> AsyncIterator[None]:
    """The loop of most tutorials: what a model says is appended, node by node."""
    bubbles = Bubbles(screen)
    stream: Any = graph.astream(_asked(turn), _config(thread), stream_mode="messages")
    async for message, metadata in stream:
        if isinstance(message, AIMessageChunk):
            step = metadata["langgraph_step"], metadata["langgraph_node"]
            bubbles.append(step, message.model_dump())
        yield


async def appends_events(
    graph: Graph, thread: str, turn: dict[str, Any], screen: Screen
) -> AsyncIterator[None]:
    """The same over `astream_events`, model run by model run."""
    bubbles = Bubbles(screen)
    events: Any = graph.astream_events(_asked(turn), _config(thread), version="v2")
    async for event in events:
        if event["event"] == "on_chat_model_stream":
            bubbles.append(event["run_id"], event["data"]["chunk"].model_dump())
        yield


async def langserve(
    graph: Graph, thread: str, turn: dict[str, Any], screen: Screen
) -> AsyncIterator[None]:
    """The events of LangServe's own route, which knows no resume."""
    from fastapi import FastAPI
    from langserve import add_routes

    if "resume" in turn:
        raise RunFailedError("LangServe has no command to resume")
    app, bubbles = FastAPI(), Bubbles(screen)

    def on_thread(config: dict[str, Any], _: Any) -> dict[str, Any]:
        return {**config, **_config(thread)}

    add_routes(
        app,
        graph,
        path="/graph",
        enabled_endpoints=["stream_events"],
        per_req_config_modifier=on_thread,
    )
    asked = {"input": turn["input"], "config": {}, "kwargs": {}}
    over = httpx.ASGITransport(app)
    async with (
        httpx.AsyncClient(transport=over, base_url="http://test", timeout=60) as client,
        client.stream("POST", "/graph/stream_events", json=asked) as response,
    ):
        name = ""
        async for line in response.aiter_lines():
            field, _, value = line.partition(": ")
            name = value if field == "event" else name
            if field != "data" or not value:
                continue
            event = json.loads(value)
            if name == "error":
                raise RunFailedError(value)
            if event["event"] == "on_chat_model_stream":
                bubbles.append(event["run_id"], event["data"]["chunk"])
            yield


async def ag_ui(
    graph: Graph, thread: str, turn: dict[str, Any], screen: Screen
) -> AsyncIterator[None]:
    """AG-UI's `LangGraphAgent`, and its messages as the AG-UI client folds them."""
    from ag_ui_langgraph import LangGraphAgent

    agent = LangGraphAgent(name="agent", graph=graph)
    resumed = {"command": {"resume": turn["resume"]}} if "resume" in turn else {}
    said = turn.get("input", {}).get("messages", [])
    asked = RunAgentInput(
        thread_id=thread,
        run_id=str(uuid4()),
        state={},
        messages=[UserMessage(id=str(uuid4()), content=each["content"]) for each in said],
        tools=[],
        context=[],
        forwarded_props=resumed,
    )
    async for event in agent.run(asked):
        _fold(screen, event.model_dump(mode="json"))
        yield


def _fold(screen: Screen, event: dict[str, Any]) -> None:
    match event["type"]:
        case "TEXT_MESSAGE_START":
            _at(screen, event["message_id"])
        case "TEXT_MESSAGE_CONTENT":
            _at(screen, event["message_id"])["text"] += event["delta"]
        case "TOOL_CALL_START":
            _at(screen, event["parent_message_id"])["tool_calls"].append(event["tool_call_id"])
        case "TOOL_CALL_RESULT":
            _at(screen, event["message_id"], "tool")["text"] += event["content"]
        case "MESSAGES_SNAPSHOT":
            screen.messages = [_of_snapshot(message) for message in event["messages"]]
        case "RUN_ERROR":
            raise RunFailedError(event["message"])


def _at(screen: Screen, message_id: str, role: str = "ai") -> Shown:
    """The message with this id; the AG-UI client makes none twice."""
    for message in screen.messages:
        if message["id"] == message_id:
            return message
    made = Shown(id=message_id, type=role, text="", tool_calls=[])
    screen.messages.append(made)
    return made


def _of_snapshot(message: dict[str, Any]) -> Shown:
    roles = {"user": "human", "assistant": "ai"}
    calls = [call["id"] for call in message.get("tool_calls") or ()]
    text = message.get("content") or ""
    role = roles.get(message["role"], message["role"])
    return Shown(id=message["id"], type=role, text=text, tool_calls=calls)


IN_PROCESS: dict[str, Reader] = {
    "append loop": appends,
    "append events": appends_events,
    "LangServe": langserve,
    "AG-UI in process": ag_ui,
}
"""Each reader by its name."""


async def play_in_process(
    animals: Iterable[Animal], readers: Mapping[str, Reader] = IN_PROCESS, *, again: int = 0
) -> dict[Cell, Verdict]:
    """Judge each reader with every graph, plain and wrapped; `again` as in `play`."""
    jobs = {
        Cell(animal.name, name, wrapped): (animal, reader)
        for animal in animals
        for name, reader in readers.items()
        for wrapped in (False, True)
    }
    found: dict[Cell, Verdict] = {}
    todo = set(jobs)
    for _ in range(again + 1):
        done = await asyncio.gather(*(_play(cell, *jobs[cell]) for cell in jobs if cell in todo))
        found |= dict(zip((cell for cell in jobs if cell in todo), done, strict=True))
        worse = worse_cells(found)
        todo = {cell for cell in jobs if cell._replace(wrapped=True) in worse}
    return {cell: found[cell] for cell in jobs}


async def _play(cell: Cell, animal: Animal, reader: Reader) -> Verdict:
    plain = animal.graph.copy(update={"checkpointer": InMemorySaver()})
    graph, thread = once(plain) if cell.wrapped else plain, str(uuid4())
    screen, turns, finals = Screen(), list[Turn](), list[Snapshot]()
    for turn in animal.turns:
        screen.snapshots = []
        screen.type((turn.get("input") or {}).get("messages", []))
        screen.look()
        error = None
        try:
            async for _ in reader(graph, thread, turn, screen):
                screen.look()
        except Exception as failed:
            error = repr(failed)
        turns.append(Turn(snapshots=screen.snapshots, error=error))
        finals.append(_messages(await plain.aget_state(_config(thread))))
    states = [_messages(state) async for state in plain.aget_state_history(_config(thread))]
    return judge(Recording(turns=turns), _history(finals, states, animal), animal.fails)


def _messages(state: Any) -> Snapshot:
    return [shown(message.model_dump()) for message in (state.values or {}).get("messages", [])]


def _history(finals: list[Snapshot], states: list[Snapshot], animal: Animal) -> History:
    asked = [turn["input"]["messages"][0] for turn in animal.turns if "input" in turn]
    most: Counter[Unit] = Counter((message["type"], message["content"]) for message in asked)
    for state in states:
        most |= count(state)
    unkept = frozenset(("ai", text) for text in animal.texts_unkept()) - most.keys()
    return History(finals, most | Counter(unkept), unkept)
