"""What one file of Python source says, without running it: what it imports, what it declares."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["Import", "SourceFile", "SourceFiles"]

_MAX_SOURCE_BYTES: Final = 2 * 1024 * 1024
"""A tree takes 250 times that, and a second for each megabyte. Larger files hold data."""

Import = tuple[int, str]
"""How many packages up a relative import starts, 0 for an absolute one, and the name behind it."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """What a file says.

    Attributes:
        imports: What it may import, in functions and under conditions too. Of `from a import b`,
            `a` and `a.b`, as either may be the module.
        classes: The classes that it declares at its top.
    """

    imports: tuple[Import, ...] = ()
    classes: frozenset[str] = frozenset()


class SourceFiles:
    """Files of source, each parsed once for each of its versions."""

    def __init__(self) -> None:
        self._read: dict[Path, tuple[tuple[int, int], SourceFile]] = {}

    def read(self, path: Path) -> SourceFile:
        """Return what a file says; nothing if it cannot be read, is too large, or no Python."""
        try:
            stat = path.stat()
        except (OSError, ValueError):
            return SourceFile()
        version = (stat.st_mtime_ns, stat.st_size)
        known = self._read.get(path)
        if known is None or known[0] != version:
            known = self._read[path] = version, _parsed(path, stat.st_size)
        return known[1]


def _parsed(path: Path, size: int) -> SourceFile:
    if size > _MAX_SOURCE_BYTES:
        return SourceFile()
    try:
        source = path.read_bytes()
        tree = ast.parse(source)
    except (SyntaxError, ValueError, OSError, RecursionError, MemoryError):
        return SourceFile()
    nodes = _statements(tree.body) if _calls_no_import(source) else ast.walk(tree)
    imports = dict.fromkeys(found for node in nodes for found in _imports(node))
    return SourceFile(tuple(imports), frozenset(_classes(tree.body)))


def _calls_no_import(source: bytes) -> bool:
    return b"import_module" not in source and b"__import__" not in source


def _statements(statements: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield all statements, and no expression, of which a file of data has a great many."""
    for node in statements:
        yield node
        for block in _blocks(node):
            yield from _statements(block)


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(node, name, [])
    for part in [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]:
        yield part.body


def _imports(node: ast.AST) -> Iterator[Import]:
    match node:
        case ast.Import(names=names):
            yield from ((0, alias.name) for alias in names)
        case ast.ImportFrom(level=level, module=module, names=names):
            yield level, module or ""
            yield from (
                (level, f"{module}.{alias.name}" if module else alias.name) for alias in names
            )
        case ast.Call(
            func=ast.Name(id="import_module" | "__import__")
            | ast.Attribute(attr="import_module" | "__import__"),
            args=[ast.Constant(value=str(name)), *_],
        ):
            bare = name.lstrip(".")
            yield len(name) - len(bare), bare


def _classes(statements: Iterable[ast.stmt]) -> Iterator[str]:
    """Yield the classes that a module declares at its top, under conditions too."""
    for node in statements:
        match node:
            case ast.ClassDef(name=name):
                yield name
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                continue
            case ast.Assign(targets=targets, value=value):
                yield from _made_classes(targets, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield from _made_classes([target], value)
            case _:
                for block in _blocks(node):
                    yield from _classes(block)


def _made_classes(targets: list[ast.expr], value: ast.expr) -> Iterator[str]:
    """Yield the names of classes that a call makes: `Point = namedtuple("Point", "x y")`."""
    if not isinstance(value, ast.Call):
        return
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
    given = {
        argument.value
        for call in calls
        for argument in [*call.args[:1], *(keyword.value for keyword in call.keywords)]
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    }
    yield from (each.id for each in targets if isinstance(each, ast.Name) and each.id in given)
