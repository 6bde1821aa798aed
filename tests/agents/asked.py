"""What a provider is asked, whichever its wire: read from the JSON of a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Asked", "Call", "Reply", "asked_of"]


@dataclass(frozen=True, kw_only=True)
class Call:
    """A tool call that a model makes."""

    name: str
    args: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a model says."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    thought: str = ""
    """Reasoning, on wires that have it."""

    search: str = ""
    """What the provider itself looks up in the web before it answers, on wires that have it."""

    breaks: bool = False
    """The provider fails after the text."""


@dataclass(frozen=True)
class Asked:
    """What a model is told last: a person's text, or the results of its tools."""

    last: str
    is_result: bool
    """Whether those are results of tools."""

    tools: frozenset[str]
    """The tools that it may call."""


def asked_of(body: Mapping[str, Any]) -> Asked:
    """The end of the conversation in a request."""
    turns = body.get("messages") or body["input"]
    results, text = [], ""
    for turn in reversed(turns):
        found = list(_results(turn))
        if not found:
            text = _text(turn.get("content"))
            break
        results += found
    last = " ".join(reversed(results)) or text
    return Asked(last, bool(results), frozenset(_tool_names(body)))


def _results(turn: Mapping[str, Any]) -> Iterator[str]:
    """The results of tools in one turn, the last first."""
    if turn.get("role") == "tool":
        yield _text(turn["content"])
    elif turn.get("type") == "function_call_output":
        yield _text(turn["output"])
    elif isinstance(content := turn.get("content"), list):
        for block in reversed(content):
            if block["type"] == "tool_result":
                yield _text(block["content"])


def _text(content: Any) -> str:
    if isinstance(content, str) or content is None:
        return content or ""
    return "".join(str(block.get("text", "")) for block in content)


def _tool_names(body: Mapping[str, Any]) -> Iterator[str]:
    for tool in body.get("tools") or ():
        yield tool.get("name") or tool["function"]["name"]
