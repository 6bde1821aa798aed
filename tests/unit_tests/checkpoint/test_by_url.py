"""Which database a path or URL names."""

from __future__ import annotations

import pytest

from langgraph_once.checkpoint.by_url import backend_of
from langgraph_once.checkpoint.sqlite.backend import SqliteBackend
from langgraph_once.errors import ConfigError


@pytest.mark.parametrize(
    "database",
    [
        *("postgres:/localhost/threads", "postgresql:/host", "postgres//user@host", "postgres:x"),
        *("PostgreSQL:/host/threads", "sqlite:/threads.sqlite", "sqlite:threads", "mysql:/x"),
        *("mysql://x", "host=localhost dbname=threads"),
    ],
)
def test_a_url_that_is_misspelt_is_no_path(database: str) -> None:
    with pytest.raises(ConfigError, match="postgresql://"):
        backend_of(database)


@pytest.mark.parametrize(
    "path",
    [":memory:", "threads.sqlite", "/data/threads.sqlite", "C:/data/threads", "a:b", "a/b:/c"],
)
def test_what_looks_like_no_url_is_a_path(path: str) -> None:
    for database in (path, f"sqlite:///{path}"):
        backend = backend_of(database)
        assert isinstance(backend, SqliteBackend)
        assert backend.path == path
