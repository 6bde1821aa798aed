"""What `checkpointer.ttl` means with our saver: who sweeps asks the saver, and `dev` does not."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from langgraph_once.manifest import SAVER, Manifest
from langgraph_once.settings import load_settings
from tests.ops.retention.test_retention import DAY, on, put, threads
from tests.unit_tests.checkpoint import whole_databases as whole


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `langgraph_api` asks of the environment when it is imported."""
    for setting in ("REDIS_URI", "DATABASE_URI"):
        monkeypatch.setenv(setting, "fake")


async def test_a_server_that_sweeps_has_our_saver_delete_and_shorten_threads(here: str) -> None:
    adapters: Any = importlib.import_module("langgraph_api._checkpointer._adapter")
    with whole.once(here, whole.serde()) as saver:
        put(saver, "deleted", 3 * DAY, 2 * DAY)
        put(saver, "shortened", 3 * DAY, 2 * DAY)
        capabilities = adapters.CheckpointerCapabilities.from_type(type(saver))
        assert capabilities.has_adelete_thread
        assert capabilities.has_aprune
        adapter = adapters._CustomCheckpointerAdapter(saver, capabilities)
        await adapter.adelete_thread("deleted")  # strategy "delete"
        await adapter.aprune(["shortened"], strategy="keep_latest")
        assert threads(here) == ["shortened"]
        assert len([*saver.list(on("shortened"))]) == 1
        await adapter.aprune(["shortened"], strategy="delete_all")
    assert threads(here) == []


async def test_a_dev_server_sweeps_no_threads() -> None:
    ops: Any = importlib.import_module("langgraph_runtime_inmem.ops")
    assert await ops.Threads.sweep_ttl(None) == (0, 0)


def test_ttl_and_retention_stand_beside_each_other() -> None:
    ttl = {"strategy": "delete", "default_ttl": 43_200, "sweep_interval_minutes": 60}
    once = {"retention": {"keep_last": 20}}
    found = load_settings(Manifest(checkpointer={"path": SAVER, "ttl": ttl, "once": once}), {})
    assert found.checkpoint.retention
    assert found.checkpoint.retention.keep_last == 20
