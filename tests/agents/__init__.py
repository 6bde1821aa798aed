"""Agents that users run, on the real classes of two providers and their three wires."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Final, cast

from tests.agents.provider import Models, WireName
from tests.corpus.scenario import Scenario

__all__ = ["AGENTS", "ROOMS", "WIRES", "agent", "wire_of"]

WIRES: Final[tuple[WireName, ...]] = ("chat", "anthropic", "responses")

ROOMS: Final[dict[str, tuple[str, ...]]] = {
    "middleware": ("fallback", "human", "pii", "summary", "todo", "tool_retry"),
    "teams": ("deep", "supervisor", "supervisor_full", "swarm"),
    "memories": (
        "extraction",
        "extraction_patched",
        "memory_manager",
        "memory_tools",
        "running_summary",
    ),
    "assistants": (
        "copied_answer",
        "dict_answers",
        "email_triage",
        "guarded",
        "rag",
        "web_search",
    ),
    "workflows": (
        "approval",
        "functional",
        "handed_over",
        "map_reduce",
        "react_loop",
        "shortened",
    ),
}
"""The agents by file. What these import takes seconds, which not every worker shall wait."""

AGENTS: Final = {name: room for room, names in ROOMS.items() for name in names}


def wire_of(name: str) -> WireName:
    """The wire on which an agent runs where it does not run on all three."""
    return "anthropic" if name == "web_search" else WIRES[list(AGENTS).index(name) % 3]


def agent(name: str, models: Models) -> Scenario:
    """An agent whose models are these."""
    room = importlib.import_module(f"{__name__}.{AGENTS[name]}")
    return cast("Callable[[Models], Scenario]", getattr(room, name))(models)
