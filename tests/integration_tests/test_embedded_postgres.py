"""`make dev DATABASE=postgres`: its PostgreSQL ends with it, and the server's log names it."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from demo.dev_server import free_port

ROOT = Path(__file__).parents[2]
LOG = "Threads are kept in PostgreSQL, "

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("pgserver") is None, reason="pgserver has no wheel for this Python"
)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short path that the user `postgres` may enter: the server's socket is below it."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def servers_in(folder: Path) -> list[psutil.Process]:
    """The PostgreSQL whose files are here."""
    found = [*folder.glob(".langgraph_once/postgres/postmaster.pid")]
    return [psutil.Process(int(file.read_text().split()[0])) for file in found]


@pytest.mark.slow
def test_a_server_and_its_postgres_end_when_they_are_told_to(folder: Path) -> None:
    command = [sys.executable, "-m", "demo.embedded_postgres", sys.executable, "-m"]
    command += ["langgraph_cli", "dev", "--no-browser", "--no-reload", "--port", str(free_port())]
    config = ["--config", str(ROOT / "langgraph.json")]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "LANGSMITH_TRACING": "false"}
    log = folder / "log"
    with (
        log.open("wb") as told,
        subprocess.Popen(
            [*command, *config], cwd=folder, env=env, stdout=told, stderr=told
        ) as running,
    ):
        try:
            deadline = time.monotonic() + 90
            while LOG not in log.read_text() and time.monotonic() < deadline:
                assert running.poll() is None, log.read_text()[-2000:]
                time.sleep(0.2)
            started = [*servers_in(folder), *psutil.Process(running.pid).children(recursive=True)]
        finally:
            running.send_signal(signal.SIGTERM)
            code = running.wait(30)
    assert LOG in log.read_text()
    assert code == 143
    assert len(started) >= 2
    _, alive = psutil.wait_procs(started, timeout=10)
    for each in alive:
        each.kill()
    assert alive == []
