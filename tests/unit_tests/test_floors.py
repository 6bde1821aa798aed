"""Packages that are too old are named, with what to do, before anything is moved."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from langgraph_once.floors import AT_IMPORT, old_packages
from tests.forked import clean_environ, run_once

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def installed(site: Path, **versions: str) -> None:
    """Have metadata there say that other versions are installed."""
    for name, version in versions.items():
        info = site / f"{name}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def imported(module: str, site: Path) -> str:
    """The last line of what a new Python says that fails to import it."""
    run = subprocess.run(
        [sys.executable, "-c", f"import {module}"],
        env=clean_environ(PYTHONPATH=str(site)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    return run.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("name", "version", "needed"),
    [
        ("ormsgpack", "1.12.2", "ormsgpack>=1.13.1"),
        ("ormsgpack", "1.13.0", "ormsgpack>=1.13.1"),
        ("langgraph", "1.0.5", "langgraph>=1.2.22,<1.3"),
    ],
)
def test_an_import_with_an_old_package_says_what_to_install(
    tmp_path: Path, name: str, version: str, needed: str
) -> None:
    installed(tmp_path, **{name: version})
    assert imported("langgraph_once.serde", tmp_path) == (
        f"ImportError: langgraph-once needs {needed} (found {version}): "
        f'run `pip install "{needed}"`, or raise it in your requirements'
    )


def test_all_that_is_too_old_is_in_one_line(tmp_path: Path) -> None:
    installed(tmp_path, ormsgpack="1.12.2", langgraph="1.0.5", brotli="1.0.9")
    both = "langgraph>=1.2.22,<1.3 (found 1.0.5), ormsgpack>=1.13.1 (found 1.12.2)"
    command = 'pip install "langgraph>=1.2.22,<1.3" "ormsgpack>=1.13.1"'
    assert f"needs {both}: run `{command}`" in imported("langgraph_once", tmp_path)


def test_an_import_that_fails_names_any_old_package(tmp_path: Path) -> None:
    installed(tmp_path, langgraph_sdk="0.3.0")
    (tmp_path / "langgraph_sdk").mkdir()
    (tmp_path / "langgraph_sdk" / "__init__.py").touch()
    needed = "needs langgraph-sdk>=0.4.12,<0.5 (found 0.3.0)"
    assert needed in imported("langgraph_once", tmp_path)


def test_a_room_that_the_package_does_not_import_names_any_old_package(tmp_path: Path) -> None:
    installed(tmp_path, cryptography="3.0")
    (tmp_path / "backports").mkdir()
    (tmp_path / "backports" / "__init__.py").touch()  # which has no `zstd`
    (tmp_path / "compression.py").touch()  # nor has that of Python 3.14
    needed = "needs cryptography>=42 (found 3.0)"
    assert needed in imported("langgraph_once.serde.serializer", tmp_path)


def test_an_import_that_fails_for_another_reason_says_that(tmp_path: Path) -> None:
    (tmp_path / "orjson.py").write_text("raise ImportError('wrong machine')\n")
    assert imported("langgraph_once", tmp_path) == "ImportError: wrong machine"


def test_check_and_init_name_old_packages_and_init_writes_nothing(tmp_path: Path) -> None:
    site = tmp_path / "site"
    installed(site, httpx="0.20.0", brotli="1.0.9")
    project = tmp_path / "project"
    project.mkdir()
    (project / "langgraph.json").write_text('{"dependencies": ["."], "graphs": {}}')
    run = run_once("check", cwd=project, PYTHONPATH=str(site))
    assert run.returncode == 1
    assert "needs httpx>=0.25.2 (found 0.20.0)" in run.stderr
    assert "hint: brotli: langgraph-once needs brotli>=1.1 (found 1.0.9)" in run.stdout
    run = run_once("init", "--yes", cwd=project, PYTHONPATH=str(site))
    assert run.returncode == 1
    assert "nothing is written: langgraph-once needs httpx" in run.stderr
    assert [each.name for each in project.iterdir()] == ["langgraph.json"]
    assert "brotli" not in run.stderr


def test_nothing_here_is_old() -> None:
    assert old_packages() == []


def test_the_floors_asked_for_at_import_are_those_of_the_project() -> None:
    asked = {
        name: tuple(map(int, floor.split(".")))
        for name, floor in re.findall(
            r"^([\w-]+)>=([\d.]+)", "\n".join(PROJECT["dependencies"]), re.MULTILINE
        )
    }
    assert {name: asked[name] for name in AT_IMPORT} == AT_IMPORT


def test_the_image_gets_the_same_packages_for_postgresql() -> None:
    """`langgraph.json` names PostgreSQL's packages again, for the image."""
    named = (ROOT / "langgraph.json").read_text()
    for requirement in PROJECT["optional-dependencies"]["postgres"]:
        assert f'"{requirement}"' in named
