"""Threads with a `DeltaChannel`, whose value is spread over their history."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypedDict
from uuid import uuid4

import pytest
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Overwrite

from langgraph_once.checkpoint import OnceSqliteSaver

Graph = CompiledStateGraph[Any, Any, Any, Any]


def extend(state: list[str], writes: Sequence[list[str]]) -> list[str]:
    return [*state, *(item for write in writes for item in write)]


def build(saver: OnceSqliteSaver, *, snapshot_frequency: int, nodes: int = 1) -> Graph:
    class State(TypedDict):
        log: Annotated[list[str], DeltaChannel(extend, snapshot_frequency=snapshot_frequency)]
        rare: Annotated[list[str], DeltaChannel(extend, snapshot_frequency=1000)]
        topic: str

    def note(state: State) -> dict[str, Any]:
        if state["topic"] == "again":
            return {"log": Overwrite(["afresh"])}
        return {"log": [f"noted {state['topic']}"]}

    builder = StateGraph(State)
    before = START
    for number in range(nodes):
        builder.add_node(f"note {number}", note)
        builder.add_edge(before, f"note {number}")
        before = f"note {number}"
    return builder.compile(checkpointer=saver)


def without_the_channel(saver: OnceSqliteSaver) -> Graph:
    class State(TypedDict):
        topic: str

    builder = StateGraph(State)
    builder.add_node("idle", lambda state: {"topic": "idle"})
    builder.add_edge(START, "idle")
    return builder.compile(checkpointer=saver)


def on(thread_id: str, run_id: str | None = None) -> Any:
    # The run id of the last checkpoint again would mean "continue", and ignore the input.
    return {"configurable": {"thread_id": thread_id, "run_id": run_id or str(uuid4())}}


def say(topic: str) -> Any:
    return {"topic": topic, "log": [f"asked {topic}"]}


async def values(graph: Graph, thread_id: str) -> dict[str, Any]:
    return (await graph.aget_state(on(thread_id))).values


async def count(saver: OnceSqliteSaver, thread_id: str) -> int:
    return len([x async for x in saver.alist({"configurable": {"thread_id": thread_id}})])


Durability = Literal["sync", "async", "exit"]


@pytest.mark.parametrize("durability", ["sync", "exit"])
@pytest.mark.parametrize("snapshot_frequency", [1, 2, 3, 5, 1000])
@pytest.mark.parametrize("turns", [1, 2, 5])
async def test_a_pruned_thread_reads_the_same_and_goes_on(
    saver: OnceSqliteSaver, snapshot_frequency: int, turns: int, durability: Durability
) -> None:
    graph = build(saver, snapshot_frequency=snapshot_frequency, nodes=2)
    for turn in range(turns):
        await graph.ainvoke(say(str(turn)), on("thread"), durability=durability)
    before = await values(graph, "thread")
    assert len(before["log"]) == 3 * turns
    await saver.aprune(["thread"])
    assert await values(graph, "thread") == before
    await saver.aprune(["thread"])
    assert await values(graph, "thread") == before
    await graph.ainvoke(say("next"), on("thread"), durability=durability)
    after = await values(graph, "thread")
    assert after["log"] == [*before["log"], "asked next", "noted next", "noted next"]


async def test_a_run_with_metadata_that_is_no_json(saver: OnceSqliteSaver) -> None:
    graph = build(saver, snapshot_frequency=3)
    for turn in range(4):
        config: Any = {**on("thread"), "metadata": {"score": float("nan")}}
        await graph.ainvoke(say(str(turn)), config)
    before = await values(graph, "thread")
    await saver.aprune(["thread"])
    assert await values(graph, "thread") == before
    assert await count(saver, "thread") <= 5


async def test_prune_keeps_no_more_than_is_needed(saver: OnceSqliteSaver) -> None:
    graph = build(saver, snapshot_frequency=2)
    for turn in range(10):
        await graph.ainvoke(say(str(turn)), on("thread"))
    assert await count(saver, "thread") == 30
    before = await values(graph, "thread")
    await saver.aprune(["thread"])
    assert await count(saver, "thread") <= 3
    assert await values(graph, "thread") == before


async def test_prune_needs_all_channels_seeded(saver: OnceSqliteSaver) -> None:
    graph = build(saver, snapshot_frequency=1)
    await graph.ainvoke({**say("first"), "rare": ["rarely written"]}, on("thread"))
    for turn in range(3):
        await graph.ainvoke(say(str(turn)), on("thread"))
    before = await values(graph, "thread")
    await saver.aprune(["thread"])
    assert (await values(graph, "thread"))["rare"] == ["rarely written"]
    assert await values(graph, "thread") == before


async def test_prune_after_an_overwrite_and_an_update(saver: OnceSqliteSaver) -> None:
    graph = build(saver, snapshot_frequency=1000)
    await graph.ainvoke(say("a"), on("thread"))
    await graph.ainvoke(say("again"), on("thread"))
    await graph.aupdate_state(on("thread"), {"log": ["updated"]})
    await saver.aprune(["thread"])
    assert (await values(graph, "thread"))["log"] == ["afresh", "updated"]


async def test_prune_when_another_graph_ran_last(saver: OnceSqliteSaver) -> None:
    graph = build(saver, snapshot_frequency=1000)
    await graph.ainvoke(say("a"), on("thread"))
    await without_the_channel(saver).ainvoke({"topic": "b"}, on("thread"))
    before = await values(graph, "thread")
    assert before["log"] == ["asked a", "noted a"]
    await saver.aprune(["thread"])
    assert await values(graph, "thread") == before


@pytest.mark.parametrize("prunes", [1, 2])
async def test_prune_when_another_graph_ran_after_a_snapshot(
    saver: OnceSqliteSaver, prunes: int
) -> None:
    graph = build(saver, snapshot_frequency=1)
    await graph.aupdate_state(on("thread"), say("a"), as_node="note 0")
    await without_the_channel(saver).ainvoke({"topic": "b"}, on("thread"))
    before = await values(graph, "thread")
    assert before["log"] == ["asked a"]
    for _ in range(prunes):
        await saver.aprune(["thread"])
        assert await values(graph, "thread") == before
    await graph.ainvoke(say("c"), on("thread"))
    assert (await values(graph, "thread"))["log"] == ["asked a", "asked c", "noted c"]


async def test_prune_of_a_fork_follows_its_own_branch(saver: OnceSqliteSaver) -> None:
    graph = build(saver, snapshot_frequency=1000)
    for turn in range(3):
        await graph.ainvoke(say(str(turn)), on("thread"))
    states = [state async for state in graph.aget_state_history(on("thread"))]
    first_end = next(state for state in reversed(states) if not state.next)
    at = {**first_end.config["configurable"], **on("thread")["configurable"]}
    await graph.ainvoke(say("fork"), {"configurable": at})
    before = await values(graph, "thread")
    assert before["log"] == ["asked 0", "noted 0", "asked fork", "noted fork"]
    await saver.aprune(["thread"])
    assert await values(graph, "thread") == before


async def test_prune_of_a_chain_that_bites_its_tail(saver: OnceSqliteSaver) -> None:
    graph = build(saver, snapshot_frequency=1000)
    await graph.ainvoke(say("a"), on("thread"))
    saver.conn.execute(
        "UPDATE checkpoints SET parent_checkpoint_id = (SELECT MAX(checkpoint_id) "
        "FROM checkpoints) WHERE parent_checkpoint_id IS NULL"
    )
    await saver.aprune(["thread"])
    assert await count(saver, "thread") > 0


async def test_prune_reads_no_checkpoint_of_a_thread_without_delta_channels(
    saver: OnceSqliteSaver,
) -> None:
    config: Any = {"configurable": {"thread_id": "thread", "checkpoint_ns": ""}}
    for _ in range(3):
        config = await saver.aput(config, empty_checkpoint(), {}, {})
    saver.conn.execute("UPDATE checkpoints SET checkpoint = x'c1', type = 'unknown'")
    await saver.aprune(["thread"])
    kept = [row[0] for row in saver.conn.execute("SELECT checkpoint_id FROM checkpoints")]
    assert kept == [config["configurable"]["checkpoint_id"]]


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("snapshot_frequency", [1, 2, 1000])
async def test_a_rolled_back_input_does_not_come_back(
    saver: OnceSqliteSaver, snapshot_frequency: int, durability: Durability
) -> None:
    graph = build(saver, snapshot_frequency=snapshot_frequency)
    await graph.ainvoke(say("a"), on("thread", "run 1"), durability=durability)
    before = await values(graph, "thread")
    await graph.ainvoke(say("b"), on("thread", "run 2"), durability=durability)
    await saver.adelete_for_runs(["run 2"])
    assert await values(graph, "thread") == before
    await graph.ainvoke(say("c"), on("thread", "run 3"), durability=durability)
    assert (await values(graph, "thread"))["log"] == ["asked a", "noted a", "asked c", "noted c"]


async def test_a_copy_carries_the_whole_chain(saver: OnceSqliteSaver) -> None:
    graph = build(saver, snapshot_frequency=3)
    for turn in range(4):
        await graph.ainvoke(say(str(turn)), on("one"))
    before = await values(graph, "one")
    await saver.acopy_thread("one", "two")
    await saver.adelete_thread("one")
    assert await values(graph, "two") == before
    await graph.ainvoke(say("next"), on("two"))
    assert (await values(graph, "two"))["log"] == [*before["log"], "asked next", "noted next"]
