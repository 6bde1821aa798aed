"""Nested and parallel graphs, run often, while threads take turns as often as they can."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command

from tests.exact import exactly
from tests.unit_tests.stream.scenes import ASKED, chain, folded, model, nested, says, says_copy

AT_A_TIME = 4
OPTIONS: Any = {"stream_mode": "messages", "subgraphs": True}


def beside(*nodes: Any) -> Any:
    """A graph that runs `nodes` in one step, and another one behind them."""
    builder: Any = StateGraph(MessagesState).add_node("last", says("Last."))
    for i, node in enumerate(nodes):
        builder.add_node(f"n{i}", node).add_edge(START, f"n{i}").add_edge(f"n{i}", "last")
    return builder.compile()


def supervisor(*workers: Any) -> Any:
    """A graph whose first node sends to each worker in turn, and speaks itself every time."""

    def decide(state: Any) -> Any:
        turn = sum(message.name == "supervisor" for message in state["messages"])
        said = model(f"Turn {turn}.").invoke(state["messages"])
        to = f"worker{turn}" if turn < len(workers) else END
        said = said.model_copy(update={"name": "supervisor"})
        return Command(goto=to, update={"messages": [said]})

    builder: Any = StateGraph(MessagesState).add_node("decide", decide)
    builder.add_edge(START, "decide")
    for i, worker in enumerate(workers):
        builder.add_node(f"worker{i}", worker).add_edge(f"worker{i}", "decide")
    return builder.compile()


def writes(text: str) -> Any:
    """A node that returns a message which no model has streamed."""
    return lambda _: {"messages": [AIMessage(text)]}


A, B, C = "One and two.", "Three and four.", "Five and six."

GRAPHS: dict[str, Callable[[], Any]] = {
    "chain": lambda: chain(says(A), says(B), says(C)),
    "long chain": lambda: chain(*(says(f"Step {i}.") for i in range(8))),
    "copies": lambda: chain(says_copy(A), says_copy(B)),
    "written": lambda: chain(writes(A), says(B), writes(C)),
    "2 levels": lambda: nested(says(A), 2),
    "3 levels": lambda: nested(says(A), 3),
    "4 levels": lambda: nested(says(A), 4),
    "copies 3 levels deep": lambda: nested(says_copy(A), 3),
    "chain of graphs": lambda: chain(chain(says(A)), chain(says(B), says(C))),
    "graph between nodes": lambda: chain(says(A), nested(says(B), 2), says(C)),
    "2 at a time": lambda: beside(says(A), says(B)),
    "4 at a time": lambda: beside(*(says(f"{i}.") for i in range(4))),
    "8 at a time": lambda: beside(*(says(f"{i}.") for i in range(8))),
    "graphs at a time": lambda: beside(chain(says(A)), nested(says(B), 2), chain(says_copy(C))),
    "chains at a time": lambda: beside(chain(says(A), says(B)), chain(says(C), writes("End."))),
    "all kinds at a time": lambda: beside(says(A), says_copy(B), writes(C)),
    "supervisor": lambda: supervisor(says(A), says_copy(B)),
    "supervisor of graphs": lambda: supervisor(chain(says(A)), nested(says(B), 2)),
    "supervisor of supervisors": lambda: chain(supervisor(chain(says(A)), supervisor(says(B)))),
    "supervisor of what runs at a time": lambda: supervisor(beside(says(A), chain(says(B)))),
}


@pytest.fixture(autouse=True)
def switches_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def thread(number: int) -> Any:
    return {"configurable": {"thread_id": str(number)}}


def texts(graph: Any, number: int) -> Counter[str]:
    """The answers in the state of a thread."""
    return Counter(
        str(message.text) for message in graph.get_state(thread(number)).values["messages"][1:]
    )


async def run_often(graph: Any, runs: int, *, is_async: bool) -> list[list[Any]]:
    """What comes of each of the runs, some of them at a time."""

    def stream(number: int) -> list[Any]:
        return [chunk[-1] for chunk in graph.stream(ASKED, thread(number), **OPTIONS)]

    async def astream(number: int) -> list[Any]:
        async with turn:
            stream = graph.astream(ASKED, thread(number), **OPTIONS)
            return [chunk[-1] async for chunk in stream]

    if not is_async:
        with ThreadPoolExecutor(AT_A_TIME) as pool:
            return [*pool.map(stream, range(runs))]
    turn = asyncio.Semaphore(AT_A_TIME)
    return [*await asyncio.gather(*map(astream, range(runs)))]


RUNS = [3, pytest.param(50, marks=pytest.mark.slow), pytest.param(500, marks=pytest.mark.product)]


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
async def test_no_run_of_a_wrapped_graph_fails_that_goes_well_without(
    name: str, is_async: bool, runs: int
) -> None:
    assert len(GRAPHS) == 20
    plain = GRAPHS[name]().copy({"checkpointer": InMemorySaver()})
    wrapped = exactly(plain.copy({"checkpointer": InMemorySaver()}))
    await run_often(plain, 1, is_async=is_async)  # which says the same each time
    told = await run_often(wrapped, runs, is_async=is_async)
    for number, chunks in enumerate(told):
        state = texts(wrapped, number)
        assert state == texts(plain, 0)
        assert Counter(folded(chunks).values()) == state
