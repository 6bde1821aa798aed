"""The types in the states of all graphs of a `langgraph.json`, loaded as a server loads them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from langgraph_once.errors import ConfigError
from langgraph_once.manifest import Manifest
from langgraph_once.platform.state_types import graph_types
from langgraph_once.platform.targets import load_file, load_name, load_object

Types = set[tuple[str, ...]]


@dataclass(slots=True)
class CodeTypes:
    """What the graphs' states name, as `(module, name)`."""

    listed: Types = field(default_factory=set)
    """Of graphs that a server lists by itself: those that are named by their module."""
    by_file: Types = field(default_factory=set)
    problems: list[str] = field(default_factory=list)
    """Why graphs could not be asked."""


def types_of_code(manifest: Manifest) -> CodeTypes:
    """Return the types in the states of all graphs. Their modules are imported.

    Raises:
        ConfigError: The manifest is wrong. That a graph cannot be loaded is no error here.
    """
    found = CodeTypes()
    for where, load, kept in _graphs(manifest, found):
        try:
            with contextlib.redirect_stdout(sys.stderr):  # ours is for machines, too
                value = load()
                kept |= graph_types(value)
        except (Exception, SystemExit) as error:  # whatever the user's code raises
            problem = error.problem if isinstance(error, ConfigError) else type(error).__name__
            found.problems.append(f"{where}: cannot be loaded: {problem}")
        else:
            if callable(value) and not hasattr(value, "invoke"):
                found.problems.append(f"{where}: a factory, whose graph is not known before a run")
    return found


def _graphs(manifest: Manifest, found: CodeTypes) -> Iterator[tuple[str, Callable[[], Any], Types]]:
    for where, path in manifest.importable_graphs():
        yield where, partial(load_object, path, where), found.listed
    for where, file, name in manifest.file_graphs():
        yield where, partial(_load_file, file, name, where), found.by_file


def _load_file(file: str, name: str, where: str) -> Any:
    return load_name(load_file(file, where), name, where)
