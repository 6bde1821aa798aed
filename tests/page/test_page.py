"""The page at `/once` in a real browser."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
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


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[DevServer]:
    """One that may be stopped."""
    env = {"ONCE_CHECKPOINT__PATH": str(tmp_path / "threads.sqlite")}
    options = ["--n-jobs-per-worker", "4"]
    with DevServer(SOURCES / "langgraph.json", cwd=tmp_path, env=env, options=options) as running:
        yield running


def test_a_server_that_is_stopped_does_not_wait_for_the_page(own_server: DevServer) -> None:
    start: dict[str, Any] = {"input": {"messages": []}}
    sides = [{"side": side, "start": start} for side in ("stock", "once")]
    body = {"graph": "endless", "sides": sides}
    has_begun = threading.Event()

    def read() -> None:
        with httpx.stream("POST", f"{own_server.url}/once/watch", json=body, timeout=60) as answer:
            for line in answer.iter_lines():
                if "word1" in line:
                    has_begun.set()

    reader = threading.Thread(target=read)
    reader.start()
    assert has_begun.wait(30)
    own_server.send(signal.SIGINT)
    assert own_server.wait(20) == 0  # the run goes on for a minute
    reader.join(10)
    assert not reader.is_alive()


@pytest.mark.slow
def test_the_page_says_that_the_server_has_gone_and_goes_on_when_it_is_back(
    own_server: DevServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = installed(SOURCES, tmp_path_factory.mktemp("browser"))
    browser = browser_in(tmp_path_factory.mktemp("chromium"))
    what = json.dumps({"url": own_server.url, "executablePath": str(browser)})
    with subprocess.Popen(
        ["node", "away.mjs", what], cwd=folder, stdout=subprocess.PIPE, text=True
    ) as driving:
        assert driving.stdout is not None
        assert driving.stdout.readline() == "shown\n"
        own_server.stop()
        assert driving.stdout.readline() == "gone\n"
        own_server.start()
        assert driving.wait(90) == 0
