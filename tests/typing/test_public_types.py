"""Whether a user's type checker knows the type of each public name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import langgraph_once
from tests.integration_tests.npm import NEEDS_NPM, check_lock, installed

SOURCES = Path(__file__).parent
PACKAGES = str(Path(langgraph_once.__file__).parents[1])


def test_the_lock_pins_the_checker_and_names_no_registry() -> None:
    check_lock(SOURCES, "pyright")


@pytest.mark.slow
@NEEDS_NPM
@pytest.mark.parametrize("room", ["events"])
def test_all_public_types_are_known(room: str, tmp_path: Path) -> None:
    pyright = installed(SOURCES, tmp_path) / "node_modules" / ".bin" / "pyright"
    done = subprocess.run(
        [
            *(pyright, "--pythonpath", sys.executable, "--ignoreexternal", "--outputjson"),
            *("--verifytypes", f"langgraph_once.{room}"),
        ],
        env={**os.environ, "PYTHONPATH": PACKAGES},  # the checker does not see editable installs
        capture_output=True,
        text=True,
        check=False,
    )
    told = json.loads(done.stdout)["typeCompleteness"]
    unknown = [symbol["name"] for symbol in told["symbols"] if not symbol["isTypeKnown"]]
    assert told["completenessScore"] == 1, unknown
