"""What a real `langgraph dev` that knows its users tells to those it does not know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from demo.dev_server import DevServer
from tests.integration_tests.auth_served import TOKEN

AUTH = Path(__file__).with_name("auth_served.py")


@pytest.mark.parametrize("guards_routes", [False, True])
def test_strangers_are_told_nothing_of_ours(tmp_path: Path, guards_routes: bool) -> None:
    pytest.importorskip("langgraph_once_ops", reason="the page is of operations")
    config = tmp_path / "langgraph.json"
    manifest: dict[str, Any] = {
        "dependencies": ["."],
        "graphs": {"agent": "tests.integration_tests.served:builder"},
        "auth": {"path": f"{AUTH}:auth"},
        "http": {
            "app": "langgraph_once.platform.app:app",
            "enable_custom_route_auth": guards_routes,
        },
    }
    config.write_text(json.dumps(manifest))
    with DevServer(config, cwd=tmp_path) as server, httpx.Client(base_url=server.url) as http:
        asked = {"assistant_id": "agent", "input": {}}
        run = http.post("/runs/stream", json=asked)
        assert run.status_code == 401
        shown = [
            http.get("/once/config", headers=headers).status_code
            for headers in ({}, {"Authorization": TOKEN})
        ]
        page = [
            http.get("/once", headers=headers).status_code
            for headers in ({}, {"Authorization": TOKEN})
        ]
        ends = [watched(http, headers) for headers in ({}, {"Authorization": TOKEN})]
    assert shown == ([401, 200] if guards_routes else [404, 404])
    assert page == ([401, 200] if guards_routes else [200, 200])  # it holds nothing of anybody
    assert ends == [None if guards_routes else "failed", "finished"]


def watched(http: httpx.Client, headers: dict[str, str]) -> str | None:
    """How a run ends that the page begins with these headers; None if it may not ask at all."""
    asked = {"input": {"messages": [{"role": "user", "content": "Hello?"}]}}
    body = {"graph": "agent", "sides": [{"side": "once", "start": asked}]}
    answer = http.post("/once/watch", json=body, headers=headers, timeout=60)
    if answer.status_code != 200:
        return None
    lines = [line[6:] for line in answer.text.splitlines() if line.startswith('data: {"op"')]
    status: str = json.loads(lines[-1])["status"]
    return status
