"""Made-up checkpoints of chat agents, to train a compression dictionary and to measure it.

Two sets that share neither prose nor tools nor nodes: what a dictionary gains on states that
it was not trained on is what it gains for users.
"""

from __future__ import annotations

import random
import re
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Usage = dict[str, Any]
    Metadata = Callable[[random.Random, Usage], dict[str, Any]]

_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


@dataclass(frozen=True)
class Application:
    """What makes the states of one application differ from another's."""

    sentences: list[str]
    tools: dict[str, tuple[str, ...]]
    nodes: tuple[str, ...]
    metadata: tuple[Metadata, ...]


def sentences(texts: Iterable[str]) -> list[str]:
    """Return the sentences in `texts` that read like prose, each once."""
    split = (re.split(r"(?<=[.!?])\s+", re.sub(r"\s+", " ", text)) for text in texts)
    return list(
        dict.fromkeys(
            part
            for parts in split
            for part in parts
            if 40 < len(part) < 250 and part[0].isalpha() and not re.search(r"[|=<>{}]|``", part)
        )
    )


def openai(rng: random.Random, usage: Usage) -> dict[str, Any]:
    """Return metadata as OpenAI's models give it."""
    return {
        "token_usage": {
            "completion_tokens": usage["output_tokens"],
            "prompt_tokens": usage["input_tokens"],
            "total_tokens": usage["total_tokens"],
            "completion_tokens_details": {
                "accepted_prediction_tokens": 0,
                "audio_tokens": 0,
                "reasoning_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
            "prompt_tokens_details": {"audio_tokens": 0, "cached_tokens": 0},
        },
        "model_provider": "openai",
        "model_name": rng.choice(["gpt-4o-2024-08-06", "gpt-4.1-mini", "gpt-5"]),
        "system_fingerprint": f"fp_{rng.getrandbits(40):010x}",
        "id": "chatcmpl-" + letters(rng, 24),
        "service_tier": "default",
        "finish_reason": rng.choice(["stop", "tool_calls"]),
        "logprobs": None,
    }


def anthropic(rng: random.Random, usage: Usage) -> dict[str, Any]:
    """Return metadata as Anthropic's models give it."""
    name = rng.choice(["claude-sonnet-4-20250514", "claude-3-7-sonnet-latest"])
    return {
        "id": "msg_01" + letters(rng, 22),
        "model": name,
        "stop_reason": rng.choice(["end_turn", "tool_use"]),
        "stop_sequence": None,
        "usage": {
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "input_tokens": usage["input_tokens"],
            "output_tokens": usage["output_tokens"],
            "service_tier": "standard",
        },
        "model_name": name,
        "model_provider": "anthropic",
    }


def gemini(rng: random.Random, usage: Usage) -> dict[str, Any]:
    """Return metadata as Google's models give it."""
    return {
        "prompt_feedback": {"block_reason": 0, "safety_ratings": []},
        "finish_reason": "STOP",
        "model_name": "gemini-2.5-pro",
        "safety_ratings": [],
        "model_provider": "google_genai",
    }


def states(application: Application, count: int, seed: int) -> Iterator[Any]:
    """Yield what LangGraph stores: messages, checkpoints, values of other channels."""
    rng = random.Random(seed)
    for _ in range(count):
        kind = rng.random()
        if kind < 0.55:
            yield thread(rng, application)
        elif kind < 0.85:
            yield checkpoint(rng, application)
        else:
            yield plan(rng, application)


def letters(rng: random.Random, count: int) -> str:
    """Return what random identifiers look like."""
    return "".join(rng.choices(_ALPHABET, k=count))


def prose(rng: random.Random, application: Application, chars: float) -> str:
    """Return about `chars` characters of prose."""
    text = ""
    while len(text) < chars:
        text += rng.choice(application.sentences) + " "
    return text[: int(chars) + 60].strip()


def thread(rng: random.Random, application: Application) -> list[BaseMessage]:
    """Return question, tool call, result, answer and so on."""
    chars = rng.choice([100, 300, 600, 1000])
    made: list[BaseMessage] = []
    for turn in range(rng.choice([1, 2, 3, 4, 6])):
        if turn % 4 == 0:
            text = prose(rng, application, chars * rng.uniform(0.1, 0.6))
            made.append(HumanMessage(text, id=identifier(rng)))
        elif turn % 4 == 1:
            made.append(answer(rng, application, "", calls=1))
        elif turn % 4 == 2:
            text = prose(rng, application, chars * rng.uniform(0.5, 1.5))
            tool = rng.choice(list(application.tools))
            call = "call_" + letters(rng, 24)
            made.append(ToolMessage(text, tool_call_id=call, name=tool, id=identifier(rng)))
        else:
            text = prose(rng, application, chars * rng.uniform(0.4, 1.4))
            made.append(answer(rng, application, text, calls=0))
    return made


def answer(rng: random.Random, application: Application, text: str, *, calls: int) -> AIMessage:
    """Return what a model says."""
    given, taken = rng.randint(50, 9000), rng.randint(5, 900)
    usage: Any = {
        "input_tokens": given,
        "output_tokens": taken,
        "total_tokens": given + taken,
        "input_token_details": {"audio": 0, "cache_read": 0},
        "output_token_details": {"audio": 0, "reasoning": 0},
    }
    tools: list[Any] = []
    for _ in range(calls):
        name = rng.choice(list(application.tools))
        args = {arg: prose(rng, application, 10)[:30] for arg in application.tools[name]}
        tools.append({"name": name, "args": args, "id": "call_" + letters(rng, 24)})
    return AIMessage(
        text,
        id=f"run--{identifier(rng)}-0",
        tool_calls=tools,
        usage_metadata=usage,
        response_metadata=rng.choice(application.metadata)(rng, usage),
    )


def checkpoint(rng: random.Random, application: Application) -> dict[str, Any]:
    """Return a checkpoint without its large channels, as savers store it."""
    nodes = rng.sample(application.nodes, rng.randint(1, 4))
    branches = [f"branch:to:{node}" for node in nodes]
    seen = {node: {f"branch:to:{node}": version(rng)} for node in nodes}
    return {
        "v": 4,
        "id": identifier(rng),
        "ts": datetime.fromtimestamp(rng.randint(1_700_000_000, 1_800_000_000), UTC).isoformat(),
        "channel_values": {branch: None for branch in branches if rng.random() < 0.3},
        "channel_versions": {key: version(rng) for key in ("messages", "__start__", *branches)},
        "versions_seen": {"__input__": {}, "__start__": {"__start__": version(rng)}} | seen,
        "updated_channels": ["messages"],
    }


def plan(rng: random.Random, application: Application) -> dict[str, Any]:
    """Return a small state of other things than messages."""
    return {
        "plan": [prose(rng, application, 60) for _ in range(rng.randint(1, 5))],
        "attempts": rng.randint(0, 9),
        "user": {"name": prose(rng, application, 5)[:12], "id": rng.getrandbits(40)},
        "approved": rng.random() < 0.5,
    }


def identifier(rng: random.Random) -> str:
    """Return a UUID."""
    return str(uuid.UUID(int=rng.getrandbits(128)))


def version(rng: random.Random) -> str:
    """Return a channel version."""
    return f"{rng.randint(1, 9):032}.0.{rng.getrandbits(50):016}"
