"""The page's routes: who may see them, and what they refuse."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.authentication import SimpleUser
from starlette.requests import Request
from starlette.testclient import TestClient

from langgraph_once.settings import load_settings
from langgraph_once_ops.page import page_routes
from langgraph_once_ops.page.watched import own_url, passed_on

LOCAL, FAR = ("127.0.0.1", 5000), ("192.0.2.7", 5000)
PATHS = ("/once", "/once/page/main.js", "/once/page/page.css", "/once/page/icon.svg")


@pytest.fixture(autouse=True)
def dev_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process is a `langgraph dev`."""
    monkeypatch.setenv("LANGSMITH_LANGGRAPH_API_VARIANT", "local_dev")


def client(
    shown: Any = "auto", *, at: Any = LOCAL, host: str = "127.0.0.1:2024", user: Any = None
) -> TestClient:
    app = Starlette(routes=page_routes(load_settings(environ={"ONCE_HTTP__PAGE": shown})))

    async def serving(scope: Any, receive: Any, send: Any) -> None:
        await app({**scope, "user": user} if user else scope, receive, send)

    return TestClient(serving, client=at, base_url=f"http://{host}")


@pytest.mark.parametrize("host", ["127.0.0.1:2024", "localhost:2024", "[::1]:2024", "localhost"])
def test_this_machine_sees_the_page(host: str) -> None:
    assert [client(host=host).get(path).status_code for path in PATHS] == [200] * 4


@pytest.mark.parametrize(
    "who",
    [
        {"at": FAR},
        {"host": "example.com"},  # a name of a stranger that leads to this machine
        {"host": "127.0.0.1.example.com"},
        {"shown": "off"},
        {"shown": "off", "user": SimpleUser("Ada")},
    ],
)
def test_other_machines_do_not_see_the_page(who: Any) -> None:
    there = client(**who)
    assert {there.get(path).status_code for path in PATHS} == {404}
    assert there.post("/once/watch", json={}).status_code == 404


def test_users_who_signed_in_see_the_page_and_everybody_where_it_is_on() -> None:
    far: Any = {"at": FAR, "host": "example.com"}
    assert client(user=SimpleUser("Ada"), **far).get("/once").status_code == 200
    assert client("on", **far).get("/once").status_code == 200


def test_the_page_may_ask_no_other_server_and_be_in_no_frame() -> None:
    headers = client().get("/once").headers
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == policy["frame-ancestors"] == "'none'"
    assert {policy[kind] for kind in ("script-src", "style-src", "connect-src")} == {"'self'"}
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("name", ["", "%2e%2e%2fpage.py", "../page.py", "page.py", "no.js"])
def test_the_page_serves_its_own_files_alone(name: str) -> None:
    assert client().get(f"/once/page/{name}").status_code == 404


@pytest.mark.parametrize(
    "headers", [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://other.example"}]
)
def test_pages_of_other_sites_are_refused(headers: dict[str, str]) -> None:
    assert client("on").post("/once/watch", json={}, headers=headers).status_code == 403
    assert client().post("/once/watch", json={}, headers=headers).status_code == 404


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_what_a_form_can_send_is_refused(kind: str) -> None:
    """As that needs no leave of ours; browsers of before 2023 do not tell who asks."""
    answer = client().post("/once/watch", content="{}", headers={"Content-Type": kind})
    assert answer.status_code == 403


SIDE = {"side": "stock"}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("{", "Invalid JSON"),
        ({}, "graph"),
        ({"graph": "", "sides": [SIDE]}, "graph"),
        ({"graph": "a", "sides": []}, "sides"),
        ({"graph": "a", "sides": [{"side": "third"}]}, "sides.0.side"),
        ({"graph": "a", "sides": [{**SIDE, "thread_id": "../../other"}]}, "sides.0.thread_id"),
        ({"graph": "a", "sides": [{**SIDE, "run_ids": ["x"]}]}, "sides.0.run_ids.0"),
        ({"graph": "a", "sides": [{**SIDE, "start": {"command": 1}}]}, "sides.0.start"),
        ({"graph": "a", "sides": [{**SIDE, "start": {"input": "x" * 2**20}}]}, "Invalid JSON"),
    ],
)
def test_a_wrong_request_to_watch_is_told_where_it_is_wrong(body: Any, told: str) -> None:
    content = body if isinstance(body, str) else json.dumps(body)
    headers = {"Content-Type": "application/json"}
    answer = client().post("/once/watch", content=content, headers=headers)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(told)


def request(**scope: Any) -> Request:
    given = {"type": "http", "path": "/once/watch", "query_string": b"", "headers": []}
    return Request({**given, **scope})


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ({"server": ("127.0.0.1", 2024)}, "http://127.0.0.1:2024"),
        ({"server": ("::1", 2024)}, "http://[::1]:2024"),
        (
            {"server": ("10.0.0.5", 8000), "headers": [(b"host", b"example.com")]},
            "http://10.0.0.5:8000",
        ),
        ({"server": ("127.0.0.1", 1), "path": "/api/once/watch"}, "http://127.0.0.1:1/api"),
    ],
)
def test_the_page_asks_the_socket_that_it_was_asked_by(scope: Any, expected: str) -> None:
    assert own_url(request(**scope)) == expected


def test_the_user_s_headers_go_along() -> None:
    given = {
        b"authorization": b"Bearer x",
        b"cookie": b"a=b",
        b"x-api-key": b"k",
        b"host": b"example.com",
        b"content-length": b"3",
        b"accept-encoding": b"zstd",
        b"sec-fetch-site": b"same-origin",
        b"connection": b"close",
    }
    passed = passed_on(request(headers=[*given.items()]))
    assert passed == {"authorization": "Bearer x", "cookie": "a=b", "x-api-key": "k"}
