"""Graphs, and what may happen to a thread: each story fills a saver."""

import itertools
import operator
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Annotated, Any, Literal, TypedDict

from langchain_core.messages import HumanMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
)
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Overwrite, RetryPolicy, StateUpdate, interrupt

from graphs.research.graph import graph as research
from langgraph_once_ops.validate import (
    validate_tuple,
)
from tests.data.checkpoints.write_upstream import build, live

Saver = BaseCheckpointSaver[Any]
Durability = Literal["sync", "async", "exit"]
DURABILITIES: tuple[Durability, ...] = ("sync", "async", "exit")


def findings(saver: Saver, but: Sequence[str] = ()) -> list[str]:
    """Return what is found in all that a saver has, but in the checkpoints of these ids."""
    kept = [each for each in saver.list(None) if each.checkpoint["id"] not in but]
    assert kept
    return [str(found) for each in kept for found in validate_tuple(each)]


def on(thread_id: Any = "thread", **more: Any) -> Any:
    return {"configurable": {"thread_id": thread_id}, **more}


def extend(state: list[str], writes: Sequence[list[str]]) -> list[str]:
    return [*state, *(item for write in writes for item in write)]


class State(TypedDict):
    log: Annotated[list[str], operator.add]
    slow: Annotated[list[str], DeltaChannel(extend, snapshot_frequency=2)]
    rare: Annotated[list[str], DeltaChannel(extend, snapshot_frequency=1000)]
    topic: str


def note(state: State) -> dict[str, Any]:
    if state.get("topic") == "afresh":
        return {"slow": Overwrite(["afresh"]), "log": ["afresh"]}
    return {"log": ["noted"], "slow": ["noted"]}


def ask(state: State) -> dict[str, Any]:
    if state.get("topic") == "broken":
        raise ValueError("broken")
    return {"rare": [str(interrupt("May I?"))]}


def deltas(saver: Saver, **options: Any) -> Any:
    inner = StateGraph(State).add_node("ask", ask).add_edge(START, "ask")
    outer = StateGraph(State)
    outer.add_node("note", note)
    outer.add_node("inner", inner.compile())
    outer.add_node("beside", note)
    outer.add_node("idle", lambda state: None)
    outer.add_edge(START, "note")
    outer.add_edge("note", "inner")
    outer.add_edge("note", "beside")
    outer.add_edge(["inner", "beside"], "idle")
    return outer.compile(checkpointer=saver, **options)


def edits(saver: Saver) -> None:
    graph = deltas(saver)
    graph.update_state(on("edited first"), {"slow": ["a"], "topic": "a"}, as_node="note")
    graph.invoke(None, on("edited first"))
    graph.invoke({"topic": "a", "log": []}, on())
    for state in list(graph.get_state_history(on())):
        graph.update_state(state.config, {"topic": "b", "slow": ["b"]}, as_node="note")
        graph.update_state(state.config, {"slow": Overwrite(["c"])}, as_node="note")
        graph.update_state(state.config, None, as_node="__copy__")
        graph.update_state(state.config, None, as_node=END)
        graph.update_state(state.config, {"topic": "c"}, as_node="__input__")
        graph.update_state(state.config, None)
    latest = graph.get_state(on())
    updates = [[StateUpdate({"topic": "d"}, "note")], [StateUpdate({"log": ["d"]}, "beside")]]
    graph.bulk_update_state(latest.config, updates)
    graph.invoke(Command(resume="yes", update={"topic": "e"}), on())


def exits(saver: Saver) -> None:
    for durability in DURABILITIES:
        graph = deltas(saver)
        thread = on(durability, metadata={"who": "me", "score": float("nan")}, run_id=None)
        for turn in range(4):
            graph.invoke({"topic": str(turn)}, thread, durability=durability)
            graph.invoke(Command(resume="yes"), thread, durability=durability)
        with suppress(ValueError):
            graph.invoke({"topic": "broken"}, thread, durability=durability)
        graph.invoke({"topic": "afresh"}, thread, durability=durability)


def stops(saver: Saver) -> None:
    graph = deltas(saver, interrupt_before=["idle"], interrupt_after=["note"])
    graph.invoke({"topic": "a"}, on(7))
    answers: list[Any] = [None, Command(resume="yes"), None]
    for asked in answers:
        graph.invoke(asked, on(7))
    *_, first = graph.get_state_history(on(7))
    root = {key: at for key, at in first.config["configurable"].items() if key != "checkpoint_ns"}
    asked_without_ns = saver.get_tuple({"configurable": root})
    assert asked_without_ns is not None
    assert validate_tuple(asked_without_ns) == []


def tries(saver: Saver) -> None:
    attempts = itertools.count()

    def flaky(state: State) -> Any:
        if next(attempts) % 2 == 0:
            raise OSError("try again")
        return Command(graph=Command.PARENT, goto="other", update={"log": ["handed over"]})

    def broken(state: State) -> Any:
        raise ValueError("broken")

    def handled(state: State) -> Any:
        return {"log": ["handled"]}

    policy = RetryPolicy(initial_interval=0, jitter=False, retry_on=OSError)
    inner = StateGraph(State).add_node("flaky", flaky, retry_policy=policy)
    inner.add_edge(START, "flaky")
    outer = StateGraph(State)
    outer.add_node("inner", inner.compile(checkpointer=True))
    outer.add_node("other", broken, error_handler=handled)
    outer.add_edge(START, "inner")
    graph: Any = outer.compile(checkpointer=saver)
    for turn in range(2):
        graph.invoke({"topic": str(turn), "log": []}, on())


def functions(saver: Saver) -> None:
    @task
    def double(number: int) -> int:
        return 2 * number

    @entrypoint(checkpointer=saver)
    def program(number: int, *, previous: int | None = None) -> int:
        doubled = [double(number), double(number + 1)]
        asked = int(interrupt("How many?"))
        return asked + sum(each.result() for each in doubled) + (previous or 0)

    for number in range(2):
        program.invoke(number, on())
        program.invoke(Command(resume=5), on())


def samples(saver: Saver) -> None:
    graph: Any = research.copy({"checkpointer": saver})
    graph.invoke({"messages": [HumanMessage("What is a checkpoint?")]}, on())
    for state in list(graph.get_state_history(on(), limit=3)):
        graph.invoke(None, state.config)


STORIES: dict[str, Callable[[Saver], None]] = {
    "every kind of step": lambda saver: live(build(saver)),
    "edits": edits,
    "durability": exits,
    "static interrupts": stops,
    "errors": tries,
    "functions": functions,
    "samples": samples,
}
