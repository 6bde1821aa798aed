"""The command that installs an extra, for whoever lacks a package that only some users need."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

_NAME = "langgraph-once"


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
