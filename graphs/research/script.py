"""The answers of the scripted model: one script per role, the same for the same question."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call

from graphs.research.bullets import join_bullets, split_bullets
from graphs.research.library import LIBRARY, look_up
from graphs.research.tools import find_pitfall, search_sources

__all__ = ["plan", "publish", "research", "withdraw", "write"]

TOPICS = 3


def plan(messages: Sequence[BaseMessage]) -> AIMessage:
    """Three topics: those that the question names, then the first of the library."""
    question = _request(messages).casefold()
    topics = sorted(LIBRARY, key=lambda topic: topic not in question)[:TOPICS]
    return AIMessage(
        "Exactly-once results rest on several techniques, each of which covers a weakness of "
        f"another. I will look into these three and compare them:\n{join_bullets(topics)}"
    )


def research(messages: Sequence[BaseMessage]) -> AIMessage:
    """A sentence and two tool calls at once; with their results, the summary of the topic."""
    topic = _request(messages)
    if any(isinstance(message, ToolMessage) for message in messages):
        return AIMessage(look_up(topic).summary)
    tools = (search_sources, find_pitfall)
    return AIMessage(
        f"I look up who wrote about {topic}, and what goes wrong with it.",
        tool_calls=[tool_call(name=tool.name, args={"topic": topic}, id=None) for tool in tools],
    )


def write(messages: Sequence[BaseMessage]) -> AIMessage:
    """A report with one lesson per topic."""
    lessons = [look_up(topic).lesson for topic in split_bullets(_request(messages))]
    opening = (
        "Exactly-once delivery is not one mechanism but an agreement between sender, channel and "
        "receiver."
    )
    closing = "Taken together, they turn repeated attempts into a single visible effect."
    return AIMessage(" ".join([opening, *lessons, closing]))


def publish(messages: Sequence[BaseMessage]) -> AIMessage:
    """The last word on an approved report."""
    topics = _enumerate(split_bullets(_request(messages)))
    return AIMessage(f"Published. The report on {topics} is now open to its readers.")


def withdraw(messages: Sequence[BaseMessage]) -> AIMessage:
    """The last word on a rejected report."""
    topics = _enumerate(split_bullets(_request(messages)))
    return AIMessage(f"Withdrawn. The report on {topics} stays a draft in this thread.")


def _request(messages: Sequence[BaseMessage]) -> str:
    """What was asked last."""
    return next(str(m.text) for m in reversed(messages) if isinstance(m, HumanMessage))


def _enumerate(topics: Sequence[str]) -> str:
    *others, last = topics
    return f"{', '.join(others)} and {last}" if others else last
