"""A page with `useStream` is loaded again amid a run, on a server with our app alone."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from bench.reloads import FIRST, SERVERS, flickers, reloaded
from demo.dev_server import DevServer
from tests.integration_tests.npm import NEEDS_NPM, installed
from tests.integration_tests.test_front_ends import EXAMPLES, served

WHOLE, PART = ["ai", len(FIRST)], ["ai", 3]
HUMAN = ["human", 5]


@pytest.mark.slow
@NEEDS_NPM
def test_the_replay_comes_as_from_a_stock_server_and_all_is_shown(
    tmp_path: Path, chromium: Path
) -> None:
    config = tmp_path / "langgraph.json"
    config.write_text(json.dumps({"dependencies": ["."], **SERVERS["`http.app` alone"]}))
    built = installed(EXAMPLES, tmp_path / "pages")
    subprocess.run(["npx", "vite", "build"], cwd=built, check=True, capture_output=True)
    with DevServer(config, cwd=tmp_path) as server, served(built / "dist") as site:
        url = f"{site}/use-stream.html?{urlencode({'url': server.url})}"
        found = reloaded(built, chromium, url, 3)
    assert [each["encoding"] for each in found] == ["none"] * 3
    assert [each["painted"][-1][1] for each in found] == [WHOLE] * 3


@pytest.mark.parametrize(
    ("painted", "expected"),
    [
        ([[], [HUMAN, PART], [HUMAN, WHOLE]], False),
        ([[HUMAN, WHOLE], [HUMAN, WHOLE, PART]], False),
        ([[HUMAN, WHOLE], [HUMAN], [HUMAN, WHOLE]], True),
        ([[HUMAN, WHOLE], [HUMAN, PART], [HUMAN, WHOLE, PART]], True),
    ],
)
def test_an_answer_that_vanishes_and_comes_back_is_counted(painted: Any, expected: bool) -> None:
    assert flickers(painted) is expected
