"""Real databases, and the smallest thread that has everything."""

import importlib
import itertools
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_once.checkpoint import OnceSqliteSaver, open_sqlite_saver
from tests.unit_tests.checkpoint import whole_databases

NOBODY = 65534

Fill = Callable[..., Awaitable[list[RunnableConfig]]]


@pytest.fixture
def serde() -> SerializerProtocol:
    return JsonPlusSerializer()


@pytest.fixture
def once(path: Path) -> Iterator[OnceSqliteSaver]:
    with open_sqlite_saver(path) as saver:
        yield saver


_numbers = itertools.count()


@pytest.fixture
def database(postgres: str) -> Iterator[str]:
    """The address of an empty schema, which is quicker made than a database."""
    psycopg = importlib.import_module("psycopg")
    name = f"test_{next(_numbers)}"
    with psycopg.connect(postgres) as conn:
        conn.execute(f"CREATE SCHEMA {name}")
    options = f"-c search_path={name}"
    yield psycopg.conninfo.make_conninfo(postgres, options=options)
    with psycopg.connect(postgres) as conn:
        conn.execute(f"DROP SCHEMA {name} CASCADE")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "threads.sqlite"


@pytest.fixture(params=["sqlite", "postgres"])
def here(request: pytest.FixtureRequest, path: Path) -> str:
    """A new database of each kind: a path or a URL."""
    if request.param == "sqlite":
        return str(path)
    return whole_databases.url(request.getfixturevalue("database"))


@pytest.fixture
async def saver(path: Path, serde: SerializerProtocol) -> AsyncIterator[OnceSqliteSaver]:
    async with open_sqlite_saver(path, serde=serde) as opened:
        yield opened


@pytest.fixture
def fill() -> Fill:
    """Put checkpoints, each the child of the one before, with one write on each."""

    async def fill(
        saver: BaseCheckpointSaver[str], thread_id: str, *, count: int = 2, **metadata: Any
    ) -> list[RunnableConfig]:
        config: RunnableConfig = {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}
        stored = []
        for step in range(count):
            checkpoint = empty_checkpoint()
            more: Any = {"step": step, **metadata}
            config = await saver.aput(config, checkpoint, more, {})
            await saver.aput_writes(config, [("channel", step)], f"task-{step}")
            stored.append(config)
        return stored

    return fill


@pytest.fixture
def unprivileged() -> Callable[[], Any]:
    """A context without root's right to write everything."""

    @contextmanager
    def unprivileged() -> Iterator[None]:
        root = os.geteuid() == 0
        if root:
            os.seteuid(NOBODY)
        try:
            yield
        finally:
            if root:
                os.seteuid(0)

    return unprivileged
