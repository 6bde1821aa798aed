"""What would break the image that `langgraph dockerfile` describes (langgraph-cli 0.4.40)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from langgraph_once.platform.check.finding import Finding, finding

__all__ = ["check_image"]

_WRITTEN: Final = (
    "auth", "checkpointer", "encryption", "graphs", "http", "store", "ui", "ui_config", "webhooks",
)  # fmt: skip
"""The keys that it writes into the Dockerfile, each as one text in single quotes."""


def check_image(parsed: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield the texts that would end such a line too early.

    Args:
        parsed: A `langgraph.json`.
    """
    for key in _WRITTEN:
        for at in _with_apostrophe(parsed.get(key), key):
            problem = "its apostrophe breaks the Dockerfile of `langgraph dockerfile`; leave it out"
            yield finding("hint", f"langgraph.json: {at}", problem)


def _with_apostrophe(value: Any, at: str) -> Iterator[str]:
    if isinstance(value, str) and "'" in value:
        yield at
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _with_apostrophe(key, at)
            yield from _with_apostrophe(inner, f"{at}.{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _with_apostrophe(inner, f"{at}[{number}]")
