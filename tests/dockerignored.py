"""Which files of this repository `.dockerignore` keeps out of an image."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

_LINES = (Path(__file__).parents[1] / ".dockerignore").read_text().splitlines()
PATTERNS = [line for line in _LINES if line and not line.startswith("#")]


def is_ignored(name: str) -> bool:
    """Whether a file is, by its path from the root: itself, or a folder that it is in."""
    path = PurePosixPath(name)
    places = [path, *path.parents][:-1]
    return any(
        fnmatch(place.name, pattern.removeprefix("**/"))
        if pattern.startswith("**/")
        else fnmatch(str(place), pattern)
        for place in places
        for pattern in PATTERNS
    )
