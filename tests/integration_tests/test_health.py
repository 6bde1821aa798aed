"""`/once/health` and `/once/ready` of a real `langgraph dev` in which things break."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_sync_client

from demo.dev_server import DevServer
from tests.integration_tests.health_served import BROKEN

SERVED = "tests.integration_tests.health_served"
ALL_WELL: Any = (200, []), (200, [])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    folder = tmp_path_factory.mktemp("health")
    graphs = {
        name: {
            "path": f"langgraph_once.platform.graphs:{name}",
            "once": {"target": f"{SERVED}:{name}"},
        }
        for name in ("flaky", "picky")
    }
    manifest = {
        "dependencies": ["."],
        "graphs": graphs,
        "checkpointer": {
            "path": "langgraph_once.platform.checkpointer.saver",
            "once": {"path": "threads.sqlite"},
        },
        "http": {"app": "langgraph_once.platform.app:app"},
    }
    config = folder / "langgraph.json"
    config.write_text(json.dumps(manifest))
    with DevServer(config, cwd=folder) as running:
        yield running


def told(server: DevServer) -> tuple[tuple[int, list[str]], tuple[int, list[str]]]:
    """Status and problems, of health and of readiness."""
    health, ready = (httpx.get(f"{server.url}/once/{route}") for route in ("health", "ready"))
    for answer, key in ((health, "ok"), (ready, "ready")):
        said = answer.json()
        assert said[key] is not bool(said["problems"])
    return (health.status_code, health.json()["problems"]), (
        ready.status_code,
        ready.json()["problems"],
    )


def run(server: DevServer, graph: str, **configurable: Any) -> None:
    with get_sync_client(url=server.url) as client:
        config: Any = {"configurable": configurable} if configurable else None
        client.runs.wait(None, graph, input={"messages": []}, config=config, raise_error=False)


def test_a_broken_factory_is_told_until_it_is_mended(server: DevServer) -> None:
    assert told(server) == ALL_WELL
    broken = server.cwd / BROKEN
    broken.touch()
    run(server, "flaky")
    problems = ["graph 'flaky': its factory raised RuntimeError"]
    assert told(server) == ((200, problems), (503, problems))
    broken.unlink()
    run(server, "flaky")
    assert told(server) == ALL_WELL


def test_what_one_client_asked_for_stops_nobody_else(server: DevServer) -> None:
    run(server, "picky", tenant="nobody")
    assert told(server) == ((200, ["graph 'picky': its factory raised LookupError"]), (200, []))
    run(server, "picky")
    assert told(server) == ALL_WELL


def test_a_database_that_is_gone_keeps_the_server_from_being_ready(server: DevServer) -> None:
    file: Path = server.cwd / "threads.sqlite"
    aside = file.rename(file.with_name("aside"))
    problems = ["the database of threads does not answer"]
    assert told(server) == ((200, problems), (503, problems))
    aside.rename(file)
    assert told(server) == ALL_WELL
