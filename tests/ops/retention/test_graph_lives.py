"""Random lives of a graph: what retention keeps of a thread acts as in a copy that lost nothing."""

from __future__ import annotations

import operator
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import START, StateGraph
from langgraph.types import Command, Send, interrupt

from langgraph_once.checkpoint.saver import OnceSaver
from langgraph_once.config import RetentionConfig
from langgraph_once_ops.retention import Pruner
from tests.unit_tests.checkpoint import whole_databases as whole
from tests.unit_tests.checkpoint.whole_graph import extend


class State(TypedDict, total=False):
    log: Annotated[list[str], DeltaChannel(extend, snapshot_frequency=4)]
    done: Annotated[list[int], operator.add]
    count: int
    asks: bool
    remembered: int


class Memory(TypedDict, total=False):
    count: int
    remembered: int


def step(state: State) -> Any:
    count = state.get("count", 0) + 1
    return {"count": count, "log": [f"step {count}", "x" * 300]}


def spread(state: State) -> list[Send]:
    return [Send("work", {"count": state.get("count", 0) * 10 + number}) for number in range(2)]


def work(state: State) -> Any:
    return {"done": [state["count"]], "log": ["work"]}


def ask(state: State) -> Any:
    if not state.get("asks"):
        return {}
    return {"log": [interrupt("May I?")]}


def remember(state: Memory) -> Any:
    return {"remembered": state.get("remembered", 0) * 2 + state.get("count", 0) % 3}


def build(saver: OnceSaver) -> Any:
    memory = StateGraph(Memory).add_node("first", remember).add_node("second", remember)
    memory.add_edge(START, "first").add_edge("first", "second")
    asking = StateGraph(State).add_node("ask", ask).add_edge(START, "ask")
    graph = StateGraph(State).add_node("step", step).add_node("work", work)
    graph.add_node("memory", memory.compile(checkpointer=True))
    graph.add_node("asking", asking.compile())
    graph.add_edge(START, "step").add_conditional_edges("step", spread, ["work"])
    graph.add_edge("work", "memory").add_edge("memory", "asking")
    return graph.compile(checkpointer=saver)


def on(thread_id: str, id_: str | None = None) -> Any:
    at = {"thread_id": thread_id, "checkpoint_ns": ""}
    return {"configurable": at | ({"checkpoint_id": id_} if id_ else {})}


def ids(graph: Any, thread_id: str) -> list[str]:
    history = graph.get_state_history(on(thread_id))
    return [state.config["configurable"]["checkpoint_id"] for state in history]


def live(graph: Any, thread_id: str, chance: random.Random) -> None:
    """Some turns: input, resumes, replays, forks."""
    for _ in range(chance.randint(2, 6)):
        state = graph.get_state(on(thread_id))
        known = ids(graph, thread_id)
        match chance.choice(("say", "say", "ask", "replay", "fork")):
            case "replay" if known:
                graph.invoke(None, on(thread_id, chance.choice(known)))
            case "fork" if known:
                place = on(thread_id, chance.choice(known))
                at = graph.update_state(place, {"log": ["fork"]}, as_node="step")
                graph.invoke(None, at)
            case _ if state.interrupts:
                graph.invoke(Command(resume="yes"), on(thread_id))
            case said:
                graph.invoke({"asks": said == "ask"}, on(thread_id))


def told(state: Any) -> Any:
    """What a state says, with those of subgraphs under way."""
    tasks = [
        (
            task.name,
            [each.value for each in task.interrupts],
            task.error,
            task.state and told(task.state),
        )
        for task in state.tasks
    ]
    return state.values, state.next, tasks, state.metadata["step"], state.metadata["source"]


def acts(graph: Any, saver: OnceSaver, thread_id: str, id_: str) -> list[Any]:
    """What comes of a checkpoint: as it is, resumed or gone on from, replayed, and forked."""
    found: list[Any] = [told(graph.get_state(on(thread_id, id_), subgraphs=True))]
    head = ids(graph, thread_id)[0]
    for number, act in enumerate(("go on", "replay", "fork")):
        trial = f"{thread_id} {number}"
        saver.copy_thread(thread_id, trial)
        at = on(trial, id_)
        if act == "fork":
            at = graph.update_state(at, {"log": ["late"], "count": 70}, as_node="step")
        asked: Any = None
        if act == "go on":
            if id_ != head:
                continue
            at = on(trial)
            waits = graph.get_state(at).interrupts
            asked = Command(resume="late") if waits else {"asks": True}
        graph.invoke(asked, at)
        found.append(told(graph.get_state(on(trial), subgraphs=True)))
    return found


@pytest.fixture
def saver(here: str) -> Iterator[OnceSaver]:
    with whole.once(here, whole.serde()) as opened:
        yield opened


def check(saver: OnceSaver, seed: int) -> int:
    """Hold a thread from which something went against its copy; return how much went."""
    chance = random.Random(seed)
    graph = build(saver)
    live(graph, "pruned", chance)
    saver.copy_thread("pruned", "whole")
    rules = RetentionConfig(keep_last=chance.choice((1, 1, 2, 3, 5)))
    pruner = Pruner(saver, rules, datetime.now(UTC))
    expected = pruner.estimate("pruned")
    change = pruner.prune("pruned")
    assert change == expected
    kept = ids(graph, "pruned")
    assert kept[: rules.keep_last] == ids(graph, "whole")[: rules.keep_last]
    for id_ in kept:
        assert acts(graph, saver, "pruned", id_) == acts(graph, saver, "whole", id_), (seed, id_)
    for thread_id in ("pruned", "whole"):
        saver.prune([thread_id, *(f"{thread_id} {n}" for n in range(3))], strategy="delete")
    return change.checkpoints if change else 0


@pytest.mark.parametrize("seed", range(3))
def test_what_is_kept_of_a_thread_acts_as_before(saver: OnceSaver, seed: int) -> None:
    assert check(saver, seed)


@pytest.mark.slow
def test_what_is_kept_of_many_threads_acts_as_before(saver: OnceSaver) -> None:
    assert sum(bool(check(saver, seed)) for seed in range(100, 180)) > 40
