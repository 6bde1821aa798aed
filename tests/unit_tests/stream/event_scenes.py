"""Graphs whose nodes run again, and such as only look like it, for readers of callback events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import RetryPolicy, Send

from tests.corpus.models import BrokenConnectionError, WireModel, answers
from tests.corpus.wires import anthropic, numbered

HELLO = "Hello there friend"
RETRY = RetryPolicy(initial_interval=0.001, jitter=False, max_attempts=4, retry_on=Exception)

Graph = Any


def talks(model: Any, *, fails: int = 0, is_async: bool = True) -> Any:
    """A node that returns a model's answer, and fails after the first few of them."""
    count = 0

    def answered(answer: AIMessage) -> Any:
        nonlocal count
        count += 1
        if count <= fails:
            raise BrokenConnectionError("after the answer")
        return {"messages": [answer]}

    async def node(state: Any) -> Any:
        return answered(await model.ainvoke(state["messages"]))

    def sync_node(state: Any) -> Any:
        return answered(model.invoke(state["messages"]))

    return node if is_async else sync_node


def alone(node: Any, **compiled: Any) -> Graph:
    builder = StateGraph(MessagesState)
    builder.add_node("node", node, retry_policy=RETRY)
    builder.add_edge(START, "node")
    return builder.compile(**compiled)


def beside(nodes: Mapping[str, Any]) -> Graph:
    builder = StateGraph(MessagesState)
    for name, node in nodes.items():
        builder.add_node(name, node, retry_policy=RETRY)
        builder.add_edge(START, name)
    return builder.compile()


def nested(inner: Graph) -> Graph:
    builder = StateGraph(MessagesState)
    builder.add_node("outer", inner, retry_policy=RETRY)
    builder.add_edge(START, "outer")
    return builder.compile()


def fails_behind(model: Any) -> Graph:
    """A graph inside a node: a model answers, the step after it fails once, so all runs again."""
    count = 0

    def breaks(state: Any) -> Any:
        nonlocal count
        count += 1
        if count == 1:
            raise BrokenConnectionError("the step after the answer")
        return {}

    builder = StateGraph(MessagesState)
    builder.add_node("speaks", talks(model))
    builder.add_node("breaks", breaks)
    builder.add_edge(START, "speaks")
    builder.add_edge("speaks", "breaks")
    return nested(builder.compile())


def sends(workers: Sequence[WireModel]) -> Graph:
    async def work(state: Any) -> Any:
        return {"messages": [await workers[state["number"]].ainvoke("hi")]}

    builder = StateGraph(MessagesState)
    builder.add_node("work", work, retry_policy=RETRY)
    count = range(len(workers))
    builder.add_conditional_edges(START, lambda _: [Send("work", {"number": n}) for n in count])
    return builder.compile()


def both(first: Any, second: Any, *, fails: int = 0) -> Any:
    """A node that calls two models."""
    count = 0

    async def node(state: Any) -> Any:
        nonlocal count
        said = [await model.ainvoke(state["messages"]) for model in (first, second)]
        count += 1
        if count <= fails:
            raise BrokenConnectionError("after both answers")
        return {"messages": said}

    return node


def whole(*replies: str) -> WireModel:
    return answers(*replies, disable_streaming=True)


def in_order(*orders: Sequence[Any]) -> Any:
    """A node that calls models, in each attempt in another order; all but its last one fail."""
    begun = iter(orders)

    async def node(state: Any) -> Any:
        models = next(begun)
        said = [await model.ainvoke("hi") for model in models]
        if models is not orders[-1]:
            raise BrokenConnectionError("after the answers")
        return {"messages": said}

    return node


def named(name: str) -> Any:
    return answers(f"I am {name}").with_config(run_name=name)


