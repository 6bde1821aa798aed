"""Metadata as SQLite has them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["json_text"]


def json_text(metadata: Mapping[str, Any]) -> tuple[bytes, bool]:
    """What Python takes for JSON, and whether it is. Lone surrogates, which upstream drops, are
    escaped."""
    try:
        return json.dumps(metadata, ensure_ascii=False, allow_nan=False).encode(), True
    except ValueError:  # also UnicodeEncodeError
        return json.dumps(metadata).encode(), False
