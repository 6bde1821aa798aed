"""The socket `http.app` wraps the routes that the server adds to it, as the settings say."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from tests.unit_tests.platform.test_sse_encodings import EVENTS

Serve = Callable[..., TestClient]


async def stream(_: Request) -> Response:
    return Response(b"".join(EVENTS), media_type="text/event-stream")


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Serve:
    """Makes the app as a new server process does, with a route as the server adds them."""

    def made(**variables: str) -> TestClient:
        path = tmp_path / "threads.sqlite"
        for name, value in {"ONCE_CHECKPOINT__PATH": str(path), **variables}.items():
            monkeypatch.setenv(name, value)
        sys.modules.pop("langgraph_once.platform.app", None)
        app = importlib.import_module("langgraph_once.platform.app").app
        app.router.routes.append(Route("/runs/stream", stream))
        return TestClient(app)

    return made


def test_event_streams_are_compressed_by_default(serve: Serve) -> None:
    answer = serve().get("/runs/stream", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.content == b"".join(EVENTS)


def test_the_environment_turns_compression_off(serve: Serve) -> None:
    client = serve(ONCE_HTTP__SSE_ENCODINGS="[]")
    answer = client.get("/runs/stream", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in answer.headers
    assert answer.content == b"".join(EVENTS)


def test_an_unknown_encoding_stops_the_server_and_names_what_there_is(serve: Serve) -> None:
    with pytest.raises(
        SystemExit, match=r"ONCE_HTTP__SSE_ENCODINGS\[0\]: .*'zstd', 'br' or 'gzip'"
    ):
        serve(ONCE_HTTP__SSE_ENCODINGS='["deflate"]')
