"""The project's own source, as `langgraph.json` names it. Reading a checkpoint may import it."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

from langgraph_once.manifest import Manifest
from langgraph_once.settings import load_graph_files, load_graph_paths

__all__ = ["project_source"]

_MANIFEST = "langgraph.json"
_INSTALLED = frozenset({"site-packages", "dist-packages"})


def project_source(file: Path | None = None, manifest: Manifest | None = None) -> tuple[str, ...]:
    """Return the folders of the project, and the files that the server loads graphs from.

    The folders are the `dependencies` of the `langgraph.json` in the working directory, which is
    that of the project, in `langgraph dev` and in the image that `langgraph build` makes. The
    server does not hand them over (langgraph-api 0.16.7). Where there is no such file, they are
    those that the graphs are in.

    Args:
        file: The `langgraph.json`; by default that of the working directory.
        manifest: As `load_settings`.

    Raises:
        ConfigError: As `load_settings`.
    """
    files = [Path(name) for name in load_graph_files(manifest)]
    folders = [*_dependencies(file or Path.cwd() / _MANIFEST)]
    if not folders:
        folders = [each.absolute().parent for each in files]
        folders += [folder for _, name in load_graph_paths(manifest) for folder in _folder_of(name)]
    own = [folder for folder in folders if not _INSTALLED & {*folder.parts}]
    return tuple(dict.fromkeys(map(str, [*own, *files])))


def _dependencies(manifest: Path) -> Iterator[Path]:
    try:
        dependencies = json.loads(manifest.read_bytes())["dependencies"]
        folders = [(manifest.parent / name).resolve() for name in dependencies]
    except (OSError, ValueError, TypeError, KeyError):  # the server says what is wrong with it
        return
    yield from (folder for folder in folders if folder.is_dir())


def _folder_of(name: str) -> Iterator[Path]:
    """Yield the folder of the package that a graph is in, if it is in one."""
    try:
        spec = importlib.util.find_spec(name.partition(":")[0].partition(".")[0])
    except (ImportError, ValueError):
        return
    if spec is not None and spec.origin is not None:
        yield Path(spec.origin).absolute().parent
