"""Real servers for the whole test run."""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk import get_client, get_sync_client
from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient

from demo.dev_server import DevServer
from tests.integration_tests.browser import browser_in
from tests.integration_tests.sse_graphs import MANIFEST

RemoteFactory = Callable[..., Any]
NO_SETTINGS = {
    "ONCE_PORT": "tcp://10.0.0.1:80",  # two that Kubernetes sets for a service named `once`
    "ONCE_SERVICE_HOST": "10.0.0.1",
    "ONCE_SERDE__COMPRESION": "none",
}
SECRET = "c2VjcmV0LXNlY3JldC1zZWNyZXQtMDEy"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    """A server with our saver, serializer, app and wrapped graphs, on a free port."""
    folder = tmp_path_factory.mktemp("server")
    config = Path(__file__).with_name("langgraph.json")
    env = {
        "ONCE_CHECKPOINT__PATH": str(folder / "data" / "checkpoints.sqlite"),
        "LANGGRAPH_AES_KEY": SECRET,
        "ONCE_HTTP__METRICS": "true",
        **NO_SETTINGS,
    }
    with DevServer(config, cwd=folder, env=env) as running:
        yield running


@pytest.fixture(scope="session")
def sse_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    """A server with our app, and graphs most of which are not wrapped."""
    folder = tmp_path_factory.mktemp("sse")
    config = folder / "langgraph.json"
    config.write_text(json.dumps(MANIFEST))
    with DevServer(config, cwd=folder) as running:
        yield running


@pytest.fixture(scope="session")
def chromium() -> Iterator[Path]:
    """A browser; if it must be unpacked, then once: it is too large to be kept."""
    with tempfile.TemporaryDirectory() as folder:
        yield browser_in(Path(folder))


@pytest.fixture
def database(server: DevServer) -> Path:
    """The SQLite file of that server."""
    return server.cwd / "data" / "checkpoints.sqlite"


@pytest.fixture
async def client(server: DevServer) -> AsyncIterator[LangGraphClient]:
    async with get_client(url=server.url) as opened:
        yield opened


@pytest.fixture
def sync_client(server: DevServer) -> Iterator[SyncLangGraphClient]:
    with get_sync_client(url=server.url) as opened:
        yield opened


@pytest.fixture
def remote(client: LangGraphClient, sync_client: SyncLangGraphClient) -> RemoteFactory:
    """Makes remote graphs whose connections are closed after the test."""

    def make(kind: type[RemoteGraph], name: str, **options: Any) -> Any:
        return kind(name, client=client, sync_client=sync_client, **options)

    return make
