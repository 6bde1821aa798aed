"""The list of private names is whole, and upstream has each."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from functools import cache, reduce
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
from langgraph._internal import _constants

import langgraph_once
from tests.canary.private_names import PRIVATE, Private

PACKAGE = Path(langgraph_once.__file__).parent
MODULE = re.compile(r"([a-z]\w*\.)+_[a-z]\w*(\.\w+)*")
OURS = "langgraph_once"
LISTED = {part for name in PRIVATE for part in name.name.split(".")}

DOCUMENTED = {"_asdict", "_fields", "_make", "_replace", "_name_", "_value_", "_exit"}
"""Of named tuples, enums and `os`."""

SINCE_EVER = {"_member_map_", "_value2member_map_"}
"""Of enums: none of these moves from release to release."""

MADE_BY_CLASSES = {"_abc_impl", "_is_protocol"}


@pytest.mark.parametrize("name", PRIVATE, ids=lambda name: f"{name.module}.{name.name}")
def test_upstream_has_each_private_name_of_the_list(
    name: Private, monkeypatch: pytest.MonkeyPatch
) -> None:
    for setting in ("REDIS_URI", "DATABASE_URI"):  # without, parts of the server are not imported
        monkeypatch.setenv(setting, "fake")
    found: Any = importlib.import_module(name.module)
    *outer, last = name.name.split(".")
    for part in outer:
        found = getattr(found, part)
    assert hasattr(found, last) or re.search(rf"\b{last}\b", _source(found))  # set in a method


@pytest.mark.parametrize("test", sorted({name.test for name in PRIVATE}))
def test_the_tests_that_the_list_of_private_names_gives_exist(test: str) -> None:
    found = list(Path("tests").rglob(f"{test}.py"))
    if not found and find_spec("langgraph_once_ops") is None:
        pytest.skip("a test of operations, which are not here")
    assert found


def test_each_private_import_is_listed() -> None:
    """Of modules and of names in them."""
    listed = {(name.module, name.name.partition(".")[0]) for name in PRIVATE}
    assert set(_private_imports()) <= listed


def test_each_private_module_that_a_text_names_is_listed() -> None:
    texts = {text for _, tree in _trees() for text in _texts(tree) if MODULE.fullmatch(text)}
    assert {text for text in texts if _is_upstream(text)} <= {name.module for name in PRIVATE}


def test_each_private_key_that_we_write_out_is_listed() -> None:
    keys = {
        value: name
        for name, value in vars(_constants).items()
        if isinstance(value, str) and value.startswith("__") and not name.startswith("_")
    }
    written = {text for _, tree in _trees() for text in _texts(tree)}
    assert {name for key, name in keys.items() if key in written} <= LISTED


def test_each_private_attribute_that_we_read_is_listed() -> None:
    """What no class of the file defines, and none of the package where it is of `self`."""
    ours = {name for _, tree in _trees() for name in _defined(tree)}
    for path, tree in _trees():
        here = set(_defined(tree))
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(value=value, attr=attr) if re.match(r"_[^_]", attr):
                    of_self = isinstance(value, ast.Name | ast.Call)  # a call of `super` as well
                    known = DOCUMENTED | SINCE_EVER | LISTED | (ours if of_self else here)
                    assert attr in known, f"{path}:{node.lineno} {attr}"


def test_each_private_method_that_we_override_is_listed() -> None:
    overridden = {
        name
        for cls in _classes()
        for base in cls.__mro__[1:]
        if _is_upstream(base.__module__)
        for name in vars(cls).keys() & vars(base).keys() - MADE_BY_CLASSES
        if re.match(r"_[^_]", name)
    }
    assert overridden <= LISTED


def _source(cls: type) -> str:
    """The text of the files in which the class and its bases have their methods."""
    made = [made for base in cls.__mro__ for made in vars(base).values()]
    files = {made.__code__.co_filename for made in made if isinstance(made, FunctionType)}
    return "".join(Path(file).read_text() for file in files if Path(file).is_file())


@cache
def _trees() -> list[tuple[Path, ast.Module]]:
    return [(path, ast.parse(path.read_bytes())) for path in sorted(PACKAGE.rglob("*.py"))]


def _texts(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _private_imports() -> Iterator[tuple[str, str]]:
    for _, tree in _trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and _is_upstream(node.module or ""):
                for alias in node.names:
                    if re.search(r"(^|\.)_", f"{node.module}.{alias.name}"):
                        yield str(node.module), alias.name


def _is_upstream(module: str) -> bool:
    root = module.partition(".")[0]
    return root == "re" or root not in {OURS, *sys.stdlib_module_names}


def _defined(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                yield name


def _classes() -> set[type]:
    modules = pkgutil.walk_packages([str(PACKAGE)], f"{OURS}.")
    found = (vars(importlib.import_module(module.name)).values() for module in modules)
    values: list[Any] = reduce(lambda all_, some: [*all_, *some], found, [])
    return {cls for cls in values if isinstance(cls, type) and cls.__module__.startswith(OURS)}
