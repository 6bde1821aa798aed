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
from tests.integration_tests.sse_graphs import ASKED, STEPS, TEXT, lockstep_input
from tests.integration_tests.sse_proxy import CuttingProxy

SOURCES = Path(__file__).parents[1] / "javascript"

pytestmark = NEEDS_NPM

Stream = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Stream:
    """Runs `stream.mjs` with the pinned SDK, installed for this test."""
    folder = installed(SOURCES, tmp_path_factory.mktemp("javascript"))

    def run(url: str, graph: str, **asked: Any) -> dict[str, Any]:
        options = {"url": url, "graph": graph, "input": ASKED, **asked}
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