def silent_then(model: WireModel) -> Any:
    """A node whose first model dies before it says a word, in each attempt; the second answers."""
    count = 0

    async def node(state: Any) -> Any:
        nonlocal count
        count += 1
        with suppress(BrokenConnectionError):
            await answers("never", breaks={0: 0}).ainvoke("hi")
        answer = await model.ainvoke("hi")
        if count == 1:
            raise BrokenConnectionError("after the answer")
        return {"messages": [answer]}

    return node


def visits(*orders: Sequence[str]) -> Graph:
    """A graph in a node: its nodes are visited in another order when it begins anew."""
    said = {"a": "One moment", "b": HELLO}
    to_go = [*orders[0], "fails", *orders[1], END]

    def goes_on(_: Any) -> str:
        return to_go.pop(0)

    def fails(state: Any) -> None:
        raise BrokenConnectionError("at the end")

    builder = StateGraph(MessagesState)
    for name, text in said.items():
        builder.add_node(name, talks(answers(text)))
        builder.add_conditional_edges(name, goes_on)
    builder.add_node("fails", fails)
    builder.add_conditional_edges(START, goes_on)
    return nested(builder.compile())


REPEATED: dict[str, tuple[Callable[[], Graph], list[str]]] = {
    "dies midway": (lambda: alone(talks(answers(HELLO, breaks={0: 2}))), [HELLO]),
    "dies midway, without async": (
        lambda: alone(talks(answers(HELLO, breaks={0: 3}), is_async=False)),
        [HELLO],
    ),
    "dies before its first word": (lambda: alone(talks(answers(HELLO, breaks={0: 0}))), [HELLO]),
    "dies behind its last word": (lambda: alone(talks(answers(HELLO, breaks={0: 4}))), [HELLO]),
    "dies twice, further each time": (
        lambda: alone(talks(answers(HELLO, breaks={0: 2, 1: 3}))),
        [HELLO],
    ),
    "dies twice, sooner each time": (
        lambda: alone(talks(answers(HELLO, breaks={0: 3, 1: 2}))),
        [HELLO],
    ),
    "dies, then says no word": (
        lambda: alone(talks(answers(HELLO, breaks={0: 3, 1: 0}))),
        [HELLO],
    ),
    "dies, says no word, dies again": (
        lambda: alone(talks(answers(HELLO, breaks={0: 2, 1: 0, 2: 3}))),
        [HELLO],
    ),
    "answers, then its node fails": (lambda: alone(talks(answers(HELLO), fails=1)), [HELLO]),
    "answers, then its node fails, without async": (
        lambda: alone(talks(answers(HELLO), fails=2, is_async=False)),
        [HELLO],
    ),
    "answers, then its node fails twice": (lambda: alone(talks(answers(HELLO), fails=2)), [HELLO]),
    "answers at once": (lambda: alone(talks(whole(HELLO), fails=2)), [HELLO]),
    "in a graph inside": (lambda: nested(alone(talks(answers(HELLO), fails=1))), [HELLO]),
    "in a graph inside that begins anew": (lambda: fails_behind(answers(HELLO)), [HELLO]),
    "a provider that names some chunks": (
        lambda: alone(talks(answers(HELLO, wire=numbered("first"), breaks={0: 2}))),
        [HELLO],
    ),
    "a provider that sends blocks": (
        lambda: alone(talks(answers(HELLO, wire=anthropic, breaks={0: 2}))),
        [HELLO],
    ),
    "the same id in each attempt": (
        lambda: alone(talks(answers(AIMessage(HELLO, id="one"), breaks={0: 2, 1: 3}))),
        [HELLO],
    ),
    "a model with_retry": (
        lambda: alone(
            talks(answers(HELLO, breaks={0: 2}).with_retry(wait_exponential_jitter=False))
        ),
        [HELLO],
    ),
    "a fallback that says the same": (
        lambda: alone(
            talks(answers(HELLO, breaks={0: 2}).with_fallbacks([answers(HELLO)])),
        ),
        [HELLO],
    ),
    "two models, both repeated": (
        lambda: alone(both(answers("One moment"), answers(HELLO), fails=1)),
        ["One moment", HELLO],
    ),
    "two models, the second dies": (
        lambda: alone(both(answers("One moment"), answers(HELLO, breaks={0: 2}))),
        ["One moment", HELLO],
    ),
    "two models, then in another order": (
        lambda: alone(in_order((named("a"), named("b")), (named("b"), named("a")))),
        ["I am a", "I am b"],
    ),
    "two models, the first without a word": (
        lambda: alone(silent_then(answers(HELLO))),
        [HELLO],
    ),
    "two nodes inside, then in another order": (
        lambda: visits(("a", "b"), ("b", "a")),
        ["One moment", HELLO],
    ),
    "two models that say the same": (
        lambda: alone(both(answers("ok"), answers("ok"), fails=1)),
        ["ok", "ok"],
    ),
    "beside one that says the same": (
        lambda: beside({"a": talks(answers("ok then"), fails=1), "b": talks(answers("ok then"))}),
        ["ok then", "ok then"],
    ),
    "one of three workers": (
        lambda: sends([answers("ok"), answers("ok", breaks={0: 2}), answers("ok")]),
        ["ok", "ok", "ok"],
    ),
    "all of three workers": (
        lambda: sends([answers("ok fine", breaks={0: 2}) for _ in range(3)]),
        ["ok fine"] * 3,
    ),
}
"""Graphs that repeat themselves, and what a reader has in the end."""


