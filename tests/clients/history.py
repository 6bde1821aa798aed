"""What the states of a thread say that a client had to show, turn by turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from langgraph_sdk.client import LangGraphClient

from tests.clients.graphs import Animal
from tests.clients.recording import Shown, Snapshot, shown

Unit: TypeAlias = tuple[str, str]
"""A piece of content: who says it, and the text or the id of a tool call."""

CALL = "call"


def units(message: Shown) -> list[Unit]:
    """What a message says: its text, and the calls it makes; a message that says nothing: ""."""
    calls = [(CALL, id) for id in message["tool_calls"]]
    return calls if calls and not message["text"] else [(message["type"], message["text"]), *calls]


def count(messages: Iterable[Shown]) -> Counter[Unit]:
    """How often each unit is in a list of messages."""
    return Counter(unit for message in messages for unit in units(message))


@dataclass(frozen=True)
class History:
    """The states of one thread."""

    finals: list[Snapshot]
    """The messages at the end of each turn."""

    most: Counter[Unit]
    """How often each unit may be shown at once: as often as in any state, or streamed besides."""

    unkept: frozenset[Unit]
    """What is streamed and in no state."""


async def history_of(client: LangGraphClient, thread: str, animal: Animal) -> History:
    """Read the states of a thread on which `animal` was asked its turns."""
    states: list[Any] = await client.threads.get_history(thread, limit=1000)
    finals: dict[str, Snapshot] = {}
    most: Counter[Unit] = Counter()
    for state in reversed(states):
        messages = [shown(message) for message in (state["values"] or {}).get("messages", [])]
        most |= count(messages)
        if run := state["metadata"].get("run_id"):  # what a client writes itself is no turn
            finals[run] = messages
    asked = (turn["input"]["messages"][0] for turn in animal.turns if "input" in turn)
    most |= Counter((message["type"], message["content"]) for message in asked)
    unkept = frozenset(("ai", text) for text in animal.texts_unkept()) - most.keys()
    return History(list(finals.values()), most | Counter(unkept), unkept)
