"""Whose a module is, for messages about its types."""

from __future__ import annotations

import functools
import re
import sys
import sysconfig
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Final

__all__ = ["owner_of"]

_TOP: Final = re.compile(r"^([^/,\n]+?)(?:\.[^/,\n]*)?[/,]", re.MULTILINE)
"""What a line of `RECORD` says is brought: the folder, or the file without its suffixes."""

_INSTALLED: Final = frozenset({"site-packages", "dist-packages"})


def owner_of(module: str) -> str | None:
    """Return whose `module` is, in words that follow the name of a type in a message.

    Imports nothing and raises nothing, whatever the name, which may come from bytes.

    Returns:
        "of the standard library", "of the package langmem", "of this project", or None where
        nothing is known.
    """
    try:
        return _owner(module)
    except Exception:  # whatever is wrong with what is installed, a message is not the place
        return None


def _owner(module: str) -> str | None:
    if not all(part.isidentifier() for part in module.split(".")):
        # The server makes such names up, of paths, for the graphs of a project.
        return "of this project" if _is_of_project(module) else None
    if module.partition(".")[0] in sys.stdlib_module_names:
        return "of the standard library"
    if _is_of_project(module):
        return "of this project"
    names = _brought_by(module)
    if len(names) == 1:
        return f"of the package {names[0]}"
    return f"of one of the packages {', '.join(names)}" if names else None


def _is_of_project(module: str) -> bool:
    """Whether it was imported from a file that is not among those that are installed."""
    loaded = sys.modules.get(module) or sys.modules.get(module.partition(".")[0])
    # Not by `getattr`, which a module may answer by importing another.
    file = vars(loaded).get("__file__") if isinstance(loaded, ModuleType) else None
    if not isinstance(file, str):
        return False
    path = Path(file).resolve()
    standard = Path(sysconfig.get_path("stdlib")).resolve()
    return not (_INSTALLED & set(path.parts) or path.is_relative_to(standard))


def _brought_by(module: str) -> list[str]:
    """Return the packages that bring it, or most of its parents, as parts of a folder may come
    from many packages."""
    top, *rest = module.split(".")
    nearest = {found: _depth(_record(found), [top, *rest]) for found in _packages().get(top, ())}
    most = max(nearest.values(), default=0)
    return sorted({found.metadata["Name"] for found, depth in nearest.items() if depth == most})


def _depth(record: str, parts: list[str]) -> int:
    """Return how many of `parts`, from the first, name something that `record` brings."""
    lines = f"\n{record}"
    for depth in range(len(parts), 1, -1):
        path = "/".join(parts[:depth])
        if any(f"\n{path}{end}" in lines for end in "/."):
            return depth
    return 1


@functools.cache
def _packages() -> dict[str, list[metadata.Distribution]]:
    """Return what is installed by the first parts of the modules that it brings.

    `importlib.metadata.packages_distributions` takes seconds for the same.
    """
    packages: dict[str, list[metadata.Distribution]] = {}
    for found in metadata.distributions():
        for top in set(_TOP.findall(_record(found))):
            packages.setdefault(top, []).append(found)
    return packages


def _record(found: metadata.Distribution) -> str:
    return found.read_text("RECORD") or (found.read_text("top_level.txt") or "").replace(
        "\n", "/\n"
    )
