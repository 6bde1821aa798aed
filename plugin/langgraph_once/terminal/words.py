"""What somebody types, as a server is asked for it."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["json_or_text", "said"]


def said(text: str) -> dict[str, Any]:
    """The start of a run in which a user says something, as `SideRequest` has it."""
    return {"input": {"messages": [{"role": "user", "content": text}]}}


def json_or_text(answer: str) -> Any:
    """What an answer says: JSON if it is some."""
    try:
        return json.loads(answer)
    except ValueError:
        return answer
