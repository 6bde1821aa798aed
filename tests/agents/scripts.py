"""Scripts: what a model says, by what it is told last."""

from __future__ import annotations

from typing import Any, Final

from langchain_core.tools import tool
from langgraph.types import RetryPolicy

from tests.agents.asked import Asked, Call, Reply
from tests.agents.provider import Script
from tests.corpus.scenario import Run
from tests.corpus.units import Unit, heard, said

__all__ = ["AGAIN", "calls", "lookup", "replies", "result", "turn"]


AGAIN: Final = RetryPolicy(max_attempts=5, initial_interval=0.001, jitter=False, retry_on=Exception)
"""For the nodes whose model may break off."""


def replies(**by_words: str | Reply) -> Script:
    """A model that answers the first of these words that it finds in what it is told last.

    Args:
        by_words: The answers; `_` stands for a space, and alone for anything.
    """

    def script(asked: Asked) -> Reply:
        for words, reply in by_words.items():
            if words.replace("_", " ").strip() in asked.last:
                return Reply(text=reply) if isinstance(reply, str) else reply
        raise LookupError(f"the script has no answer to {asked.last!r}")

    return script


def calls(text: str, tool: str, /, *, thought: str = "", **args: Any) -> Reply:
    """An answer that calls a tool."""
    return Reply(text=text, calls=(Call(name=tool, args=args),), thought=thought)


def turn(text: str) -> tuple[Run, Unit]:
    """A run in which a person says something, and what the state has of it."""
    return Run({"messages": [("user", text)]}), heard(text)


def result(text: str, **how: Any) -> Unit:
    """What a tool gives."""
    return said(text, chat=False, **how)


@tool
def lookup(city: str) -> str:
    """Look up a city."""
    return f"The report says that {city} is sunny."
