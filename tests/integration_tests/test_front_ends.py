"""The pages of examples/front-ends, in a real browser, on a wrapped graph that repeats itself."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from demo.dev_server import DevServer, free_port
from tests.docs.problem import ANSWER
from tests.integration_tests.browser import FLAGS, SOURCES
from tests.integration_tests.npm import NEEDS_NPM, check_lock, installed

EXAMPLES = Path(__file__).parents[2] / "examples" / "front-ends"

pytestmark = [NEEDS_NPM, pytest.mark.slow]  # five pages are built


@pytest.fixture(scope="module")
def shown(server: DevServer, chromium: Path) -> Iterator[dict[str, Any]]:
    """What each page shows after one question."""
    with tempfile.TemporaryDirectory() as name, ag_ui(server.url) as ag_ui_url:
        folder = Path(name)
        built = installed(EXAMPLES, folder)
        subprocess.run(["npx", "vite", "build"], cwd=built, check=True, capture_output=True)
        with served(built / "dist") as site:
            plain = {"url": server.url, "graph": "agent_plain"}
            pages = {
                "fetch": f"{site}/fetch.html?{urlencode({'url': server.url})}",
                "use-stream": f"{site}/use-stream.html?{urlencode({'url': server.url})}",
                "use-stream-v3": f"{site}/use-stream-v3.html?{urlencode({'url': server.url})}",
                "plain": f"{site}/use-stream-v3.html?{urlencode(plain)}",
                "ag-ui": f"{site}/ag-ui.html?{urlencode({'url': ag_ui_url})}",
            }
            asked = [json.dumps(FLAGS), json.dumps([*pages.values()])]
            done = subprocess.run(
                ["node", SOURCES / "ask.mjs", built, chromium, *asked],
                capture_output=True,
                text=True,
                check=False,
                timeout=120,
            )
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        yield {page: told[url] for page, url in pages.items()}


@pytest.mark.parametrize("page", ["fetch", "use-stream", "use-stream-v3", "ag-ui"])
def test_the_front_end_shows_the_answer_once(shown: dict[str, Any], page: str) -> None:
    assert shown[page]["problems"] == []
    assert shown[page]["status"] == "done"
    assert shown[page]["shown"] == [["human", "What is the capital of France?"], ["ai", ANSWER]]


def test_v3_of_a_plain_graph_shows_each_attempt_and_the_copy(shown: dict[str, Any]) -> None:
    assert shown["plain"]["shown"][1:] == [["ai", ANSWER]] * 3


def test_the_lock_names_no_registry() -> None:
    check_lock(EXAMPLES, "@langchain/langgraph-sdk")
    check_lock(EXAMPLES, "@langchain/react")


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A server of files."""
    handler = partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{site.server_port}"
        site.shutdown()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def ag_ui(url: str) -> Iterator[str]:
    """The server of the page of AG-UI."""
    port = free_port()
    command = [sys.executable, str(EXAMPLES / "ag_ui_server.py"), url, "agent", str(port)]
    with subprocess.Popen(command) as running:
        try:
            for _ in range(300):
                with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            running.terminate()
