"""The project's own source: what reading may import, and under which names it is known.

The server loads a graph that is named by its file under a name made of the path:
`./src/agent.py` becomes `__src__agent` (langgraph-api 0.16.7, `_graph_from_spec`). Rows hold that
name, and it changes with the folder. So such a name is taken for a file, and the module is the one
that was loaded from it, under whatever name.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from langgraph_once.serde.trust.lookup import find, names_in_module

__all__ = ["Project"]

_FOREIGN: Final = frozenset({"site-packages", "dist-packages", "node_modules"})
_SEPARATOR: Final = "__"
_MAX_SOURCE_BYTES: Final = 4 * 1024 * 1024


class Project:
    """Folders of source, and files that the server loads by their path. Thread-safe."""

    def __init__(self, places: Iterable[str] = ()) -> None:
        """Take the folders, and the files, which end in `.py`."""
        paths = [Path(place).absolute() for place in places]
        self.files = [path for path in paths if path.suffix == ".py"]
        self.folders = [path.resolve() for path in paths if path.suffix != ".py"]
        self._owned: dict[str, bool] = {}

    def owns(self, module: str) -> bool:
        """Whether an imported module is the project's own: the script that runs always is."""
        if module == "__main__":
            return True
        owned = self._owned.get(module)
        if owned is None:
            file = _file_of(module)
            owned = file is not None and self._is_own(file)
            if module in sys.modules:
                self._owned[module] = owned
        return owned

    def find(self, module: str, path: tuple[str, ...]) -> Any:
        """Return the class of the project that has this name; None if there is none.

        Its module is imported if its source declares a class of that name.
        """
        if module in sys.modules:
            return None
        loaded = self._loaded_as(module)
        if loaded is not None:
            return find(loaded, path)
        if not self._declares(module, path[0]):
            return None
        try:
            importlib.import_module(module)
        except Exception:  # what the project's own code raises
            return None
        return find(module, path)

    def _declares(self, module: str, name: str) -> bool:
        file = self._source_of(module)
        if file is None or file.stat().st_size > _MAX_SOURCE_BYTES:
            return False
        try:
            tree = ast.parse(file.read_bytes())
        except (SyntaxError, ValueError, OSError, RecursionError):
            return False
        return name in _declared_in(tree.body)

    def _source_of(self, module: str) -> Path | None:
        """Return the file that importing `module` would run; None if it is not the project's."""
        top, *inner = module.split(".")
        try:
            spec = importlib.util.find_spec(top)  # of a module without parents: nothing is imported
        except (ImportError, ValueError):
            return None
        if spec is None:
            return None
        files = [Path(spec.origin)] if spec.origin and not inner else []
        for folder in spec.submodule_search_locations or ():
            base = Path(folder, *inner)
            files += [base / "__init__.py", base.with_suffix(".py")]
        return next((file for file in files if file.is_file() and self._is_own(file)), None)

    def _is_own(self, file: Path) -> bool:
        file = file.resolve()
        if any(file == own.resolve() for own in self.files):
            return True
        for folder in self.folders:
            if file.is_relative_to(folder):
                inside = file.relative_to(folder).parts
                return not any(part in _FOREIGN or part.startswith(".") for part in inside)
        return False

    def _loaded_as(self, module: str) -> str | None:
        """Return the name that the file is loaded under which was called `module` once."""
        if not module.startswith(_SEPARATOR):
            return None
        wanted = module.split(_SEPARATOR)
        found: dict[str, int] = {}
        for name, file in self._own_modules():
            length = _common_end(_made_up(file).split(_SEPARATOR), wanted)
            if length:
                found[name] = length
        best = max(found.values(), default=0)
        names = [name for name, length in found.items() if length == best]
        return names[0] if len(names) == 1 else None

    def _own_modules(self) -> Iterator[tuple[str, str]]:
        files: dict[str, str] = {}
        # What the server loads by path comes last, and stays: the row names a class of that.
        for name in sorted(sys.modules, key=lambda name: name.startswith(_SEPARATOR)):
            file = _file_of(name)
            if file is not None and name != "__main__" and self.owns(name):
                files[str(file)] = name
        for file_name, name in files.items():
            yield name, file_name


def _file_of(module: str) -> Path | None:
    file = (names_in_module(module) or {}).get("__file__")
    return Path(file).absolute() if isinstance(file, str) else None


def _made_up(file: str) -> str:
    """Return the name that langgraph-api 0.16.7 loads a file under."""
    return file.replace("/", _SEPARATOR).replace(".py", "").replace(" ", "_").lstrip(".")


def _common_end(one: list[str], other: list[str]) -> int:
    length = 0
    for mine, its in zip(reversed(one), reversed(other), strict=False):
        if mine != its or not mine:
            break
        length += 1
    return length


def _declared_in(statements: Iterable[ast.stmt]) -> Iterator[str]:
    """Yield the names that a module declares at its top, as classes or by assigning to them."""
    for node in statements:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.If | ast.Try):
            yield from _declared_in([*node.body, *node.orelse])
            for handler in getattr(node, "handlers", ()):
                yield from _declared_in(handler.body)
