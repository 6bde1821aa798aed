"""The command that installs an extra is true for how the package was installed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from langgraph_once.extras import install_command

REPOSITORY = {"vcs": "git", "commit_id": "0ae860b4"}


@pytest.mark.parametrize(
    ("noted", "command"),
    [
        (None, 'pip install "langgraph-once[cli]"'),
        (
            {"url": "https://example.org/once.git", "vcs_info": REPOSITORY},
            'pip install "langgraph-once[cli] @ git+https://example.org/once.git@0ae860b4"',
        ),
        (
            {"url": "file:///home/ann/my%20clone", "dir_info": {"editable": True}},
            'pip install -e "/home/ann/my clone[cli]"',
        ),
        (
            {"url": "file:///home/ann/clone", "dir_info": {}},
            'pip install "langgraph-once[cli] @ file:///home/ann/clone"',
        ),
        (
            {"url": "file:///w/langgraph_once-1-py3-none-any.whl", "archive_info": {}},
            'pip install "langgraph-once[cli] @ file:///w/langgraph_once-1-py3-none-any.whl"',
        ),
    ],
    ids=["index", "git", "editable", "folder", "wheel"],
)
def test_an_extra_is_installed_from_where_the_package_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noted: Any, command: str
) -> None:
    info = tmp_path / "langgraph_once-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: langgraph-once\nVersion: 1\n")
    if noted:
        (info / "direct_url.json").write_text(json.dumps(noted))
    monkeypatch.syspath_prepend(tmp_path)
    assert install_command("cli") == command


def test_without_metadata_an_extra_is_installed_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", [])
    assert install_command("cli") == 'pip install "langgraph-once[cli]"'
