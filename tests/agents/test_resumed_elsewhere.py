"""A thread that waits is resumed in another process, to the same end as with LangGraph alone."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.agents.waiting import WAITING

pytestmark = pytest.mark.product

OURS: Final = ("ours:ours", "our_serde:our_serde", "adopted:ours")
"""Begun and resumed with us; with LangGraph's saver and our serializer; begun with LangGraph's."""
STOCK: Final = ("stock:stock", "compatible:stock", "left:stock", "never:kept")
"""With LangGraph alone; begun by us with rows for LangGraph; begun by us, and then migrated; and a
thread that was never stored."""


def ran(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def resumed(name: str, folder: Path, *ways: str) -> dict[str, Any]:
    done = ran("tests.agents.elsewhere", "resume", name, str(folder), *ways)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def copied(folder: Path, source: str, target: str) -> None:
    """Copy a database, with what a killed process left beside it."""
    for path in folder.glob(f"{source}.sqlite*"):
        shutil.copy(path, folder / path.name.replace(source, target))


@pytest.mark.parametrize("name", WAITING)
def test_a_thread_that_waits_is_resumed_as_with_langgraph_alone(name: str, tmp_path: Path) -> None:
    begun = ran("tests.agents.elsewhere", "begin", name, str(tmp_path))
    assert begun.returncode == -signal.SIGKILL, begun.stderr
    copied(tmp_path, "stock", "adopted")
    copied(tmp_path, "ours", "left")
    path = str(tmp_path / "left.sqlite")
    moved = ran("langgraph_once", "migrate", "--to", "msgpack", "--database", path)
    assert moved.returncode == 0, moved.stdout + moved.stderr
    ours = resumed(name, tmp_path, *OURS)
    stock = resumed(name, tmp_path, *STOCK)
    alone, kept = stock.pop("stock"), stock.pop("never")
    for way, found in (ours | stock).items():
        for part in ("waits", "ends"):
            assert worse(found[part], alone[part], kept[part]) == [], f"{way}: {part}"
        assert len(found["history"]) == len(alone["history"]), way
        for here, there, was in zip(
            found["history"], alone["history"], kept["history"], strict=True
        ):
            assert worse(here, there, was) == [], f"{way}: history"
    # Whoever uses us is warned of nothing that LangGraph does not warn of.
    assert {text for way in ours.values() for text in way["told"]} <= {*alone["told"]}


def worse(found: list[str], alone: list[str], kept: list[str]) -> list[str]:
    """Return what is neither as LangGraph alone has it, nor as it was; and what is missing."""
    others = [f"+ {line}" for line in {*found} - {*alone} - {*kept}]
    return others + [f"- {line}" for line in {*alone} & {*kept} - {*found}]
