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

from langgraph_once.serde.trust.off_loop import off_loop

__all__ = ["in_brackets", "owner_of"]

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
        return off_loop(_owner, module)
    except Exception:  # whatever is wrong with what is installed, a message is not the place
        return None


def in_brackets(module: str) -> str:
    """Return what `owner_of` does, to stand behind the name of a type; empty where that is None."""
    owner = owner_of(module)
    return "" if owner is None else f" ({owner})"


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
    return _is_of_no_installation(file)


@functools.lru_cache(1024)
def _is_of_no_installation(file: str) -> bool:
    path = Path(file).resolve()
    standard = Path(sysconfig.get_path("stdlib")).resolve()
    return not (_INSTALLED & set(path.parts) or path.is_relative_to(standard))


def _brought_by(module: str) -> list[str]:
    """Return the packages that bring it, or most of its parents, as parts of a folder may come
    from many packages."""
    parts = module.split(".")
    if parts[0] not in _packages():
        return []
    places = _places(parts[0])
    paths = ("/".join(parts[:depth]) for depth in range(len(parts), 0, -1))
    return next((sorted(places[path]) for path in paths if path in places), [])


@functools.cache
def _places(top: str) -> dict[str, set[str]]:
    """Return which packages bring what below `top`, by the path without suffix.

    Made once, so that a message costs nothing: reading asks for one for each object it refuses.
    """
    packages = _packages()[top]
    places = {top: {found.metadata["Name"] for found in packages}}
    if len(packages) == 1:
        return places
    for found in packages:
        for line in _record(found).splitlines():
            parts = line.partition(",")[0].partition(".")[0].split("/")
            if parts[0] == top:
                for depth in range(2, len(parts) + 1):
                    places.setdefault("/".join(parts[:depth]), set()).add(found.metadata["Name"])
    return places


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
