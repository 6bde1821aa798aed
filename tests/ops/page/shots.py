"""Takes the pictures of docs/page.md: `python -m tests.ops.page.shots`."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

from demo.dev_server import DevServer
from tests.integration_tests.browser import browser_in
from tests.integration_tests.npm import installed
from tests.ops.page.test_page import SOURCES

ROOT = SOURCES.parents[2]


def main() -> None:
    """Serve the samples, and show the page in a browser."""
    with tempfile.TemporaryDirectory() as folder:
        env = {"ONCE_CHECKPOINT__PATH": str(Path(folder, "threads.sqlite"))}
        options = ["--n-jobs-per-worker", "4"]
        here = installed(SOURCES, Path(folder, "browser"))
        with DevServer(ROOT / "langgraph.json", cwd=here, env=env, options=options) as server:
            asked = {"url": server.url, "executablePath": str(browser_in(here / "chromium"))}
            pictures = {"folder": str(ROOT / "docs" / "img")}
            command = ["node", "shots.mjs", json.dumps({**asked, **pictures})]
            subprocess.run(command, cwd=here, check=True)


if __name__ == "__main__":
    main()
