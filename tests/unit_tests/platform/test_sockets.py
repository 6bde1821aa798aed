"""The sockets as the server uses them: graphs, checkpointer and app by dotted path."""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import socket
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from starlette.testclient import TestClient

from langgraph_once.errors import ConfigError, TypeNotAllowedError
from langgraph_once.manifest import SAVER
from langgraph_once.platform.checkpointer import saver
from langgraph_once.platform.health import DatabaseHealth
from langgraph_once.platform.startup import user_mistakes_stop_the_server
from langgraph_once.platform.targets import types_in_graphs
from langgraph_once.stream.graph import OnceStreams
from tests.unit_tests.platform.made import Colour, Point

MADE = "tests.unit_tests.platform.made"
KEY = "c2VjcmV0LXNlY3JldC1zZWNyZXQtMDEy"


@pytest.fixture
def environ(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    path = "langgraph_once.platform.graphs:agent"
    graphs = {"agent": {"path": path, "once": {"target": f"{MADE}:graph"}}}
    monkeypatch.setenv("LANGSERVE_GRAPHS", json.dumps(graphs))
    monkeypatch.setenv("ONCE_CHECKPOINT__PATH", str(tmp_path / "data" / "threads.sqlite"))
    return monkeypatch


def fresh(name: str) -> Any:
    """Import a socket as a new server process does."""
    sys.modules.pop(f"langgraph_once.platform.{name}", None)
    return importlib.import_module(f"langgraph_once.platform.{name}")


def test_the_graphs_module_holds_the_wrapped_graphs(environ: pytest.MonkeyPatch) -> None:
    assert isinstance(fresh("graphs").__dict__["agent"], OnceStreams)


def test_a_wrong_target_stops_the_import_in_one_line(environ: pytest.MonkeyPatch) -> None:
    path = "langgraph_once.platform.graphs:agent"
    graphs = {"agent": {"path": path, "once": {"target": f"{MADE}:grph"}}}
    environ.setenv("LANGSERVE_GRAPHS", json.dumps(graphs))
    with pytest.raises(SystemExit) as caught:
        fresh("graphs")
    assert str(caught.value).startswith("langgraph-once: langgraph.json: graphs.agent.once.target:")
    assert "\n" not in str(caught.value)


async def test_the_saver_may_load_the_types_of_the_graphs(environ: pytest.MonkeyPatch) -> None:
    environ.setenv("ONCE_SERDE__ENFORCEMENT", "strict")
    environ.setenv("ONCE_SERDE__ON_UNAVAILABLE", "raise")
    value = [Point(1, Colour.RED)]
    async with saver() as opened:
        row = opened.serde.dumps_typed(value)
        assert opened.serde.loads_typed(row) == value
        config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        await opened.aput(config, empty_checkpoint(), {}, {})
        assert await opened.aget_tuple(config) is not None
    environ.delenv("LANGSERVE_GRAPHS")
    async with saver() as opened:
        with pytest.raises(TypeNotAllowedError):
            opened.serde.loads_typed(row)


def test_types_are_found_in_schemas_and_subgraphs(environ: pytest.MonkeyPatch) -> None:
    assert types_in_graphs() >= {(MADE, "Point"), (MADE, "Colour"), (MADE, "Settled")}


@pytest.mark.parametrize(
    ("variable", "value", "line"),
    [
        ("ONCE_CHECKPOINT__PATH", "/etc/hostname/x.sqlite", "'/etc/hostname/x.sqlite'"),
        ("ONCE_SERDE__ENCRYPTION_KEYS", '{"a": "AAAA"}', "ONCE_SERDE__ENCRYPTION_KEYS: a: 3 bytes"),
        ("ONCE_SERDE__ENCRYPTION", "required", "ONCE_SERDE__ENCRYPTION: needs"),
        ("ONCE_SERDE__COMPRESSION", "gzip", "ONCE_SERDE__COMPRESSION"),
        ("LANGGRAPH_AES_KEY", "too-short", "langgraph-once: LANGGRAPH_AES_KEY: an AES key has"),
    ],
)
async def test_a_wrong_setting_stops_every_socket_in_one_line(
    environ: pytest.MonkeyPatch, variable: str, value: str, line: str
) -> None:
    environ.setenv(variable, value)
    with pytest.raises(SystemExit) as by_app:
        fresh("app")
    with pytest.raises(SystemExit) as by_saver:
        async with saver():
            pass
    for caught in (by_app, by_saver):
        assert line in str(caught.value)
        assert "too-short" not in str(caught.value)
        assert "\n" not in str(caught.value)


def test_the_app_shows_no_secret_and_can_be_told_to_show_nothing(
    environ: pytest.MonkeyPatch,
) -> None:
    environ.setenv("ONCE_SERDE__ENCRYPTION_KEYS", json.dumps({"2026": KEY}))
    app = fresh("app").app
    client = TestClient(app, "http://localhost", client=("127.0.0.1", 5000))
    assert client.get("/once/health").json()["ok"] is True
    shown = client.get("/once/config")
    assert shown.json()["graphs"]["agent"]["dedup"] == {"state": "full"}
    assert shown.json()["serde"]["encryption_keys"] == 1
    for hidden in (KEY, "2026", "threads.sqlite"):
        assert hidden not in shown.text
    environ.setenv("ONCE_HTTP__EXPOSE_CONFIG", "false")
    assert client.get("/once/config").status_code == 404


async def test_health_tells_whether_the_database_answers(
    environ: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    environ.setenv("LANGGRAPH_CHECKPOINTER", json.dumps({"path": SAVER}))
    client = TestClient(fresh("app").app)
    async with saver():
        assert client.get("/once/ready").json() == {"ready": True, "problems": []}
    (tmp_path / "data" / "threads.sqlite").unlink()
    health, ready = client.get("/once/health"), client.get("/once/ready")
    assert (health.status_code, ready.status_code) == (200, 503)  # it lives
    assert (health.json()["ok"], ready.json()["ready"]) == (False, False)
    for answer in (health, ready):
        assert answer.json()["problems"] == ["the database of threads does not answer"]
        assert str(tmp_path) not in answer.text


async def test_a_database_that_hangs_holds_no_probe(environ: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        probe = DatabaseHealth({"threads": f"postgresql://u@127.0.0.1:{port}/x"})
        began = time.monotonic()
        told = await asyncio.gather(*(probe.problems() for _ in range(20)))
        assert time.monotonic() - began < 5  # of its ten seconds
        assert told == [["the database of threads does not answer in time"]] * 20
        silent.settimeout(0.2)
        silent.accept()[0].close()
        with pytest.raises(TimeoutError):  # they asked together
            silent.accept()


def test_a_logged_traceback_of_our_mistake_is_cut_to_its_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(SystemExit), user_mistakes_stop_the_server():
        raise ConfigError("ONCE_X", "is wrong")
    logger = logging.getLogger("uvicorn.error")
    logger.error("Traceback …\nSystemExit: langgraph-once: ONCE_X: is wrong\n")
    logger.error("Traceback …\nValueError: another mistake")
    assert caplog.messages == [
        "langgraph-once: ONCE_X: is wrong",
        "Traceback …\nValueError: another mistake",
    ]
