"""`GET /once/config`: who may see the settings."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
from starlette.authentication import SimpleUser
from starlette.testclient import TestClient

LOCAL, FAR = ("127.0.0.1", 5000), ("192.0.2.7", 5000)


@pytest.fixture(autouse=True)
def database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ONCE_CHECKPOINT__PATH", str(tmp_path / "threads.sqlite"))


def status(client: tuple[str, int], user: Any = None, host: str = "localhost:2024") -> int:
    app = importlib.import_module("langgraph_once.platform.app").app

    async def serving(scope: Any, receive: Any, send: Any) -> None:
        await app({**scope, "user": user} if user else scope, receive, send)

    return TestClient(serving, f"http://{host}", client=client).get("/once/config").status_code


def test_this_machine_may_where_the_server_asks_nobody_who_he_is() -> None:
    assert (status(LOCAL), status(FAR)) == (200, 404)
    assert [status(LOCAL, host=host) for host in ("127.0.0.1", "[::1]:80")] == [200, 200]


def test_nobody_comes_by_way_of_a_name_that_leads_to_this_machine() -> None:
    """A proxy that does not say for whom it asks, or a page whose name leads here."""
    assert status(LOCAL, host="agents.example") == 404


@pytest.mark.parametrize(
    ("name", "value"), [("LANGGRAPH_AUTH", '{"path": "a.py:a"}'), ("LANGGRAPH_AUTH_TYPE", "own")]
)
def test_where_it_does_only_who_is_known_may(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert (status(LOCAL), status(FAR)) == (404, 404)
    assert status(FAR, SimpleUser("Ada")) == 200


@pytest.mark.parametrize(("exposed", "expected"), [("true", 200), ("false", 404)])
def test_the_setting_expose_config_wins(
    monkeypatch: pytest.MonkeyPatch, exposed: str, expected: int
) -> None:
    monkeypatch.setenv("ONCE_HTTP__EXPOSE_CONFIG", exposed)
    assert (status(LOCAL), status(FAR)) == (expected, expected)
