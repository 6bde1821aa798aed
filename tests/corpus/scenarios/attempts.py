"""D4 and D5: a node, a model or a graph is tried again in the same stream."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage
from langgraph.func import entrypoint, task
from langgraph.types import RetryPolicy, TimeoutPolicy

from tests.corpus.graphs import Steps, chain, node, says, text_of, without_id
from tests.corpus.models import BrokenConnectionError, WireModel, answers
from tests.corpus.scenario import Graph, Scenario, row
from tests.corpus.units import Unit, call, gone, said, thought, usage
from tests.corpus.wires import Wire, anthropic, deepseek, gemini, numbered, openai

HELLO = "Hello after some trouble."
SEARCH: Any = {"name": "search", "args": {"query": "flights to Oslo"}, "id": "call_1"}
CALLED = call("search", {"query": "flights to Oslo"})
RETRY = RetryPolicy(initial_interval=0.001, jitter=False, max_attempts=4, retry_on=Exception)


def fails(model: WireModel, times: int = 1, *, copied: bool = False) -> Any:
    """A node that streams its answer, and breaks after it the first times."""
    runs: list[int] = []

    def steps(state: Any) -> Steps:
        answer = yield model, "?"
        runs.append(1)
        if len(runs) <= times:
            raise ValueError("the answer did not please")
        return {"messages": [without_id(answer) if copied else answer]}

    return node(steps)


def plan_then_break() -> Any:
    """A node of two models; the second breaks at first, so the first speaks twice."""
    plan, prose = answers("First a plan."), answers("Then some prose.", breaks={0: 2})

    def steps(state: Any) -> Steps:
        planned = yield plan, "?"
        written = yield prose, "?"
        return {"messages": [planned, written]}

    return node(steps)


def asks_runnable(runnable: Any) -> Any:
    def steps(state: Any) -> Steps:
        return {"messages": [(yield runnable, "?")]}

    return node(steps)


def retried_model() -> Any:
    return answers(HELLO, breaks={0: 3}).with_retry(
        retry_if_exception_type=(BrokenConnectionError,), wait_exponential_jitter=False
    )


def fallback(broken: Wire = openai, answering: Wire = openai) -> Any:
    model = answers("Primary speaks at length.", wire=broken, breaks={0: 3})
    return model.with_fallbacks([answers("Secondary steps in.", wire=answering)])


def catches() -> Any:
    """A node that catches the broken connection and asks again."""
    model = answers(HELLO, breaks={0: 3})

    def steps(state: Any) -> Steps:
        try:
            answer = yield model, "?"
        except BrokenConnectionError:
            answer = yield model, "?"
        return {"messages": [answer]}

    return node(steps)


def slow_once() -> Graph:
    """An async node that takes too long at first."""
    model, runs = answers(HELLO), []

    async def slow(_: Any) -> Any:
        import asyncio

        answer = await model.ainvoke("?")
        runs.append(1)
        if len(runs) == 1:
            await asyncio.sleep(5)
        return {"messages": [answer]}

    policy = TimeoutPolicy(run_timeout=0.2)
    return chain(slow, retry_policy=RETRY, timeout=policy)


def retried_task() -> Graph:
    model = answers(HELLO, breaks={0: 3})

    def answer(question: Any) -> Any:
        return model.invoke(question)

    retrying: Any = task(retry_policy=RETRY)
    tried = retrying(answer)

    @entrypoint()
    def flow(asked: Any) -> Any:
        return {"messages": [tried("?").result()]}

    return flow


def runs_child(child: Graph, *, wraps: bool = False) -> Any:
    """A node that runs `child` and breaks after it, the first time."""
    runs: list[int] = []

    def steps(state: Any) -> Steps:
        done = yield child, {"messages": state["messages"]}
        runs.append(1)
        if len(runs) == 1:
            raise ValueError("the finding did not please")
        last = done["messages"][-1]
        return {"messages": [AIMessage(text_of(last)) if wraps else last]}

    return node(steps)


def retried(name: str, reply: str | AIMessage, wire: Wire, breaks: int, *units: Unit) -> Scenario:
    return Scenario(
        kind="D4",
        name=f"retried-{name}",
        what="The connection breaks in the middle of an answer; a RetryPolicy runs the node again.",
        graph=lambda: chain(says(reply, wire=wire, breaks={0: breaks}), retry_policy=RETRY),
        units=units,
    )


REASONED = AIMessage(HELLO, additional_kwargs={"reasoning_content": "Let me think."})
CALLING = AIMessage(HELLO, tool_calls=[SEARCH])

SCENARIOS = (
    retried("text", HELLO, openai, 3, said(HELLO), usage()),
    retried("text-id-none", HELLO, numbered("none"), 2, said(HELLO)),
    retried("text-id-first", HELLO, numbered("first"), 2, said(HELLO)),
    retried("text-id-last", HELLO, numbered("last"), 2, said(HELLO)),
    retried("blocks", REASONED, anthropic, 6, said(HELLO), thought("Let me think.")),
    retried("reasoning", REASONED, deepseek, 2, said(HELLO), thought("Let me think.")),
    retried("call", CALLING, openai, 8, said(HELLO), CALLED),
    retried("whole-call", CALLING, gemini, 5, said(HELLO), CALLED),
    row(
        "D4",
        "retried-after-text",
        "A node breaks after its answer was complete, twice.",
        lambda: chain(fails(answers(HELLO), 2), retry_policy=RETRY),
        said(HELLO),
    ),
    row(
        "D4",
        "retried-copy",
        "A node breaks after its answer was complete, and then returns a copy.",
        lambda: chain(fails(answers(HELLO), copied=True), retry_policy=RETRY),
        said(HELLO),
    ),
    row(
        "D4",
        "retried-other-text",
        "The second attempt says something else.",
        lambda: chain(fails(answers("A poor try.", "A better text.")), retry_policy=RETRY),
        gone("A poor try."),
        said("A better text."),
    ),
    row(
        "D4",
        "retried-two-models",
        "A node asks two models; the second breaks, so that the first is asked again.",
        lambda: chain(plan_then_break(), retry_policy=RETRY),
        said("First a plan."),
        said("Then some prose."),
    ),
    row(
        "D4",
        "retried-in-subgraph",
        "The node that is tried again is in a graph that is a node.",
        lambda: chain(chain(says(HELLO, breaks={0: 3}), retry_policy=RETRY)),
        said(HELLO),
    ),
    row(
        "D4",
        "with-retry",
        "The model is wrapped in `with_retry`.",
        lambda: chain(asks_runnable(retried_model())),
        said(HELLO),
    ),
    row(
        "D4",
        "with-fallbacks",
        "The model breaks in the middle and its fallback says something else.",
        lambda: chain(asks_runnable(fallback())),
        gone("Primary speaks at length."),
        said("Secondary steps in."),
    ),
    row(
        "D4",
        "with-fallbacks-named",
        "The model, whose provider gives no ids, breaks; its fallback's provider gives one.",
        lambda: chain(asks_runnable(fallback(numbered("none")))),
        gone("Primary speaks at length."),
        said("Secondary steps in."),
    ),
    row(
        "D4",
        "with-fallbacks-unnamed",
        "The model breaks; the provider of its fallback gives no ids.",
        lambda: chain(asks_runnable(fallback(answering=numbered("none")))),
        gone("Primary speaks at length."),
        said("Secondary steps in."),
    ),
    row(
        "D4",
        "caught-and-asked-again",
        "The node itself catches the broken connection and asks again.",
        lambda: chain(catches()),
        said(HELLO),
    ),
    row(
        "D4",
        "timed-out",
        "A node streams and then takes too long; it is run again.",
        slow_once,
        said(HELLO),
        only=lambda variant: variant.api == "async",
    ),
    row(
        "D4",
        "retried-task",
        "A task of the functional API is run again.",
        retried_task,
        said(HELLO),
        asked=None,
    ),
    row(
        "D5",
        "retried-subgraph",
        "A graph that is a node is run again as a whole.",
        lambda: chain(chain(says("A step of it."), fails(answers(HELLO))), retry_policy=RETRY),
        said("A step of it."),
        said(HELLO),
    ),
    row(
        "D5",
        "retried-around-child",
        "A node runs a graph, breaks, and runs it again.",
        lambda: chain(runs_child(chain(says(HELLO))), retry_policy=RETRY),
        said(HELLO),
    ),
    row(
        "D5",
        "retried-around-wrapped-child",
        "A node runs a graph, breaks, runs it again and wraps its text.",
        lambda: chain(runs_child(chain(says(HELLO)), wraps=True), retry_policy=RETRY),
        said(HELLO),
    ),
    row(
        "D5",
        "retried-around-other-text",
        "When the graph runs again, it says something else.",
        lambda: chain(
            runs_child(chain(says("A poor finding.", "A better finding."))), retry_policy=RETRY
        ),
        gone("A poor finding."),
        said("A better finding."),
        only=lambda variant: "messages" in variant.modes,  # a retraction is a message
    ),
    row(
        "D5",
        "retried-two-levels",
        "What is run again is two graphs deep.",
        lambda: chain(chain(runs_child(chain(says(HELLO))), retry_policy=RETRY)),
        said(HELLO),
    ),
)
