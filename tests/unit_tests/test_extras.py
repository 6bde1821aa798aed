"""The command that installs an extra works however the package itself was installed."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path

import pytest

from langgraph_once.extras import install_command

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def normal(requirement: str) -> tuple[str, ...]:
    """A requirement, whose versions a build tool may write in any order."""
    return tuple(sorted(requirement.replace(">", ",>").replace("<", ",<").split(",")))


@pytest.mark.parametrize("extra", sorted(EXTRAS.keys() - {"dev"}))
def test_an_extra_is_installed_by_the_packages_it_stands_for(extra: str) -> None:
    command = shlex.split(install_command(extra))
    assert command[:2] == ["pip", "install"]
    assert [normal(each) for each in command[2:]] == [normal(each) for each in EXTRAS[extra]]


def test_without_metadata_an_extra_is_installed_from_a_clone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.path", [])
    assert install_command("cli") == 'pip install -e "/path/to/langgraph-once[cli]"'
