"""Building blocks: nodes written once for sync and async, and graphs of them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Send

from tests.corpus.models import answers
from tests.corpus.scenario import Graph

Asks: TypeAlias = tuple[Runnable[Any, Any], Any]
"""What a node yields: something to run, and its input."""

Steps: TypeAlias = Generator[Asks, Any, Any]

Node: TypeAlias = Any
"""A function of the state, a runnable, or a graph."""


def node(steps: Callable[[Any], Steps]) -> Runnable[Any, Any]:
    """A node from a generator that yields what it runs and is sent the result.

    A sync graph runs it with `invoke`, an async one with `ainvoke`.
    """

    def run(state: Any) -> Any:
        going = _Going(steps(state))
        while going.asks:
            runnable, value = going.asks
            try:
                answer = runnable.invoke(value)
            except Exception as error:  # the node may catch it
                going.throw(error)
            else:
                going.send(answer)
        return going.result

    async def arun(state: Any) -> Any:
        going = _Going(steps(state))
        while going.asks:
            runnable, value = going.asks
            try:
                answer = await runnable.ainvoke(value)
            except Exception as error:  # the node may catch it
                going.throw(error)
            else:
                going.send(answer)
        return going.result

    return RunnableLambda(run, arun)


class _Going:
    """A generator that is under way: what it asks for now, or its result."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self.asks: Asks | None = None
        self.result: Any = None
        self._go(partial(next, steps))

    def send(self, answer: Any) -> None:
        self._go(partial(self._steps.send, answer))

    def throw(self, error: Exception) -> None:
        self._go(partial(self._steps.throw, error))

    def _go(self, step: Callable[[], Asks]) -> None:
        try:
            self.asks = step()
        except StopIteration as done:
            self.asks, self.result = None, done.value


def says(*replies: str | AIMessage, **how: Any) -> Node:
    """A node that streams an answer and returns the message it streamed."""
    model = answers(*replies, **how)

    def steps(state: Any) -> Steps:
        return {"messages": [(yield model, "?")]}

    return node(steps)


def copies(*replies: str | AIMessage, times: int = 1, **how: Any) -> Node:
    """A node that streams an answer and returns copies of it without the id."""
    model = answers(*replies, **how)

    def steps(state: Any) -> Steps:
        answer = yield model, "?"
        return {"messages": [without_id(answer) for _ in range(times)]}

    return node(steps)


def returns(*messages: Any) -> Node:
    """A node that returns `messages` and streams nothing."""
    return lambda _: {"messages": list(messages)}


def without_id(message: BaseMessage) -> AIMessage:
    """The same message as a new one."""
    return AIMessage(content=message.content, tool_calls=getattr(message, "tool_calls", []))


def text_of(message: BaseMessage) -> str:
    """What a message says, as a plain string."""
    return str(message.text)


def chain(*nodes: Node, state: Any = MessagesState, memory: bool = False, **how: Any) -> Graph:
    """A graph that runs `nodes` one after the other.

    Args:
        nodes: Called `n0`, `n1`, …
        state: The schema.
        memory: Whether it has a checkpointer.
        how: For `add_node`, as `retry_policy`, for each of them.
    """
    builder = StateGraph(state)
    names = [f"n{at}" for at in range(len(nodes))]
    for name, action in zip(names, nodes, strict=True):
        builder.add_node(name, action, **how)
    for before, after in zip([START, *names], [*names, END], strict=True):
        builder.add_edge(before, after)
    return builder.compile(checkpointer=InMemorySaver() if memory else None)


def nested(inner: Node, levels: int, **how: Any) -> Graph:
    """`inner` inside `levels` graphs, one in the other."""
    graph = chain(inner)
    for _ in range(levels - 2):
        graph = chain(graph)
    return chain(graph, **how) if levels > 1 else graph


def fan_out(worker: Node, payloads: Sequence[Any], state: Any = MessagesState) -> Graph:
    """`worker` in parallel tasks, one for each payload."""
    builder = StateGraph(state)
    builder.add_node("worker", worker)
    sends = [Send("worker", payload) for payload in payloads]
    builder.add_conditional_edges(START, lambda _: sends, ["worker"])
    return builder.compile()
