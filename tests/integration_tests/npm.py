"""Packages of npm that a test needs, pinned by a lock file beside it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

NO_NETWORK = re.compile("ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENOTCACHED")

NEEDS_NPM = pytest.mark.skipif(
    shutil.which("node") is None or shutil.which("npm") is None,
    reason="node and npm are not installed",
)


def installed(sources: Path, folder: Path) -> Path:
    """Install in `folder` what `sources` pins; skip the test where no registry can be reached."""
    shutil.copytree(
        sources, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules")
    )
    # What the lock pins is checked by its digest: nobody need be asked whether it is still that.
    options = ("--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund")
    done = subprocess.run(
        ["npm", "ci", *options], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode and NO_NETWORK.search(done.stderr):
        pytest.skip("npm cannot reach a registry")
    assert done.returncode == 0, done.stderr
    return folder


def check_lock(sources: Path, package: str) -> None:
    """Assert that the lock file pins `package` as asked for, and names no registry."""
    lock = json.loads((sources / "package-lock.json").read_text())
    pinned = json.loads((sources / "package.json").read_text())["dependencies"][package]
    assert lock["packages"][f"node_modules/{package}"]["version"] == pinned
    entries = [entry for path, entry in lock["packages"].items() if path]
    assert all("resolved" not in entry and "integrity" in entry for entry in entries)