def anew(first: WireModel | str, second: str) -> Graph:
    model = first if isinstance(first, WireModel) else answers(first, second)
    return alone(talks(model, fails=1))


AS_PLAIN: dict[str, Callable[[], Graph]] = {
    "one answer": lambda: alone(talks(answers(HELLO))),
    "other words": lambda: anew(HELLO, "Something else"),
    "other words behind the same beginning": lambda: anew(HELLO, "Hello there people"),
    "less than before": lambda: anew(HELLO, "Hello there"),
    "more than an answer that has ended": lambda: anew("Hello there", HELLO),
    "other words, after it died midway": lambda: alone(
        talks(answers(HELLO, "Something else", breaks={0: 2}))
    ),
    "other words, at once": lambda: alone(talks(whole(HELLO, "Something else"), fails=1)),
    "three that say the same": lambda: beside({n: talks(answers("ok")) for n in "abc"}),
    "one node that says the same twice": lambda: alone(both(answers("ok"), answers("ok"))),
    "a loop that says the same": lambda: loops(answers("ok")),
    "an answer that its node stops reading": lambda: alone(stops_reading()),
    "a failure that the node handles": lambda: alone(handles(answers("No", breaks={0: 2}))),
    "a failure at the end": lambda: beside(
        {"a": talks(answers("ok")), "b": handles(answers("No", breaks={0: 2}))}
    ),
    "tools": lambda: alone(talks(answers(calls("a"), calls("b")), fails=1)),
}


def loops(model: WireModel) -> Graph:
    builder = StateGraph(MessagesState)
    builder.add_node("node", talks(model))
    builder.add_edge(START, "node")
    builder.add_conditional_edges("node", lambda s: END if len(s["messages"]) > 3 else "node")
    return builder.compile()


def stops_reading() -> Any:
    async def node(state: Any) -> Any:
        async with aclosing(answers(HELLO).astream("hi")) as chunks:  # type: ignore[type-var]
            async for chunk in chunks:
                if chunk.text:
                    break
        return {"messages": [await answers(HELLO).ainvoke("hi")]}

    return node


def handles(model: WireModel) -> Any:
    async def node(state: Any) -> Any:
        try:
            return {"messages": [await model.ainvoke(state["messages"])]}
        except BrokenConnectionError:
            return {"messages": [AIMessage("Sorry")]}

    return node


def calls(argument: str) -> AIMessage:
    call = {"name": "look", "args": {"at": argument}, "id": "call_1"}
    return AIMessage("", tool_calls=[call])
