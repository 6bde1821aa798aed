"""A real `langgraph dev` whose store is ours: the API's routes, a graph's nodes, a restart."""

from __future__ import annotations

import importlib
import json
import sqlite3
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

from demo.dev_server import DevServer
from tests.postgres_server import has_vectors, postgres_server

KEYS = json.dumps({"2026": b64encode(b"k" * 32).decode()})
SECRET = "drawer"
ADA = ["notes", "ada"]


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def project(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, dict[str, str]]]:
    """A folder with a `langgraph.json`, and the settings."""
    folder = tmp_path_factory.mktemp("store")
    store: dict[str, Any] = {
        "path": "langgraph_once.platform.store.store",
        "ttl": {"default_ttl": 10},
        "once": {"allow_vectors": True},
    }
    with ExitStack() as stack:
        if request.param == "sqlite":
            url = f"sqlite:///{folder}/data/threads.sqlite"
            can_have_vectors = hasattr(sqlite3.Connection, "enable_load_extension")
        else:
            url = stack.enter_context(postgres_server())
            can_have_vectors = has_vectors(url)
        if can_have_vectors:
            embed = f"{Path(__file__).with_name('store_served.py')}:embed"
            store["index"] = {"dims": 3, "embed": embed, "fields": ["text"]}
        manifest = {
            "dependencies": ["."],
            "graphs": {"remembering": "tests.integration_tests.store_served:remembering"},
            "store": store,
            "http": {"app": "langgraph_once.platform.app:app"},
        }
        (folder / "langgraph.json").write_text(json.dumps(manifest))
        env = {"ONCE_SERDE__ENCRYPTION_KEYS": KEYS, "ONCE_SERDE__ENCRYPTION": "required"}
        yield folder, env | {"ONCE_DATABASE_URL": url}


@contextmanager
def served(project: tuple[Path, dict[str, str]]) -> Iterator[SyncLangGraphClient]:
    folder, env = project
    with (
        DevServer(folder / "langgraph.json", cwd=folder, env=env) as server,
        get_sync_client(url=server.url) as client,
    ):
        yield client
        assert SECRET not in server.log


def raw(project: tuple[Path, dict[str, str]]) -> str:
    """All that the database holds of items."""
    folder, env = project
    url = env["ONCE_DATABASE_URL"]
    if url.startswith("sqlite"):
        files = (folder / "data").iterdir()
        return "".join(file.read_bytes().decode("latin-1") for file in files)
    tables = ["store", *(["store_vectors"] if has_vectors(url) else [])]
    with importlib.import_module("psycopg").connect(url) as conn:
        return repr([conn.execute(f"SELECT * FROM {table}").fetchall() for table in tables])


def test_a_server_puts_finds_and_deletes_and_a_restart_has_it_all(
    project: tuple[Path, dict[str, str]],
) -> None:
    has_index = "index" in (project[0] / "langgraph.json").read_text()
    with served(project) as client:
        store = client.store
        for number in range(3):
            store.put_item(
                ADA, f"n{number}", {"text": f"{SECRET} {'abc'[number] * 9}", "n": number}
            )
        store.put_item(["notes", "eve"], "other", {"text": SECRET})
        item = store.get_item(ADA, "n1")
        assert item["value"] == {"text": f"{SECRET} bbbbbbbbb", "n": 1}
        found = store.search_items(ADA, filter={"n": {"$gte": 1}}, limit=1, offset=1)["items"]
        assert [each["value"]["n"] for each in found] in ([1], [2])
        assert store.list_namespaces(prefix=["notes"])["namespaces"] == [ADA, ["notes", "eve"]]
        store.delete_item(ADA, "n0")
        if has_index:
            (best,) = store.search_items(ADA, query="ccc", limit=1)["items"]
            assert best["key"] == "n2"
        end: Any = client.runs.wait(None, "remembering", input={"note": "one drawer"})
        assert end["found"] == ["one drawer"]
    stored = raw(project)
    assert SECRET not in stored
    assert "__once__" in stored
    with served(project) as client:
        end = client.runs.wait(None, "remembering", input={"note": "two drawers"})
        assert end["found"] == ["one drawer", "two drawers"]
        found = client.store.search_items(ADA, limit=10)["items"]
        assert {each["key"] for each in found} == {"n1", "n2", "one ", "two "}
