"""Metadata as SQLite has them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["json_text"]

_ENCODER = json.JSONEncoder(ensure_ascii=False)


def json_text(metadata: Mapping[str, Any]) -> bytes:
    """What Python takes for JSON. Lone surrogates, which upstream drops, are escaped."""
    try:
        return _ENCODER.encode(metadata).encode()
    except UnicodeEncodeError:
        return json.dumps(metadata).encode()
