"""Agents with LangChain's middleware, one for each."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    ModelFallbackMiddleware,
    PIIMiddleware,
    SummarizationMiddleware,
    TodoListMiddleware,
    ToolRetryMiddleware,
)
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from tests.agents.asked import Call, Reply
from tests.agents.provider import Models
from tests.agents.scripts import calls, lookup, replies, result, turn
from tests.corpus.scenario import ASKED, Run, Scenario, row
from tests.corpus.units import call, gone, said, thought

__all__ = ["fallback", "human", "pii", "summary", "todo", "tool_retry"]

PARIS = {"city": "Paris"}
ROME = {"city": "Rome"}
REPORT = "The report says that Paris is sunny."


def summary(models: Models) -> Scenario:
    """The history is replaced by a summary and what is kept."""
    answers = replies(
        Context_Extraction="A summary of all.",
        begin="The first answer.",
        second="The second answer.",
        third="The third answer.",
    )
    second, second_wish = turn("My second wish.")
    third, third_wish = turn("My third wish.")
    summed = "Here is a summary of the conversation to date:\n\nA summary of all."

    def graph() -> Any:
        model = models(answers)
        shortens = SummarizationMiddleware(model, trigger=("messages", 5), keep=("messages", 3))
        return create_agent(model, middleware=[shortens], checkpointer=InMemorySaver())

    return row(
        "L3",
        "summary",
        "A summary takes the place of the history; what is kept comes again under its old id.",
        graph,
        gone("Please begin."),
        gone("The first answer."),
        said(summed),
        second_wish,
        said("The second answer."),
        third_wish,
        said("The third answer."),
        asked=None,
        runs=(Run(ASKED), second, third),
        ordered=False,
    )


def pii(models: Models) -> Scenario:
    """An answer is redacted once it has been said."""

    def graph() -> Any:
        redacts = PIIMiddleware("email", strategy="redact", apply_to_output=True)
        model = models(replies(begin="Write to ada@example.com right now."))
        return create_agent(model, middleware=[redacts])

    return row(
        "L2",
        "pii",
        "What is said is redacted after it.",
        graph,
        gone("Write to ada@example.com right now."),
        said("Write to [REDACTED_EMAIL] right now."),
    )


def human(models: Models) -> Scenario:
    """A person approves one of two tool calls and refuses the other."""
    made = tuple(Call(name="lookup", args=city) for city in (PARIS, ROME))

    def graph() -> Any:
        asks = HumanInTheLoopMiddleware(interrupt_on={"lookup": True})
        script = replies(begin=Reply(text="I look it up.", calls=made), Paris="So it is.")
        saver = InMemorySaver()
        return create_agent(models(script), [lookup], middleware=[asks], checkpointer=saver)

    decisions = [{"type": "approve"}, {"type": "reject", "message": "Not to Rome."}]
    return row(
        "D3",
        "human-in-the-loop",
        "A person approves one of two tool calls and refuses the other.",
        graph,
        said("I look it up."),
        call("lookup", PARIS),
        call("lookup", ROME),
        result("User rejected the tool call for `lookup` with reason: Not to Rome."),
        result(REPORT),
        said("So it is."),
        runs=(Run(ASKED), Run(Command(resume={"decisions": decisions}))),
    )


def fallback(models: Models) -> Scenario:
    """A model breaks off, and another answers."""

    def graph() -> Any:
        broken = models(replies(begin=Reply(text="I cannot go", breaks=True)))
        sound = models(replies(begin="The other model answers."))
        return create_agent(broken, middleware=[ModelFallbackMiddleware(sound)])

    return row(
        "D4",
        "model-fallback",
        "A model breaks off, and another answers.",
        graph,
        gone("I cannot go"),
        said("The other model answers."),
    )


def tool_retry(models: Models) -> Scenario:
    """A tool fails and is tried again."""

    def graph() -> Any:
        tries = []

        @tool
        def flaky(city: str) -> str:
            """Look up a city."""
            tries.append(city)
            if len(tries) == 1:
                raise ConnectionError("the line is busy")
            return f"The report says that {city} is sunny."

        again = ToolRetryMiddleware(max_retries=2, initial_delay=0, jitter=False)
        script = replies(begin=calls("I try.", "flaky", **PARIS), report="It worked out.")
        return create_agent(models(script), [flaky], middleware=[again])

    return row(
        "D4",
        "tool-retry",
        "A tool fails and is tried again.",
        graph,
        said("I try."),
        call("flaky", PARIS),
        result(REPORT),
        said("It worked out."),
    )


def todo(models: Models) -> Scenario:
    """A list of things to do, made by a model that thinks."""
    todos = [{"content": "Search", "status": "in_progress"}]
    script = replies(
        begin=calls("I make a list.", "write_todos", thought="What is there to do?", todos=todos),
        todo=calls("Now I look.", "lookup", **PARIS),
        report="All is done.",
    )

    def graph() -> Any:
        return create_agent(models(script), [lookup], middleware=[TodoListMiddleware()])

    return row(
        "plain",
        "todo",
        "A model that thinks keeps a list of things to do.",
        graph,
        *([thought("What is there to do?")] if models.thinks else []),
        said("I make a list."),
        call("write_todos", {"todos": todos}),
        result(f"Updated todo list to {todos}"),
        said("Now I look."),
        call("lookup", PARIS),
        result(REPORT),
        said("All is done."),
    )
