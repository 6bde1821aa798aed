"""The project's own source, as `langgraph.json` names it: reading may import what it imports."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from langgraph_once.manifest import Manifest
from langgraph_once.settings import load_graph_files, load_graph_paths

_MANIFEST = "langgraph.json"
_INSTALLED = frozenset({"site-packages", "dist-packages"})


def project_source(
    given: Sequence[str] = (), *, file: Path | None = None, manifest: Manifest | None = None
) -> tuple[str, ...]:
    """Return the folders of the project, and the files and packages of its graphs.

    The folders are the `dependencies` of the `langgraph.json` in the working directory, which is
    that of the project, in `langgraph dev` and in the image that `langgraph build` makes. The
    server does not hand them over (langgraph-api 0.16.7). Where there is no such file, they are
    those that the graphs are in.

    Args:
        given: What the setting names, instead of those folders.
        file: The `langgraph.json`; by default that of the working directory.
        manifest: As `load_settings`.

    Raises:
        ConfigError: As `load_settings`.
    """
    graphs = [Path(name) for name in load_graph_files(manifest)]
    modules = [each for _, name in load_graph_paths(manifest) for each in _place_of(name)]
    if given:
        folders = [*map(Path, given)]
    else:
        folders = [*_dependencies(file or Path.cwd() / _MANIFEST)]
        folders = folders or [each.parent for each in graphs]
    places = [each.absolute() for each in (*folders, *graphs, *modules)]
    own = [each for each in places if not _INSTALLED & {*each.parts}]
    return tuple(dict.fromkeys(map(str, own)))


def _dependencies(manifest: Path) -> Iterator[Path]:
    try:
        dependencies = json.loads(manifest.read_bytes())["dependencies"]
        folders = [(manifest.parent / name).resolve() for name in dependencies]
    except (OSError, ValueError, TypeError, KeyError):  # the server says what is wrong with it
        return
    yield from (folder for folder in folders if folder.is_dir())


def _place_of(name: str) -> Iterator[Path]:
    """Yield the folders of the package that a graph is in, or the file of its module."""
    try:
        spec = importlib.util.find_spec(name.partition(":")[0].partition(".")[0])
    except (ImportError, ValueError):
        return
    if spec is None:
        return
    if spec.submodule_search_locations is not None:
        yield from map(Path, spec.submodule_search_locations)
    elif spec.origin is not None:
        yield Path(spec.origin)
