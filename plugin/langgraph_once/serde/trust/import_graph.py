"""Which files the graphs of a project reach by their own imports. Nothing is imported to tell.

All is said in files, as one file has many names: that of its package, and one made of its path.
"""

from __future__ import annotations

import importlib.util
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from langgraph_once.serde.trust.lookup import is_module_name
from langgraph_once.serde.trust.source_file import SourceFiles

__all__ = ["ImportGraph", "files_run_by"]


class ImportGraph:
    """Follows imports from the files of the graphs, no further than was asked for. Thread-safe."""

    def __init__(self, sources: SourceFiles, is_own: Callable[[Path], bool]) -> None:
        """Take what reads files, and whose imports to follow."""
        self._sources = sources
        self._is_own = is_own
        self._reached: set[Path] = set()
        self._to_follow: deque[Path] = deque()
        self._followed: set[str] = set()
        self._lock = threading.Lock()

    def start_from(self, files: Iterable[Path]) -> None:
        """Follow the imports of these files, too."""
        with self._lock:
            for file in files:
                self._add([file, *_packages_around(file)])

    def reaches(self, files: Iterable[Path]) -> bool:
        """Whether all of these files run when what the graphs import does."""
        wanted = {*files}
        with self._lock:
            while not wanted <= self._reached and self._to_follow:
                file = self._to_follow.popleft()
                for level, name in self._sources.read(file).imports:
                    self._add(self._files_of_import(level, name, file))
        return bool(wanted) and wanted <= self._reached

    def _add(self, files: Iterable[Path]) -> None:
        for file in map(Path.resolve, files):
            if file not in self._reached and self._is_own(file):
                self._reached.add(file)
                self._to_follow.append(file)

    def _files_of_import(self, level: int, name: str, file: Path) -> Iterable[Path]:
        if name and not is_module_name(name):
            return ()
        if level:
            folder = file.parents[level - 1] if level <= len(file.parents) else file.parent
            source = _source_at(folder.joinpath(*name.split("."))) if name else None
            return () if source is None else (source, *_packages_around(source))
        if name in self._followed:
            return ()
        self._followed.add(name)
        return files_run_by(name)


def files_run_by(module: str) -> tuple[Path, ...]:
    """Return the files that importing `module` would run, its own last; none if it has none."""
    if not is_module_name(module):
        return ()
    top, *inner = module.split(".")
    try:
        spec = importlib.util.find_spec(top)  # of a module without parents: nothing is imported
    except (ImportError, ValueError):
        return ()
    if spec is None:
        return ()
    around = [Path(spec.origin)] if spec.has_location and spec.origin else []
    if not inner:
        return tuple(file.resolve() for file in around)
    for folder in map(Path, spec.submodule_search_locations or ()):
        file = _source_at(folder.joinpath(*inner))
        if file is not None:
            between = (folder.joinpath(*inner[:depth]) for depth in range(1, len(inner)))
            inits = (place / "__init__.py" for place in between)
            return tuple(each.resolve() for each in [*around, *filter(Path.is_file, inits), file])
    return ()


def _source_at(place: Path) -> Path | None:
    """Return the file of the module that lies there, whether it is a package or not."""
    files = (place / "__init__.py", place.with_name(f"{place.name}.py"))
    return next((file for file in files if file.is_file()), None)


def _packages_around(file: Path) -> Iterator[Path]:
    """Yield the `__init__.py` of the packages that a file is in."""
    for folder in file.parents:
        init = folder / "__init__.py"
        if not init.is_file():
            return
        yield init
