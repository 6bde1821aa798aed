"""The stock JavaScript SDK reads our event streams: compressed, cut, each text once."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from demo.dev_server import DevServer
from tests.integration_tests.npm import NEEDS_NPM, check_lock, installed
from tests.integration_tests.sse_graphs import ASKED, RESTED, STEPS, TEXT, lockstep_input
from tests.integration_tests.sse_proxy import CuttingProxy

SOURCES = Path(__file__).parents[1] / "javascript"

pytestmark = NEEDS_NPM

Stream = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Stream:
    """Runs `stream.mjs` with the pinned SDK, installed for this test."""
    folder = installed(SOURCES, tmp_path_factory.mktemp("javascript"))

    def run(url: str, graph: str, **asked: Any) -> dict[str, Any]:
        options = {"url": url, "graph": graph, "input": ASKED, "headers": {}, **asked}
        done = subprocess.run(
            ["node", "stream.mjs", json.dumps(options)],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        told: dict[str, Any] = json.loads(done.stdout)
        return told

    return run


def test_the_lock_pins_the_sdk_and_names_no_registry() -> None:
    check_lock(SOURCES, "@langchain/langgraph-sdk")


def test_no_event_is_delayed(sse_server: DevServer, stream: Stream, tmp_path: Path) -> None:
    asked = {"input": lockstep_input(tmp_path), "folder": str(tmp_path)}
    told = stream(sse_server.url, "lockstep", **asked)
    assert told["steps"] == list(range(STEPS))
    assert told["encodings"] == ["gzip"]  # what the fetch of Node asks for


def test_through_cuts_each_text_comes_once(sse_server: DevServer, stream: Stream) -> None:
    with CuttingProxy(sse_server.port, cuts=[1500, 400], away_s=2) as proxy:
        told = stream(proxy.url, "slow")
    assert told["texts"] == [TEXT]
    assert told["said"][-1] == TEXT
    assert told["resumedFrom"] == 2
    assert told["encodings"] == ["gzip"] * 3


def test_a_plain_graph_delivers_its_text_once_where_that_is_asked_for(
    sse_server: DevServer, stream: Stream
) -> None:
    plain = stream(sse_server.url, "slow_plain")
    once = stream(sse_server.url, "slow_plain", headers={"X-Once": "1"})
    assert plain["texts"] == [TEXT, TEXT]
    assert once["texts"] == [TEXT]
    assert once["nameless"] == plain["nameless"] == 0  # what is left out leaves nothing behind


@pytest.mark.slow
def test_an_id_that_comes_with_a_heartbeat_shows_nothing_that_a_heartbeat_does_not(
    sse_server: DevServer, stream: Stream
) -> None:
    """This SDK shows each heartbeat after an id as an event without a name (2.0.0)."""
    plain = stream(sse_server.url, "resting_plain")
    once = stream(sse_server.url, "resting_plain", headers={"X-Once": "1"})
    assert plain["texts"] == [TEXT, TEXT, RESTED]
    assert once["texts"] == [TEXT, RESTED]
    assert once["nameless"] == plain["nameless"] == 1
