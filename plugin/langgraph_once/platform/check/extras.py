"""Packages that the settings need and that are not installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

from langgraph_once.checkpoint.by_url import is_postgres
from langgraph_once.platform.check.finding import Finding, finding
from langgraph_once.settings import Settings, is_written, written_at

__all__ = ["missing_extras", "missing_server"]


def missing_server() -> Iterator[Finding]:
    """Yield that there is no server here, if there is none."""
    absent = [name for name in ("langgraph_api", "starlette") if find_spec(name) is None]
    if absent:
        problem = f"needs the package {absent[0]}: {_install('server')}"
        yield finding("stops", "langgraph dev", problem)


def missing_extras(settings: Settings) -> Iterator[Finding]:
    """Yield the packages that settings need and that are not installed."""
    chosen = "br" in settings.http.sse_encodings and is_written("http", "sse_encodings")
    if chosen and find_spec("brotli") is None:
        problem = f"'br' has no effect without the package brotli: {_install('brotli')}"
        yield finding("ignored", written_at("http", "sse_encodings"), problem)
    if is_postgres(settings.database) and find_spec("psycopg") is None:
        place = written_at("checkpoint", "path")
        where = "ONCE_DATABASE_URL" if settings.database_url is not None else place
        yield finding("stops", where, f"PostgreSQL needs an extra: {_install('postgres')}")


def _install(extra: str) -> str:
    return f'pip install "langgraph-once[{extra}]"'
