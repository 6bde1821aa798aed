"""The project's own source: what reading may import, and under which names it is known.

A row may have those modules imported that the graphs import themselves: they would run in any
case. What else lies in the folders (`setup.py`, scripts) is never imported for a row.

The server loads a graph that is named by its file under a name made of the path:
`./src/agent.py` becomes `__src__agent` (langgraph-api 0.16.7, `_graph_from_spec`). Rows hold that
name, and it changes with the folder. So such a name is taken for a file, and the module is the one
that was loaded from it, under whatever name.

The files that the graphs of a project reach by their own imports are found by parsing them; nothing
is imported for that. They are kept as files, since one file has several module names: that of its
package, and one made of its path.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

from langgraph_once.serde.trust.lookup import file_of, find, is_module_name
from langgraph_once.serde.trust.off_loop import off_loop
from langgraph_once.serde.trust.source_file import SourceFiles

__all__ = ["ImportGraph", "Project", "files_run_by"]


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


_FOREIGN: Final = frozenset({"site-packages", "dist-packages", "node_modules"})
_SEPARATOR: Final = "__"


class Project:
    """Folders of source, and the files of its graphs. Thread-safe."""

    def __init__(self, places: Iterable[str] = ()) -> None:
        """Take the folders, and the files, which end in `.py`.

        Where there are no files, the modules that the process has imported stand for them.
        """
        paths = off_loop(lambda: [Path(place).resolve() for place in places])
        self._graphs = frozenset(path for path in paths if path.suffix == ".py")
        self._folders = [path for path in paths if path.suffix != ".py"]
        self._owned: dict[str, bool] = {}
        self._seen: set[str] = set()
        self._loaded: dict[str, dict[Path, str]] = {}
        self._sources = SourceFiles()
        self._imports = ImportGraph(self._sources, self._is_own)
        off_loop(self._imports.start_from, self._graphs)

    def owns(self, module: str) -> bool:
        """Whether an imported module is the project's own: the script that runs always is."""
        if module == "__main__":
            return True
        owned = self._owned.get(module)
        return off_loop(self._lies_within, module) if owned is None else owned

    def _lies_within(self, module: str) -> bool:
        file = file_of(module)
        owned = file is not None and self._is_own(_resolved(file))
        if module in sys.modules:
            self._owned[module] = owned
        return owned

    def reaches(self, module: str) -> bool:
        """Whether a new process may import this imported module, as its graphs do."""
        if module == "__main__":
            return True
        return self.owns(module) and off_loop(self._is_reached, module)

    def _is_reached(self, module: str) -> bool:
        self._note_loaded()
        return self._imports.reaches(files_run_by(module) or [_resolved(file_of(module) or "")])

    def find(self, module: str, path: tuple[str, ...]) -> Any:
        """Return the class of the project that has this name; None if there is none.

        Its module is imported if its source declares a class of that name, and the graphs import
        the module as well.
        """
        if module in sys.modules:
            return None
        if module.startswith(_SEPARATOR):
            loaded = off_loop(self._loaded_as, module)
            if loaded is not None:
                return find(loaded, path)
        if not off_loop(self._may_import, module, path[0]):
            return None
        try:
            importlib.import_module(module)
        except Exception:  # what the project's own code raises
            return None
        return find(module, path)

    def _may_import(self, module: str, name: str) -> bool:
        files = files_run_by(module)
        if not files or not self._is_own(files[-1]):
            return False
        if name not in self._sources.read(files[-1]).classes:
            return False
        self._note_loaded()
        return self._imports.reaches(files)

    def _is_own(self, file: Path) -> bool:
        """Whether a file, which is resolved, is the project's."""
        if file in self._graphs:
            return True
        for folder in self._folders:
            if file.is_relative_to(folder):
                inside = file.relative_to(folder).parts
                return not any(part in _FOREIGN or part.startswith(".") for part in inside)
        return False

    def _note_loaded(self) -> None:
        """Note which of the project's modules were imported since the last time."""
        new = sys.modules.keys() - self._seen
        self._seen |= new
        for name in new:
            file = file_of(name)
            if file is None or not self.owns(name):
                continue
            if not self._graphs:
                self._imports.start_from([_resolved(file)])
            if name == "__main__":
                continue
            names = self._loaded.setdefault(_made_up(file).rpartition(_SEPARATOR)[2], {})
            # What the server loads by path goes before: the row names a class of that.
            if name.startswith(_SEPARATOR) or Path(file) not in names:
                names[Path(file)] = name

    def _loaded_as(self, module: str) -> str | None:
        """Return the name that the file is loaded under which was called `module` once."""
        self._note_loaded()
        wanted = module.split(_SEPARATOR)
        best = 0
        names: list[str] = []
        for file, name in self._loaded.get(wanted[-1], {}).items():
            length = _common_end(_made_up(str(file)).split(_SEPARATOR), wanted)
            if length > best:
                best, names = length, []
            if length == best:
                names.append(name)
        return names[0] if best and len(names) == 1 else None


@functools.lru_cache(8192)
def _resolved(file: str) -> Path:
    """Return `Path(file).resolve()`, in half the time: a process has thousands of modules."""
    path = Path(file)
    return path.resolve() if path.is_symlink() else _resolved_folder(path.parent) / path.name


@functools.lru_cache(4096)
def _resolved_folder(folder: Path) -> Path:
    return folder.resolve()


def _made_up(file: str) -> str:
    """Return the name that langgraph-api 0.16.7 loads a file under."""
    return file.replace("/", _SEPARATOR).replace(".py", "").replace(" ", "_").lstrip(".")


def _common_end(one: list[str], other: list[str]) -> int:
    pairs = zip(reversed(one), reversed(other), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1] != "", pairs))
