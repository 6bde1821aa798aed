"""One real `langgraph dev` that serves the samples as `make dev` does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

from demo.dev_server import DevServer

MANIFEST = Path(__file__).parents[2] / "langgraph.json"
AS_MAKE_DEV = ["--n-jobs-per-worker", "10"]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("samples")


@pytest.fixture(scope="session")
def database(folder: Path) -> Path:
    """The SQLite file of that server."""
    return folder / "checkpoints.sqlite"


@pytest.fixture(scope="session")
def server(folder: Path, database: Path) -> Iterator[DevServer]:
    manifest = json.loads(MANIFEST.read_text())
    manifest["graphs"]["relay_stock"] = "tests.samples.stock_relay:graph"
    config = folder / MANIFEST.name
    config.write_text(json.dumps({**manifest, "env": {}}))
    env = {"ONCE_CHECKPOINT__PATH": str(database), "SAMPLES_MODEL": "scripted"}
    with DevServer(config, cwd=folder, env=env, options=AS_MAKE_DEV) as running:
        yield running


@pytest.fixture
def client(server: DevServer) -> Iterator[SyncLangGraphClient]:
    with get_sync_client(url=server.url) as opened:
        yield opened
