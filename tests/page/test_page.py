"""The page at `/once` in a real browser."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo.dev_server import DevServer
from tests.integration_tests.browser import browser_in
from tests.integration_tests.npm import NEEDS_NPM, check_lock, installed

SOURCES = Path(__file__).parent
STEPS = re.findall(r'^await step\("(.+?)"', (SOURCES / "page.mjs").read_text(), re.MULTILINE)

pytestmark = NEEDS_NPM


@pytest.fixture(scope="module")
def page_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    folder = tmp_path_factory.mktemp("page")
    env = {"ONCE_CHECKPOINT__PATH": str(folder / "threads.sqlite")}
    options = ["--n-jobs-per-worker", "4"]
    config = SOURCES / "langgraph.json"
    with DevServer(config, cwd=folder, env=env, options=options) as running:
        yield running


@pytest.fixture(scope="module")
def found(
    page_server: DevServer, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str | None]:
    """For each step what was wrong; None where nothing was."""
    folder = installed(SOURCES, tmp_path_factory.mktemp("browser"))
    browser = browser_in(tmp_path_factory.mktemp("chromium"))
    done = subprocess.run(
        ["node", "page.mjs", json.dumps({"url": page_server.url, "executablePath": str(browser)})],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, str | None] = json.loads(done.stdout)
    return told


def test_the_lock_pins_what_drives_the_browser_and_names_no_registry() -> None:
    check_lock(SOURCES, "playwright-core")
    check_lock(SOURCES, "axe-core")


@pytest.mark.parametrize("step", STEPS)
def test_the_page(found: dict[str, str | None], step: str) -> None:
    assert found[step] is None, found[step]
