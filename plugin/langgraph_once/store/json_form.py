"""Values as JSON: what upstream's store for a database takes, ours takes, and no more."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import orjson

from langgraph_once.checkpoint.by_url import is_postgres

__all__ = ["json_of"]


def json_of(database: str) -> Callable[[Any], bytes]:
    """How upstream's store for this database writes JSON.

    Args:
        database: A path or a URL.
    """
    return _without_nan if is_postgres(database) else orjson.dumps


def _without_nan(value: Any) -> bytes:
    """PostgreSQL takes none."""
    return json.dumps(value, allow_nan=False).encode()
