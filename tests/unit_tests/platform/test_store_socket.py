"""`store.path`: what stops it and `check`, in one line."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
from base64 import b64encode
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from langgraph_once.manifest import STORE
from langgraph_once.platform.store import store
from tests.forked import run_once

ADA = ("notes", "ada")
KEYS = json.dumps({"2026": b64encode(b"k" * 32).decode()})
MUST = {"ONCE_SERDE__ENCRYPTION_KEYS": KEYS, "ONCE_SERDE__ENCRYPTION": "required"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    name(tmp_path, monkeypatch, path=STORE)
    return tmp_path


def name(project: Path, env: pytest.MonkeyPatch, **entry: Any) -> None:
    """Name the store, as `langgraph.json` does and as the server hands it on."""
    env.setenv("LANGGRAPH_STORE", json.dumps(entry))
    (project / "langgraph.json").write_text(json.dumps({"store": entry}))


def once(*arguments: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return run_once(*arguments, cwd=cwd, **{**os.environ, **env})


def values(project: Path) -> list[str]:
    with closing(sqlite3.connect(project / ".langgraph_once" / "store.sqlite")) as conn:
        return [bytes(value).decode() for (value,) in conn.execute("SELECT value FROM store")]


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        ({"once": {"allow_vector": True}}, "store.once.allow_vector: unknown key; did you mean"),
        ({"index": {"dims": 3, "embed": "x:y"}}, "store.index: the vectors of values are stored"),
        ({"once": {"path": "/etc/hostname/x.sqlite"}}, "'/etc/hostname/x.sqlite'"),
        ({"once": {"path": "postgresql://u:p@h/d"}}, "store.once.path: holds a password"),
    ],
)
async def test_a_wrong_setting_stops_check_and_the_server_in_one_line(
    project: Path, monkeypatch: pytest.MonkeyPatch, entry: dict[str, Any], line: str
) -> None:
    name(project, monkeypatch, path=STORE, **entry)
    for variable, value in MUST.items():
        monkeypatch.setenv(variable, value)
    run = await asyncio.to_thread(once, "check", cwd=project)
    assert (run.returncode, run.stderr.count("\n")) == (1, 1)
    with pytest.raises(SystemExit) as caught:
        async with store():
            pass
    for told in (run.stderr, str(caught.value)):
        assert line in told


MINE = "from langgraph.store.memory import InMemoryStore\nmake = InMemoryStore\nnone = 3"


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        ({"path": "./mine.py:make", "once": {"path": "x"}}, f"store.once: has no effect {STORE}"),
        ({"path": "./mine.py:none"}, "store.path: must be a store, or a factory"),
        ({"path": "langgraph_once.platform.store:store"}, f"must be written as '{STORE}'"),
        ({"path": STORE, "onec": {"path": "x"}}, "store.onec: unknown key"),
        ({"once": {"path": "x"}}, "store.once: has no effect without store.path"),
    ],
)
def test_check_finds_what_would_have_no_effect_or_be_no_store(
    project: Path, monkeypatch: pytest.MonkeyPatch, entry: dict[str, Any], line: str
) -> None:
    (project / "mine.py").write_text(MINE)
    name(project, monkeypatch, **entry)
    run = once("check", cwd=project)
    assert (run.returncode, run.stderr.count("\n")) == (1, 1)
    for part in line.split(" has no effect "):
        assert part in run.stderr


def test_check_finds_a_sound_store_fine(project: Path) -> None:
    assert once("check", cwd=project).returncode == 0
