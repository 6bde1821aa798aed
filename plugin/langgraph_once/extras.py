"""The command that installs an extra, for whoever lacks a package that only some users need."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, requires

_NAME = "langgraph-once"


def install_command(extra: str) -> str:
    """Return the command that adds the packages of an extra to this environment.

    It names them, and not this package: its own name would do only for what came from an index.
    """
    try:
        asked = requires(_NAME) or []
    except PackageNotFoundError:  # imported from a folder that nobody installed
        return f'pip install -e "/path/to/{_NAME}[{extra}]"'
    pairs = [requirement.partition(";") for requirement in asked]
    of_extra = [
        f'"{requirement.strip()}"'
        for requirement, _, marker in pairs
        if marker.replace('"', "'").strip() == f"extra == '{extra}'"
    ]
    return " ".join(["pip install", *of_extra])
