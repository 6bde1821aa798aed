"""Database files that we make are their owner's alone; those that are there stay as they are."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from langgraph_once.checkpoint import OnceSqliteSaver

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")


def mode(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    file = tmp_path / "threads.sqlite"
    with OnceSqliteSaver.from_conn_string(str(file)) as saver:
        saver.setup()
        assert {each.name: mode(each) for each in tmp_path.iterdir()} == {
            each.name: 0o600 for each in tmp_path.iterdir()
        }


def test_a_file_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "threads.sqlite"
    file.touch()
    file.chmod(0o640)
    with OnceSqliteSaver.from_conn_string(str(file)) as saver:
        saver.setup()
    assert mode(file) == 0o640
