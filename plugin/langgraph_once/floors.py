"""What must be installed beside this package: how old it may be, and the command that installs it.

Installers keep to what our metadata asks for, but not with `--no-deps`, nor where a project
overrides it. `import langgraph_once` then fails with one line that says what to install. Who
lacks a package that only some users need is told the command for its extra.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Final, NamedTuple

_NAME: Final = "langgraph-once"


def installer() -> str:
    """Return the beginning of a command that installs packages into this environment.

    One that uv made has no pip. In a project, what `uv pip install` adds goes with the next sync.
    """
    try:
        made_by = Path(sys.prefix, "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
    except OSError:  # no virtual environment
        return "pip install"
    if not any(line.partition("=")[0].strip() == "uv" for line in made_by):
        return "pip install"
    return "uv add" if Path("uv.lock").is_file() else "uv pip install"


def install_command(extra: str) -> str:
    """Return the command that adds the packages of an extra to this environment.

    It names them, and not this package: its own name would do only for what came from an index.
    """
    try:
        asked = requires(_NAME) or []
    except PackageNotFoundError:  # imported from a folder that nobody installed
        return f'{installer()} "/path/to/{_NAME}[{extra}]"'
    pairs = [requirement.partition(";") for requirement in asked]
    of_extra = [
        f'"{requirement.strip()}"'
        for requirement, _, marker in pairs
        if marker.replace('"', "'").strip() == f"extra == '{extra}'"
    ]
    return " ".join([installer(), *of_extra])


AT_IMPORT: Final = {"langgraph": (1, 2, 22), "ormsgpack": (1, 13, 1)}
"""Packages of which an older one may be imported, and do harm later: ormsgpack 1.13.0 ends the
process on five damaged bytes. They are asked for at each import; all others would take 50 ms."""

_REQUIREMENT: Final = re.compile(r"([\w.-]+)(?:\[[^\]]*\])?\s*([^;]*)(?:;\s*(.*))?")


class OldPackage(NamedTuple):
    """A package that is older than we need."""

    name: str
    installed: str
    needed: str
    """The versions that we ask for, as `>=1.13.1`."""
    is_optional: bool
    """Whether only an extra asks for it."""


def told(found: Sequence[OldPackage]) -> str:
    """Return in one line what is too old, and what to do."""
    needs = ", ".join(f"{each.name}{each.needed} (found {each.installed})" for each in found)
    wanted = " ".join(f'"{each.name}{each.needed}"' for each in found)
    return f"{_NAME} needs {needs}: run `{installer()} {wanted}`, or raise it in your requirements"


def refuse_old_packages() -> None:
    """Ask for what would do harm later. It reads files, so no later import asks again.

    Raises:
        ImportError: A package is too old.
    """
    if any(_is_older(name, floor) for name, floor in AT_IMPORT.items()):
        _raise_for_old_packages()


@contextmanager
def blame_old_packages() -> Iterator[None]:
    """Import inside: what cannot work with an old package names it.

    Raises:
        ImportError: An import failed, and a package is too old.
    """
    try:
        yield
    except (ImportError, AttributeError, TypeError):
        _raise_for_old_packages()
        raise


def old_packages() -> list[OldPackage]:
    """Return the installed packages that are older than our metadata asks for."""
    try:
        asked = requires(_NAME) or []
    except PackageNotFoundError:  # imported from a folder that nobody installed
        return []
    found: dict[str, OldPackage] = {}
    for requirement in asked:
        matched = _REQUIREMENT.fullmatch(requirement)
        name, versions, marker = matched.groups("") if matched else ("", "", "")
        floor = re.search(r">=([\d.]+)", versions)
        is_for_us = 'extra == "dev"' not in marker.replace("'", '"')
        if floor and is_for_us and _is_older(name, _release(floor[1])):
            needed = ",".join(sorted(versions.strip().split(","), reverse=True))
            optional = "extra" in marker
            found.setdefault(name, OldPackage(name, version(name), needed, optional))
    return list(found.values())


def _raise_for_old_packages() -> None:
    if found := [each for each in old_packages() if not each.is_optional]:
        raise ImportError(told(found), name=found[0].name) from None


def _is_older(name: str, floor: tuple[int, ...]) -> bool:
    try:
        return _release(version(name)) < floor
    except PackageNotFoundError:  # an extra's; or the import will say so
        return False


def _release(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)))
