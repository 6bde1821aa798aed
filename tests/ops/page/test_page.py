"""The page at `/once` in a real browser."""

from __future__ import annotations

import json
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import httpx
import pytest

from demo.dev_server import DevServer
from tests.integration_tests.browser import browser_in
from tests.integration_tests.npm import NEEDS_NPM, check_lock, installed

SOURCES = Path(__file__).parent
STEPS = [
    pytest.param(name, marks=[pytest.mark.slow] if kind == "longStep" else [])
    for kind, name in re.findall(
        r'^await (step|longStep)\("(.+?)"', (SOURCES / "page.mjs").read_text(), re.MULTILINE
    )
]

pytestmark = NEEDS_NPM


def served(folder: Path) -> DevServer:
    env = {"ONCE_CHECKPOINT__PATH": str(folder / "threads.sqlite")}
    options = ["--n-jobs-per-worker", "4"]
    return DevServer(SOURCES / "langgraph.json", cwd=folder, env=env, options=options)


@contextmanager
def driving(
    script: str, server: DevServer, folders: pytest.TempPathFactory, **more: bool
) -> Iterator[Popen[str]]:
    """Run a script that drives a browser, which shows the page of a server."""
    folder = installed(SOURCES, folders.mktemp("browser"))
    browser = browser_in(folders.mktemp("chromium"))
    what = json.dumps({"url": server.url, "executablePath": str(browser), **more})
    command = ["node", script, what]
    with Popen(command, cwd=folder, stdout=PIPE, stderr=PIPE, text=True) as running:
        try:
            yield running
        finally:
            running.kill()  # or a test that failed would wait for it


@pytest.fixture(scope="module")
def page_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    with served(tmp_path_factory.mktemp("page")) as running:
        yield running


@pytest.fixture(scope="module")
def found(
    request: pytest.FixtureRequest,
    page_server: DevServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, str | None]:
    """For each step what was wrong; None where nothing was."""
    takes_long = any(each.get_closest_marker("slow") for each in request.session.items)
    with driving("page.mjs", page_server, tmp_path_factory, takesLong=takes_long) as script:
        out, errors = script.communicate(timeout=120)
    assert script.returncode == 0, errors
    told: dict[str, str | None] = json.loads(out)
    return told


def test_the_lock_pins_what_drives_the_browser_and_names_no_registry() -> None:
    check_lock(SOURCES, "playwright-core")
    check_lock(SOURCES, "axe-core")


@pytest.mark.parametrize("step", STEPS)
def test_the_page_does_each_step_in_a_browser(found: dict[str, str | None], step: str) -> None:
    assert found[step] is None, found[step]


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[DevServer]:
    """One that may be stopped."""
    with served(tmp_path) as running:
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
    with driving("away.mjs", own_server, tmp_path_factory) as script:
        assert script.stdout is not None
        assert script.stdout.readline() == "shown\n"
        own_server.stop()
        assert script.stdout.readline() == "gone\n"
        own_server.start()
        assert script.wait(90) == 0
