"""The command that installs an extra works however the package itself was installed."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path

import pytest

from langgraph_once.floors import OldPackage, install_command, installer, told

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def normal(requirement: str) -> tuple[str, ...]:
    """A requirement, whose versions a build tool may write in any order."""
    return tuple(sorted(requirement.replace(">", ",>").replace("<", ",<").split(",")))


@pytest.mark.parametrize("extra", sorted(EXTRAS.keys() - {"dev"}))
def test_an_extra_is_installed_by_the_packages_it_stands_for(extra: str) -> None:
    command, beginning = shlex.split(install_command(extra)), installer().split()
    named = command[len(beginning) :]
    assert command == [*beginning, *named]
    assert [normal(each) for each in named] == [normal(each) for each in EXTRAS[extra]]


def test_without_metadata_an_extra_is_installed_from_a_clone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.path", [])
    assert install_command("cli") == f'{installer()} "/path/to/langgraph-once[cli]"'


@pytest.mark.parametrize(
    ("config", "has_lock", "command"),
    [
        ("home = /usr/bin\nuv = 0.13.9\n", True, "uv add"),
        ("home = /usr/bin\nuv = 0.13.9\n", False, "uv pip install"),
        ("home = /usr/uv\n", True, "pip install"),
        (None, True, "pip install"),
    ],
    ids=["of a project of uv", "made by uv", "made by venv", "none"],
)
def test_the_command_is_one_that_the_environment_has(
    config: str | None,
    has_lock: bool,
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.prefix", str(tmp_path / "venv"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "venv").mkdir()
    if config is not None:
        (tmp_path / "venv" / "pyvenv.cfg").write_text(config)
    if has_lock:
        (tmp_path / "uv.lock").touch()
    assert installer() == command
    assert install_command("cli").startswith(f'{command} "click')
    old = OldPackage("ormsgpack", "1.12.2", ">=1.13.1", is_optional=False)
    assert f'run `{command} "ormsgpack>=1.13.1"`' in told([old])
