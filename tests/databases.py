"""Which database a test has."""

from __future__ import annotations

from langgraph_once.checkpoint.by_url import kind_of
from langgraph_once.checkpoint.postgres.backend import PostgresBackend


def is_postgres(database: str) -> bool:
    """Whether a path or URL names a PostgreSQL."""
    return kind_of(database) is PostgresBackend
