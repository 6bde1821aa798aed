"""Graphs on the saver: what a user of a thread sees."""

import operator
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateSnapshot, interrupt

from langgraph_once.checkpoint import OnceSqliteSaver, open_sqlite_saver


class Inner(TypedDict):
    log: Annotated[list[str], operator.add]
    answer: str


class State(Inner):
    topic: str


def ask(state: Inner) -> dict[str, Any]:
    answer = interrupt("May I?")
    return {"answer": answer, "log": [f"answered {answer}"]}


def note(state: State) -> dict[str, Any]:
    return {"log": [f"noted {state['topic']}"]}


def finish(state: State) -> dict[str, Any]:
    return {"log": ["finished"]}


def build(saver: OnceSqliteSaver) -> CompiledStateGraph[Any, Any, Any, Any]:
    inner = StateGraph(Inner)
    inner.add_node("ask", ask)
    inner.add_edge(START, "ask")
    outer = StateGraph(State)
    outer.add_node("note", note)
    outer.add_node("inner", inner.compile())
    outer.add_node("finish", finish)
    outer.add_edge(START, "note")
    outer.add_edge("note", "inner")
    outer.add_edge("inner", "finish")
    outer.add_edge("finish", END)
    return outer.compile(checkpointer=saver)


def chat(saver: OnceSqliteSaver) -> CompiledStateGraph[Any, Any, Any, Any]:
    builder = StateGraph(State)
    builder.add_node("note", note)
    builder.add_edge(START, "note")
    return builder.compile(checkpointer=saver)


def on(thread_id: str, run_id: str = "run 1") -> Any:
    return {"configurable": {"thread_id": thread_id, "run_id": run_id}}


def say(topic: str) -> Any:
    return {"topic": topic, "log": [f"asked {topic}"]}


async def log(graph: CompiledStateGraph[Any, Any, Any, Any], thread_id: str) -> list[str]:
    state = await graph.aget_state(on(thread_id))
    found: list[str] = state.values.get("log", [])
    return found


async def test_history_and_resume_in_another_saver(path: Path, serde: SerializerProtocol) -> None:
    async with open_sqlite_saver(path, serde=serde) as saver:
        result = await build(saver).ainvoke(say("a"), on("thread"))
        assert [raised.value for raised in result["__interrupt__"]] == ["May I?"]
    async with open_sqlite_saver(path, serde=serde) as saver:
        graph = build(saver)
        assert (await graph.aget_state(on("thread"))).next == ("inner",)
        result = await graph.ainvoke(Command(resume="yes"), on("thread", "run 2"))
        assert result["log"][-2:] == ["answered yes", "finished"]
        assert result["answer"] == "yes"
        states = [state async for state in graph.aget_state_history(on("thread"))]
        steps = [state.metadata["step"] for state in states if state.metadata]
        assert steps == [3, 2, 1, 0, -1]


async def test_a_copy_and_its_original_go_their_own_ways(saver: OnceSqliteSaver) -> None:
    graph = build(saver)
    await graph.ainvoke(say("a"), on("one"))
    await saver.acopy_thread("one", "two")
    yes = await graph.ainvoke(Command(resume="yes"), on("one", "run 2"))
    no = await graph.ainvoke(Command(resume="no"), on("two", "run 3"))
    assert (yes["answer"], no["answer"]) == ("yes", "no")
    assert (await graph.aget_state(on("one"))).values["answer"] == "yes"
    assert (await graph.aget_state(on("two"))).values["answer"] == "no"


async def test_a_rolled_back_run_leaves_the_thread_as_it_was(saver: OnceSqliteSaver) -> None:
    graph = chat(saver)
    await graph.ainvoke(say("a"), on("thread", "run 1"))
    before = await graph.aget_state(on("thread"))
    await graph.ainvoke(say("b"), on("thread", "run 2"))
    await saver.adelete_for_runs(["run 2"])
    assert await graph.aget_state(on("thread")) == before
    await graph.ainvoke(say("c"), on("thread", "run 3"))
    assert await log(graph, "thread") == ["asked a", "noted a", "asked c", "noted c"]


async def test_a_rolled_back_answer_is_forgotten(saver: OnceSqliteSaver) -> None:
    graph = build(saver)
    await graph.ainvoke(say("a"), on("thread", "run 1"))
    await graph.ainvoke(Command(resume="yes"), on("thread", "run 2"))
    await saver.adelete_for_runs(["run 2"])
    assert (await graph.aget_state(on("thread"))).next == ("inner",)
    result = await graph.ainvoke(Command(resume="no"), on("thread", "run 3"))
    assert result["answer"] == "no"


async def test_a_rolled_back_first_run_leaves_an_empty_thread(saver: OnceSqliteSaver) -> None:
    graph = build(saver)
    await graph.ainvoke(say("a"), on("thread", "run 1"))
    await saver.adelete_for_runs(["run 1"])
    assert (await graph.aget_state(on("thread"))).values == {}
    assert saver.conn.execute("SELECT count(*) FROM writes").fetchall() == [(0,)]
    result = await graph.ainvoke(say("b"), on("thread", "run 2"))
    assert result["topic"] == "b"


def without_parents(state: StateSnapshot) -> StateSnapshot:
    """As it is once the checkpoints before it, and before those inside it, are pruned."""
    tasks = [
        task._replace(state=without_parents(task.state))
        if isinstance(task.state, StateSnapshot)
        else task
        for task in state.tasks
    ]
    return state._replace(parent_config=None, tasks=tuple(tasks))


@pytest.mark.parametrize("interrupted", [True, False])
async def test_a_pruned_thread_goes_on(saver: OnceSqliteSaver, interrupted: bool) -> None:
    graph = build(saver) if interrupted else chat(saver)
    await graph.ainvoke(say("a"), on("thread"))
    before = await graph.aget_state(on("thread"), subgraphs=True)
    await saver.aprune(["thread"])
    after = await graph.aget_state(on("thread"), subgraphs=True)
    assert after == without_parents(before)
    assert len([state async for state in graph.aget_state_history(on("thread"))]) == 1
    if interrupted:
        result = await graph.ainvoke(Command(resume="yes"), on("thread", "run 2"))
        assert result["log"][-2:] == ["answered yes", "finished"]
    else:
        result = await graph.ainvoke(say("b"), on("thread", "run 2"))
        assert result["log"] == ["asked a", "noted a", "asked b", "noted b"]
    await graph.aupdate_state(on("thread"), {"topic": "edited"}, as_node="note")
    assert (await graph.aget_state(on("thread"))).values["topic"] == "edited"


async def test_a_deleted_thread_begins_anew(saver: OnceSqliteSaver) -> None:
    graph = chat(saver)
    await graph.ainvoke(say("a"), on("thread"))
    await saver.adelete_thread("thread")
    assert (await graph.aget_state(on("thread"))).values == {}
    await graph.ainvoke(say("b"), on("thread"))
    assert await log(graph, "thread") == ["asked b", "noted b"]
