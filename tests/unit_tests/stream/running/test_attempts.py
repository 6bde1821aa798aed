"""Tasks of a running graph."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from langchain_core.messages import AIMessage, RemoveMessage
from langchain_core.runnables import RunnableLambda
from langgraph.types import RetryPolicy

from langgraph_once import once
from langgraph_once.stream.attempts import ModelRun, Task, Tasks
from langgraph_once.stream.content import content_of
from langgraph_once.stream.places import runner_of
from tests.exact import exactly
from tests.unit_tests.stream.scenes import ASKED, chain, model, says


def test_the_steps_of_a_task_are_those_around_it_and_its_own() -> None:
    tasks = Tasks()
    outer, inner = tasks.get("n:1"), tasks.get("n:1|m:2")
    tasks.at_step(outer, 3)
    tasks.at_step(inner, 1)
    assert (outer.steps, inner.steps) == ([3], [3, 1])


def test_the_graph_of_a_task_is_named_by_the_task_around_it() -> None:
    assert [runner_of(ns) for ns in ("n:1", "n:1|m:2", "n:1|m:2|o:3")] == [
        "",
        "n:1",
        "n:1|m:2",
    ]


def test_what_is_said_inside_tells_the_steps_around_it() -> None:
    graph = exactly(chain(says("One."), chain(says("Two."), says("Three."))))
    chunks: Any = graph.stream(ASKED, stream_mode="messages", subgraphs=True)
    steps = {m.text: meta["once"].get("steps") for _, (m, meta) in chunks if m.text}
    assert steps == {"One.": None, "Two.": [2, 1], "Three.": [2, 2]}


def test_what_a_failed_attempt_said_is_no_original() -> None:
    """It is taken back, so that its id is none for a message of the state."""
    task, said = Task("n:1"), AIMessage("One.")
    task.models.append(ModelRun("r", task, ((), {}), id="first", said=content_of(said)))
    task.start()
    assert task.copied(said, space="same") == "first"
    task.end()
    task.start()
    assert task.copied(said, space="same") is None


def test_another_attempt_runs_in_the_same_step() -> None:
    tasks = Tasks()
    task = tasks.get("n:1")
    tasks.at_step(task, 3)
    tasks.at_step(task, 4)
    assert task.steps == [3]


def test_a_step_that_nobody_told_is_before_all_others() -> None:
    task = Tasks().get("n:1")
    Tasks().at_step(task, None)
    assert task.steps == [-1]


def test_what_runs_in_a_node_under_its_name_is_no_second_attempt() -> None:
    def node(state: Any) -> Any:
        answer = model("One.").invoke(state["messages"])
        inside: Any = RunnableLambda(lambda _: None).with_config(run_name="n0")
        inside.invoke("?")
        return {"messages": [answer]}

    chunks: Any = exactly(chain(node)).stream(ASKED, stream_mode="messages")
    told = [(message.text, meta["once"]["attempt"]) for message, meta in chunks if message.content]
    assert told == [("One.", 1)]


def test_what_runs_in_a_node_under_its_name_is_heard_by_stock_readers_as_without_us() -> None:
    def node(_: Any) -> dict[str, Any]:
        aside = {"messages": [AIMessage("Aside.")]}
        inside: Any = RunnableLambda(lambda _: aside).with_config(run_name="n0")
        inside.invoke("?")
        return {}

    chunks: Any = once(chain(node)).stream(ASKED, stream_mode="messages")
    plain: Any = chain(node).stream(ASKED, stream_mode="messages")
    assert [m.text for m, _ in chunks] == [m.text for m, _ in plain] == ["Aside."]


def test_what_was_said_inside_is_taken_back_before_it_is_said_again() -> None:
    failures = [ValueError()]

    def node(state: Any) -> Any:
        answer = model("One two.").invoke(state["messages"])
        if failures:
            raise failures.pop()
        return {"messages": [answer]}

    outer = chain(chain(node))
    outer.nodes["n0"].retry_policy = [
        RetryPolicy(initial_interval=0.001, jitter=False, retry_on=ValueError)
    ]
    chunks: Any = exactly(outer).stream(ASKED, stream_mode="messages", subgraphs=True)
    said = [message for _, (message, _) in chunks]
    told = ["gone" if isinstance(m, RemoveMessage) else m.text for m in said]
    assert [text for text in told if text] == ["One", " two.", "gone", "One", " two."]


def test_what_was_said_inside_is_taken_back_though_the_next_attempt_runs_nothing_inside() -> None:
    inner = chain(lambda state: {"messages": [model("One two.").invoke(state["messages"])]})
    failures = [ValueError()]

    def node(state: Any) -> Any:
        if failures:
            inner.invoke(state)
            raise failures.pop()
        return {"messages": [AIMessage("Three.", id="3")]}

    outer = chain(node)
    outer.nodes["n0"].retry_policy = [
        RetryPolicy(initial_interval=0.001, jitter=False, retry_on=ValueError)
    ]
    chunks: Any = exactly(outer).stream(ASKED, stream_mode="messages", subgraphs=True)
    said = [message for _, (message, _) in chunks]
    told = ["gone" if isinstance(m, RemoveMessage) else m.text for m in said]
    assert [text for text in told if text] == ["One", " two.", "gone", "Three."]


@pytest.mark.parametrize("mode", ["messages", "updates", "events"])
async def test_tasks_that_are_done_are_forgotten(mode: Any) -> None:
    known: list[int] = []

    def count(_: Any) -> dict[str, Any]:
        gc.collect()
        known.append(sum(type(each) is Task for each in gc.get_objects()))
        return {}

    graph = exactly(chain(count, *[says("Yes.")] * 3, count))
    if mode == "events":
        assert [event async for event in graph.astream_events(ASKED, version="v2")]
    else:
        assert [chunk async for chunk in graph.astream(ASKED, stream_mode=mode)]
    before, after = known
    assert 0 < after <= before + 1  # what the last step has written is kept, with its task
