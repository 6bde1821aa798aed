"""The JavaScript front ends are pinned, and their locks name no registry."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration_tests.npm import check_lock

PROJECTS = sorted(Path(__file__).parent.glob("javascript/*/package.json"))


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.parent.name)
def test_each_package_is_pinned_and_no_registry_is_named(project: Path) -> None:
    for package in json.loads(project.read_text())["dependencies"]:
        check_lock(project.parent, package)


def test_there_are_five_of_them() -> None:
    assert len(PROJECTS) == 5
