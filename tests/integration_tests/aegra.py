"""An Aegra server with the zoo: each graph plain, and wrapped as `<name>_once`.

Aegra is an open Agent-Protocol server on PostgreSQL that runs on Python 3.12 or newer, so it has an
environment of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.clients.graphs import ZOO
from tests.clients.server import wrapped_name

ROOT = Path(__file__).parents[2]

AEGRA_VERSION = "0.11.0"
PACKAGES = (f"aegra-api=={AEGRA_VERSION}", "langchain")

GRAPHS = """\
from langgraph_once import once
from tests.clients.graphs import ZOO

globals().update({animal.name: animal.graph for animal in ZOO})
globals().update({f"{animal.name}_once": once(animal.graph) for animal in ZOO})
"""

START_S = 180


@contextmanager
def aegra_server(folder: Path, database: str) -> Iterator[str]:
    """Install and start one; gives its URL.

    Args:
        folder: Where its environment and its files lie.
        database: A PostgreSQL for it alone.
    """
    folder.mkdir(exist_ok=True)
    python = _installed(folder / "env")
    names = [name for animal in ZOO for name in (animal.name, wrapped_name(animal.name))]
    (folder / "zoo.py").write_text(GRAPHS)
    graphs = {"graphs": {name: f"./zoo.py:{name}" for name in names}}
    (folder / "aegra.json").write_text(json.dumps(graphs))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = {
        **os.environ,
        "AEGRA_CONFIG": str(folder / "aegra.json"),
        "DATABASE_URL": database,
        "PYTHONPATH": str(ROOT),
        "REDIS_BROKER_ENABLED": "false",
    }
    command = [python, "-m", "uvicorn", "aegra_api.main:app", "--port", str(port)]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log)
        try:
            url = f"http://127.0.0.1:{port}"
            _wait(url, server, folder / "log")
            yield url
        finally:
            server.terminate()
            server.wait(30)


def _installed(env: Path) -> str:
    """The Python of a new environment with Aegra and this package."""
    base = sys.executable if sys.version_info >= (3, 12) else None
    # A shim of pyenv's on the path runs nothing where its version is not chosen.
    base = base or next(map(str, Path.home().glob(".pyenv/versions/3.12*/bin/python")), None)
    base = base or shutil.which("python3.12")
    if base is None:
        pytest.skip("no Python 3.12")
    uv = [sys.executable, "-m", "uv"]
    subprocess.run([*uv, "venv", "--quiet", "--python", base, env], check=True)
    python = str(env / "bin" / "python")
    install = [*uv, "pip", "install", "--quiet", "--python", python, *PACKAGES, str(ROOT)]
    subprocess.run(install, check=True)
    return python


def _wait(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    ends = time.monotonic() + START_S
    while time.monotonic() < ends and server.poll() is None:
        try:
            if httpx.get(f"{url}/health").is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.5)
    pytest.fail(f"Aegra did not start:\n{log.read_text()[-3000:]}")
