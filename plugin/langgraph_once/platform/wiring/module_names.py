"""The dotted name of a file: under which the server imports the same file, by its module."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

__all__ = ["module_name"]


def module_name(file: Path) -> str | None:
    """Return the name under which `import` finds just this file; None if there is none.

    In a package it is the name in the outermost package; a folder `src` is none. Packages that
    the file is in are imported.

    Args:
        file: A Python file.
    """
    for name in dict.fromkeys(_candidates(file.resolve())):
        try:
            spec = find_spec(name)
        except Exception:  # noqa: S112  # a package that the file is in raises: not that name
            continue
        if spec is not None and spec.origin and Path(spec.origin).resolve() == file.resolve():
            return name
    return None


def _candidates(file: Path) -> Iterator[str]:
    folder = file.parent
    parts: tuple[str, ...] = () if file.stem == "__init__" else (file.stem,)
    while (folder / "__init__.py").is_file():
        parts = (folder.name, *parts)
        folder = folder.parent
    yield from _name(parts)
    if folder != file.parent:
        return  # a name from farther out would import the package a second time
    for root in map(Path, sys.path):
        if root.is_absolute() and file.is_relative_to(root):
            inner = file.relative_to(root).with_suffix("").parts
            yield from _name(inner if inner[0] != "src" else ())


def _name(parts: tuple[str, ...]) -> Iterator[str]:
    if parts and all(part.isidentifier() for part in parts):
        yield ".".join(parts)
