"""The graphs in the files of a project, found without importing one; the dotted names of files."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

# Bounds the time of `init` in a folder that holds far more than a project.
_MAX_FILES: Final = 5_000
_LIBRARIES: Final = ("langgraph", "langchain", "deepagents")
_MAKERS: Final = frozenset(
    {"create_agent", "create_react_agent", "create_deep_agent", "create_supervisor"}
)
_ENTRYPOINT: Final = "entrypoint"
_NO_SOURCE: Final = frozenset({"node_modules", "tests", "test", "build", "dist", "__pycache__"})
_GENERAL: Final = frozenset({"graph", "app", "main", "workflow", "compiled", "src", "__init__"})


def find_graphs(folder: Path) -> dict[str, str]:
    """Return the graphs of a project as `langgraph.json` names them: id to `./file.py:name`.

    These are what a module's top level calls by a name and makes with `.compile()`, with
    `create_agent` and its kin, or with `@entrypoint`. Tests and environments are passed over.

    Args:
        folder: The project's.
    """
    found: dict[str, str] = {}
    for file in _files(folder):
        names = list(_graphs_in(file))
        for name in names:
            path = file.relative_to(folder)
            graph_id = _id(name, path, found)
            found[graph_id] = f"./{path.as_posix()}:{name}"
    return found


def _files(folder: Path) -> Iterator[Path]:
    count = 0
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if _is_source(Path(root) / each))
        for name in sorted(files):
            if name.endswith(".py") and not name.startswith("test_"):
                count += 1
                if count > _MAX_FILES:
                    return
                yield Path(root) / name


def _is_source(folder: Path) -> bool:
    hidden = folder.name.startswith(".") or folder.name in _NO_SOURCE
    return not hidden and not (folder / "pyvenv.cfg").exists()


def _graphs_in(file: Path) -> Iterator[str]:
    try:
        text = file.read_text(encoding="utf-8")
        # Parsing takes most of the time, and most files name none of these.
        if not any(library in text for library in _LIBRARIES):
            return
        tree = ast.parse(text)
    except (OSError, ValueError, SyntaxError):
        return
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            target, value = node.target, node.value
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if any(_called(each) == _ENTRYPOINT for each in node.decorator_list):
                yield node.name
            continue
        else:
            continue
        if isinstance(target, ast.Name) and not target.id.startswith("_") and _makes_graph(value):
            yield target.id


def _makes_graph(value: ast.expr) -> bool:
    if not isinstance(value, ast.Call):
        return False
    name = _called(value)
    if name == "compile":
        owner = value.func.value if isinstance(value.func, ast.Attribute) else None
        # `re.compile(…)` is the one common `.compile()` that makes no graph.
        return owner is not None and not (isinstance(owner, ast.Name) and owner.id == "re")
    return name in _MAKERS


def _called(node: ast.expr) -> str | None:
    function = node.func if isinstance(node, ast.Call) else node
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else None


def _id(name: str, file: Path, taken: dict[str, str]) -> str:
    """The most telling name that is not taken: of the variable, the file, a folder."""
    names = [name, file.stem, *reversed(file.parent.parts)]
    telling = [each for each in names if each not in _GENERAL]
    for each in (*telling, *names):
        if each not in taken and each != "__init__":
            return each
    number = next(number for number in range(2, 99_999) if f"{name}_{number}" not in taken)
    return f"{name}_{number}"


def module_name(file: Path) -> str | None:
    """Return the name under which `import` finds just this file; None if there is none.

    In a package it is the name in the outermost package; a folder `src` is none. Packages that
    the file is in are imported.

    Args:
        file: A Python file.
    """
    # Both sides are resolved: a project or an environment may be reached by a link.
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
