"""The image and the compose file, as far as they can be shown without Docker."""

from __future__ import annotations

import importlib
import json
import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from langgraph_once.manifest import VARIABLES, Manifest
from langgraph_once.platform.startup import serializer_for, store_database
from langgraph_once.settings import load_settings
from tests.dockerignored import is_ignored

ROOT = Path(__file__).parents[2]
OURS = json.loads((ROOT / "langgraph.json").read_text())
SECRETS = {
    "POSTGRES_PASSWORD": "geheim",
    "ONCE_SERDE__ENCRYPTION_KEYS": '{"2026": "c2VjcmV0LXNlY3JldC1zZWNyZXQtMDEy"}',
}


@pytest.fixture(scope="module")
def services() -> Any:
    """The services of `compose.yaml`, with what it takes from the environment."""
    text = (ROOT / "compose.yaml").read_text()
    assert set(re.findall(r"\$\{(\w+):\?", text)) == SECRETS.keys()  # it does not start without
    return _filled(importlib.import_module("yaml").safe_load(text)["services"])


def _filled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _filled(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner) for inner in value]
    if isinstance(value, str):
        taken = re.compile(r"\$\{(\w+)(:[-?][^}]*)?\}")
        return taken.sub(lambda found: SECRETS.get(found[1], ""), value)
    return value


def test_the_servers_of_the_compose_file_share_a_database_of_their_own(services: Any) -> None:
    server, postgres = services["server"], services["postgres"]
    environ = server["environment"]
    settings = load_settings(Manifest.from_json(OURS), environ)
    serializer_for(settings)
    assert settings.serde.encryption == "required"
    database = postgres["environment"]["POSTGRES_DB"]
    url = f"postgresql://postgres:geheim@postgres:5432/{database}"
    assert (settings.database, store_database(settings)) == (url, url)
    assert environ["DATABASE_URI"].endswith("@postgres:5432/postgres")  # the server's own
    assert (database, environ["REDIS_URI"]) == ("once", "redis://redis:6379")
    (volume,) = postgres["volumes"]
    assert volume == "data:/var/lib/postgresql/data"
    assert server["deploy"]["replicas"] == 2
    assert server["ports"] == ["8123-8124:8000"]  # one for each
    for name, needed in server["depends_on"].items():
        assert needed == {"condition": "service_healthy"}
        assert services[name]["healthcheck"]["test"]
    assert services.keys() == {"server", *server["depends_on"]}


@contextmanager
def answering(status: int) -> Iterator[int]:
    class Ready(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/once/ready" else 404)
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Ready) as server:
        threading.Thread(target=server.serve_forever).start()
        yield server.server_port
        server.shutdown()


@pytest.mark.parametrize(("status", "is_healthy"), [(200, True), (503, False)])
def test_the_health_check_asks_whether_a_server_is_ready(
    services: Any, status: int, is_healthy: bool
) -> None:
    kind, _, *arguments = services["server"]["healthcheck"]["test"]
    assert kind == "CMD"
    with answering(status) as port:
        command = [part.replace(":8000/", f":{port}/") for part in arguments]
        done = subprocess.run([sys.executable, *command], check=False, capture_output=True)
    assert (done.returncode == 0) is is_healthy


def test_the_dockerfile_hands_over_what_langgraph_json_says(tmp_path: Path) -> None:
    file = tmp_path / "Dockerfile"
    command = [sys.executable, "-m", "langgraph_cli", "dockerfile", str(file)]
    env = {**os.environ, "LANGGRAPH_CLI_NO_ANALYTICS": "1"}
    subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True)
    lines = file.read_text().splitlines()
    said = [shlex.split(line) for line in lines if line.startswith("ENV ")]  # as Docker reads them
    environ = dict(pair.split("=", 1) for _, pair in said)
    for variable, key in VARIABLES.items():
        if key in OURS:
            assert json.loads(environ[variable]) == OURS[key], key
    assert load_settings(environ=environ).serde.compression == "zstd"
    assert f"ADD . /deps/{ROOT.name}" in lines
    assert lines[-1] == f"WORKDIR /deps/{ROOT.name}"
    (installed,) = (line for line in lines if "langgraph-checkpoint-postgres" in line)
    assert "psycopg[binary,pool]" in installed


def test_the_image_has_the_driver_of_postgresql_and_no_server_in_memory() -> None:
    wanted = ["langgraph-once", *(each for each in OURS["dependencies"] if each != ".")]
    found = set(_needed(wanted))
    assert {"psycopg", "psycopg-pool", "psycopg-binary", "langgraph-checkpoint-postgres"} <= found
    assert not found & {"langgraph-api", "langgraph-runtime-inmem", "langgraph-cli"}


def _needed(wanted: list[str]) -> Iterator[str]:
    """Yield the names of packages, and of what they need."""
    seen: set[str] = set()
    while wanted:
        asked = Requirement(wanted.pop())
        if asked.marker is not None and not asked.marker.evaluate({"extra": ""}):
            continue
        name = f"{asked.name}[{','.join(asked.extras)}]"
        if name in seen:
            continue
        seen.add(name)
        yield asked.name
        try:
            needs = [Requirement(each) for each in requires(asked.name) or ()]
        except PackageNotFoundError:
            continue
        for need in needs:
            if need.marker is None or any(
                need.marker.evaluate({"extra": extra}) for extra in ("", *asked.extras)
            ):
                need.marker = None
                wanted.append(str(need))


def test_secrets_and_data_stay_out_of_the_image_and_the_program_is_in_it() -> None:
    for name in (
        ".env",
        ".env.local",
        ".langgraph_once/checkpoints.sqlite",
        ".langgraph_api/store.pckl",
        "threads.sqlite-wal",
        ".git/config",
        ".venv/bin/python",
        "tests/browser/node_modules/x/y.js",
    ):
        assert is_ignored(name), name
    for name in (
        "pyproject.toml",
        "langgraph.json",
        "README.md",
        "plugin/langgraph_once/py.typed",
        "plugin/langgraph_once/serde/dictionaries/1654942875.zstd-dictionary",
        "graphs/research/graph.py",
    ):
        assert (ROOT / name).is_file()
        assert not is_ignored(name), name
