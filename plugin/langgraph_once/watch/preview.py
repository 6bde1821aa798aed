"""Values of a graph as JSON, as much of them as a screen shows."""

from __future__ import annotations

import json
from typing import Any, Final

from pydantic_core import to_jsonable_python

__all__ = ["MAX_CHARS", "preview"]

MAX_CHARS: Final = 8_000


def preview(value: Any, max_chars: int = MAX_CHARS) -> Any:
    """`value` as JSON; if that is long, its beginning as text with an ellipsis.

    Args:
        value: Anything. What JSON cannot hold becomes text.
        max_chars: How long its JSON may be, in characters.
    """
    plain = to_jsonable_python(
        value, serialize_unknown=True, bytes_mode="base64", inf_nan_mode="null"
    )
    text = plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)
    return plain if len(text) <= max_chars else f"{text[:max_chars]}…"
