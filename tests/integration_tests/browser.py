"""A headless Chromium, and the page that it shows."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import quote

import pytest

from tests.integration_tests.npm import installed

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "chrome")
SOURCES: Final = Path(__file__).parents[1] / "browser"
FLAGS: Final = (
    "--headless",
    "--no-sandbox",  # which a root has not
    "--no-zygote",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--remote-debugging-port=0",  # or it ends at once
)


def browser_in(folder: Path) -> Path:
    """The browser of this machine; if there is none, one from npm, unpacked in `folder`."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    return Path(found) if found else _unpacked(folder)


def _unpacked(folder: Path) -> Path:
    """Chromium as the lock file pins it; skip the test where it cannot be had or started."""
    installed(SOURCES, folder)
    done = subprocess.run(
        ["node", "unpack.mjs"],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    binary = Path(done.stdout)
    version = subprocess.run([binary, "--version"], capture_output=True, text=True, check=False)
    if "shared libraries" in version.stderr:
        pytest.skip(f"Chromium lacks a library here: {version.stderr.strip()}")
    return binary


class Page:
    """Serves `stream.html`, shows it in a browser, and hears what it tells.

    Args:
        binary: The browser.
        folder: Its profile, and a file for each step that the page has read.
    """

    def __init__(self, binary: Path, folder: Path) -> None:
        self._binary = binary
        self._folder = folder
        told: queue.Queue[Any] = queue.Queue()
        self._told = told

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(200, (SOURCES / "stream.html").read_bytes())

            def do_POST(self) -> None:
                said = self.rfile.read(int(self.headers["Content-Length"])).decode()
                if self.path == "/steps":
                    (folder / str(int(said))).touch()
                else:
                    told.put(json.loads(said))
                self._answer(204)

            def _answer(self, status: int, body: bytes = b"") -> None:
                self.send_response(status)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def stream(self, url: str, graph: str, input: Any, *, timeout_s: float = 30) -> dict[str, Any]:
        """What the page received of a run of `graph` on the server at `url`."""
        asked = quote(json.dumps({"url": url, "graph": graph, "input": input}))
        origin = f"http://127.0.0.1:{self._server.server_port}"
        with self._shown(f"{origin}/#{asked}"):
            told: dict[str, Any] = self._told.get(timeout=timeout_s)
        assert told.pop("error") is None
        return told

    @contextmanager
    def _shown(self, url: str) -> Iterator[None]:
        profile = f"--user-data-dir={self._folder / 'profile'}"
        browser = subprocess.Popen([self._binary, *FLAGS, profile, url], stderr=subprocess.DEVNULL)
        try:
            yield
        finally:
            browser.terminate()
            browser.wait(10)
