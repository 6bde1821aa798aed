"""Two real servers: one with the graphs, and one with graphs that have those in a node."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from langgraph_sdk import get_client, get_sync_client

from demo.dev_server import DevServer
from langgraph_once import OnceRemoteGraph

GRAPHS = "tests.integration_tests.remote.graphs"
WRAPPED = "langgraph_once.platform.graphs"
NAMES = (
    *("chat", "team", "asks", "forgets", "fails", "hands_over", "copying", "overhears"),
    *("breaks", "hushes"),
)
HIDE = {"tags": ["nostream", "draft"]}
OUTER_NAMES = ("around_team", "around_asks")

Remote: TypeAlias = Callable[..., OnceRemoteGraph]


def cases(*axes: Sequence[Any], quick: Collection[tuple[Any, ...]]) -> list[Any]:
    """Everything with everything; what is not quick is for `make test-all`."""
    product = pytest.mark.product
    rows = list(itertools.product(*axes))
    assert set(quick) <= set(rows)
    return [pytest.param(*row, marks=() if row in quick else product) for row in rows]


def manifest(names: tuple[str, ...]) -> dict[str, Any]:
    """Serves each graph wrapped, under its name, and as it is."""
    wrapped: dict[str, Any] = {
        n: {"path": f"{WRAPPED}:{n}", "once": {"target": f"{GRAPHS}:{n}"}} for n in names
    }
    if "hushes" in names:
        once = {"target": f"{GRAPHS}:hushes", "dedup": {"hide": HIDE}}
        wrapped["discreet"] = {"path": f"{WRAPPED}:discreet", "once": once}
    return {
        "dependencies": ["."],
        "graphs": {**wrapped, **{f"{name}_plain": f"{GRAPHS}:{name}" for name in names}},
        "checkpointer": {"path": "langgraph_once.platform.checkpointer.saver"},
        "http": {"app": "langgraph_once.platform.app:app"},
    }


def serve(folder: Path, names: tuple[str, ...], env: dict[str, str]) -> DevServer:
    config = folder / "langgraph.json"
    config.write_text(json.dumps(manifest(names)))
    return DevServer(config, cwd=folder, env=env)


@pytest.fixture(scope="session")
def graph_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    with serve(tmp_path_factory.mktemp("inner"), NAMES, {}) as running:
        yield running


@pytest.fixture(scope="session")
def outer_server(
    graph_server: DevServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[DevServer]:
    env = {"REMOTE_TEST_URL": graph_server.url}
    with serve(tmp_path_factory.mktemp("outer"), OUTER_NAMES, env) as running:
        yield running


@asynccontextmanager
async def remotes(url: str) -> AsyncIterator[Remote]:
    """Makes remote graphs of a server, whose connections are closed in the end."""
    async with get_client(url=url) as client:
        with get_sync_client(url=url) as sync_client:
            yield lambda name, **options: OnceRemoteGraph(
                name, client=client, sync_client=sync_client, **options
            )


@pytest.fixture
async def remote(graph_server: DevServer) -> AsyncIterator[Remote]:
    """Makes remote graphs of the inner server, whose connections end with the test."""
    async with remotes(graph_server.url) as made:
        yield made


@pytest.fixture
async def outer(outer_server: DevServer) -> AsyncIterator[Remote]:
    """Makes remote graphs of the outer server."""
    async with remotes(outer_server.url) as made:
        yield made
