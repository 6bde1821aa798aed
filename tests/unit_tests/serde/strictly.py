"""The strictest settings: what is not listed, or not there, is refused and never replaced."""

from __future__ import annotations

from typing import Any

from langgraph_once.config import SerdeConfig


def strict_config(**settings: Any) -> SerdeConfig:
    """Return a configuration under which reading refuses what it would replace by default."""
    return SerdeConfig(**{"enforcement": "strict", "on_unavailable": "raise", **settings})
