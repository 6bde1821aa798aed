"""A user's `langgraph.json`, wired to this package: in comes its text, out comes a plan.

The graphs in the files of a project are found without importing one. A plan is tried, in a process
of its own: nothing stops that did not stop before. Its text keeps what need not change, as its
author wrote it.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from langgraph_once.errors import ConfigError
from langgraph_once.manifest import APP, GRAPHS_MODULE, SAVER, STORE, TARGET

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


def tried_plan(
    before: str | None,
    graphs: Mapping[str, str],
    *,
    database: str,
    has_store: bool,
    environ: Mapping[str, str],
) -> Plan:
    """Return how a `langgraph.json` is wired so that a server starts with it as it did before.

    A graph that would not load wrapped is left as it is; one of `graphs` that does not load at
    all is left out.

    Args:
        before: The file; None if there is none.
        graphs: Graphs to put into it: id to `./file.py:name`.
        database: What `checkpointer.once.path` is to say; empty to say nothing.
        has_store: Whether the store is to be ours, too.
        environ: Variables that the server is to have.

    Raises:
        ConfigError: The server would not start; the file is none that can be changed.
    """
    left: dict[str, str] = {}
    kept = graphs
    known: set[Trouble] | None = None
    while True:
        plan = _planned(before, kept, database=database, has_store=has_store, leave=left)
        found = troubles(plan.text, environ) if plan.text != before else set()
        if found and known is None:
            known = set() if before is None else troubles(before, {})
        new = found - (known or set())
        reasons = _reasons(new, plan.wrapped, ".once.target") | _reasons(new, kept, "")
        if not reasons:
            break
        left |= reasons
        kept = {name: path for name, path in kept.items() if f"graphs.{name}" not in left}
    _refuse(new, left if graphs and not kept else {})
    return plan


def _planned(before: str | None, graphs: Mapping[str, str], **options: Any) -> Plan:
    try:
        return make_plan(with_graphs(before, graphs), **options)
    except ConfigError:
        raise
    except ValueError as error:
        raise ConfigError("langgraph.json", str(error)) from None


def _reasons(new: set[Trouble], graph_ids: Mapping[str, str], key: str) -> dict[str, str]:
    """Why graphs do not load, by their keys."""
    return {
        f"graphs.{graph_id}": problem
        for graph_id in graph_ids
        for where, problem in new
        if where == f"langgraph.json: graphs.{graph_id}{key}"
    }


def _refuse(new: set[Trouble], left: Mapping[str, str]) -> None:
    new = new | {(f"langgraph.json: {key}", problem) for key, problem in left.items()}
    lines = sorted(": ".join(filter(None, each)) for each in new)
    if lines:
        problem = "nothing is written, since the server would not start: " + "; ".join(lines)
        raise ConfigError("langgraph.json", problem)


Trouble = tuple[str, str]
"""The setting, and what is wrong with it."""

# Imports of a project may take tens of seconds; what takes longer hangs.
_TIMEOUT_S = 120


def troubles(text: str, environ: Mapping[str, str]) -> set[Trouble]:
    """Return what `langgraph-once check` finds, but for hints.

    Args:
        text: The `langgraph.json` of the project in the working directory.
        environ: Variables to set besides those of this process.

    Raises:
        ConfigError: The check itself failed.
    """
    # In the project's folder: paths in a `langgraph.json` count from where it lies.
    number, name = tempfile.mkstemp(prefix=".langgraph-", suffix=".json", dir=Path.cwd())
    try:
        with os.fdopen(number, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        run = _checked(name, environ)
    finally:
        Path(name).unlink()
    try:
        findings = json.loads(run.stdout)["findings"]
    except ValueError:
        last = (run.stderr.strip().splitlines() or [f"exit code {run.returncode}"])[-1]
        problem = f"could not be tried: {last}"
    else:
        return {
            (each["where"], ": ".join(filter(None, [each["place"], each["problem"]])))
            for each in findings
            if each["effect"] != "hint"
        }
    raise ConfigError("langgraph.json", problem)


def _checked(name: str, environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """What `langgraph-once check` says of a file, in a process of its own."""
    try:
        return subprocess.run(  # noqa: S603  # ourselves
            # -P: no module of the project may take the place of one of Python.
            [sys.executable, "-P", "-m", "langgraph_once", "check", "--json", "--config", name],
            env={**os.environ, **environ},
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ConfigError(
            "langgraph.json",
            f"could not be tried in {_TIMEOUT_S} seconds; see `langgraph-once check`",
        ) from None


@dataclass(slots=True)
class Plan:
    """A `langgraph.json` as it is to be, and what stays as it is."""

    text: str
    wrapped: dict[str, str] = field(default_factory=dict)
    """The target of each graph that is wrapped anew, by its id."""
    left: dict[str, str] = field(default_factory=dict)
    """Why other parts are left as they are, by their keys."""


def with_graphs(text: str | None, graphs: Mapping[str, str]) -> str:
    """Return a `langgraph.json` with these graphs, not wired yet.

    Args:
        text: The file, which names no graph if there are some to put into it; None to make one.
        graphs: id to `./file.py:name`.

    Raises:
        ValueError: It is no JSON object, or has a key twice.
    """
    if not graphs and text is not None:
        return text
    changed = JsonText("{}\n" if text is None else text)
    there = json.loads(changed.text)
    new: dict[str, Any] = {"dependencies": ["."], "graphs": dict(graphs)}
    if "source" in there:
        del new["dependencies"]  # LangGraph takes one or the other
    if text is None and Path(".env").is_file():
        new["env"] = ".env"
    for key, value in new.items():
        if key not in there:
            changed.add((), key, value)
        elif not there[key]:
            changed.replace((key,), value)
    return changed.text


def make_plan(text: str, *, database: str, has_store: bool, leave: Mapping[str, str]) -> Plan:
    """Return how a `langgraph.json` is wired, with as few changes as that takes.

    Args:
        text: The file.
        database: What `checkpointer.once.path` is to say; empty to say nothing.
        has_store: Whether the store is to be ours, too.
        leave: Parts to leave as they are, and why: "checkpointer", "http", "store" or
            "graphs.<id>".

    Raises:
        ValueError: It is no JSON object, or has a key twice.
    """
    changed = JsonText(text)
    plan = Plan(text, left=dict(leave))
    manifest = json.loads(text)
    graphs = manifest.get("graphs")
    for graph_id, entry in graphs.items() if isinstance(graphs, dict) else ():
        if f"graphs.{graph_id}" not in leave:
            _wire_graph(graph_id, entry, changed, plan)
    once = {"once": {"path": database}} if database else {}
    for key, inner, path, more in (
        ("checkpointer", "path", SAVER, once),
        ("http", "app", APP, {}),
        *([("store", "path", STORE, {})] if has_store else []),
    ):
        if key not in leave:
            _wire_component(manifest, (key, inner), {inner: path, **more}, changed, plan)
    plan.text = changed.text
    return plan


def _wire_graph(graph_id: str, entry: Any, changed: JsonText, plan: Plan) -> None:
    at = f"graphs.{graph_id}"
    path = entry.get("path") if isinstance(entry, dict) else entry
    if not isinstance(path, str) or (isinstance(entry, dict) and "once" in entry):
        if not (isinstance(path, str) and path.startswith(f"{GRAPHS_MODULE}:")):
            plan.left[at] = "it is written in a way that is not understood here"
        return
    # It is wrapped already.
    if path.startswith(GRAPHS_MODULE):
        return
    file, colon, name = path.rpartition(":")
    if "/" in file:
        module = module_name(Path(file)) if file.endswith(".py") and Path(file).is_file() else None
        if module is None:
            plan.left[at] = _cannot_import(file)
            return
        target = f"{module}:{name}"
    else:
        target = path
    if not colon or not TARGET.fullmatch(target):
        plan.left[at] = f"{path!r} is not understood here"
        return
    ours, once = f"{GRAPHS_MODULE}:{graph_id}", {"target": target}
    if isinstance(entry, dict):
        changed.replace(("graphs", graph_id, "path"), ours)
        changed.add(("graphs", graph_id), "once", once)
    else:
        changed.replace(("graphs", graph_id), {"path": ours, "once": once})
    plan.wrapped[graph_id] = target


def _cannot_import(file: str) -> str:
    if not Path(file).is_file():
        return f"there is no file {file!r}"
    if not file.endswith(".py"):
        return "it is no Python"
    if not Path(file).stem.isidentifier():
        return (
            f"`import` takes no {Path(file).stem!r}, which a wrapped graph needs: rename the file"
        )
    return (
        f"`import` does not find {file!r}, which a wrapped graph needs; if the project is a "
        "package, install it with `pip install -e .` and run this again"
    )


def _wire_component(
    manifest: Mapping[str, Any],
    at: tuple[str, str],
    wanted: dict[str, Any],
    changed: JsonText,
    plan: Plan,
) -> None:
    """Add a component, or our path to it where it has none and says nothing that forbids it."""
    key, inner = at
    there = manifest.get(key)
    if there is None:
        if key in manifest:
            changed.replace((key,), wanted)
        else:
            changed.add((), key, wanted)
    elif not isinstance(there, dict):
        plan.left[key] = "it is no object"
    elif there.get(inner) == wanted[inner]:
        return
    # Without a path it configures LangGraph's own: `serde` there never reaches a custom
    # checkpointer (langgraph-api 0.16.7).
    elif key != "checkpointer" and inner not in there:
        changed.add((key,), inner, wanted[inner])
    else:
        own = there.get(inner)
        how = "; docs/server.md says how it takes ours in" if key == "http" else ""
        plan.left[key] = f"it is {own!r} already{how}" if own else "it is configured already"


_SPACE: Final = re.compile(r"[ \t\n\r]*")
_DECODER: Final = json.JSONDecoder()
# As wide as Black and Ruff keep a line.
_MAX_INLINE: Final = 88


class JsonText:
    """The text of a JSON object, which changes in place.

    Args:
        text: The text.

    Raises:
        ValueError: It is no JSON object, or has a key twice.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        if not isinstance(json.loads(text, object_pairs_hook=_once_each), dict):
            raise ValueError("must be a JSON object")
        # The first key tells how the author indents; without a line break all stays on one line.
        first = re.match(r"\s*\{[ \t]*(\r?\n)([ \t]*)\"", text)
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self._unit = first[2] if first else "  "
        self._is_inline = first is None and text.strip() != "{}"

    def replace(self, path: tuple[str, ...], value: Any) -> None:
        """Put another value in the place of what is at `path`."""
        start, end = self._span(path)
        is_inline = "\n" not in self.text[slice(*self._span(path[:-1]))]
        written = _inline(value) if is_inline else self._written(value, len(path))
        self.text = self.text[:start] + written + self.text[end:]

    def add(self, path: tuple[str, ...], key: str, value: Any) -> None:
        """Put a new key at the end of the object at `path`."""
        start, end = self._span(path)
        members = self._members(start)
        last = max((stop for _, stop in members.values()), default=start + 1)
        is_inline = "\n" not in self.text[start:end] if members else self._is_inline
        if is_inline:
            before, written, after = " " * bool(members), _inline(value), ""
        else:
            before = self._newline + self._unit * (len(path) + 1)
            written = self._written(value, len(path) + 1)
            after = "" if members else self._newline + self._unit * len(path)
        pair = f"{before}{_inline(key)}: {written}{after}"
        tail = self.text[last:] if members else self.text[end - 1 :]
        self.text = self.text[:last] + "," * bool(members) + pair + tail

    def _span(self, path: tuple[str, ...]) -> tuple[int, int]:
        start = self._skip(0)
        for key in path:
            start, _ = self._members(start)[key]
        return start, _DECODER.raw_decode(self.text, start)[1]

    def _members(self, start: int) -> dict[str, tuple[int, int]]:
        """Where the values of the object that begins at `start` are."""
        found: dict[str, tuple[int, int]] = {}
        at = self._skip(start + 1)
        while self.text[at] != "}":
            key, at = _DECODER.raw_decode(self.text, at)
            value = self._skip(self._skip(at) + 1)  # past the colon
            end = _DECODER.raw_decode(self.text, value)[1]
            found[key] = (value, end)
            at = self._skip(end)
            if self.text[at] == ",":
                at = self._skip(at + 1)
        return found

    def _skip(self, at: int) -> int:
        return _SPACE.match(self.text, at).end()  # type: ignore[union-attr]  # it matches always

    def _written(self, value: Any, depth: int) -> str:
        inline = _inline(value)
        inner = value.values() if isinstance(value, dict) else ()
        is_flat = not any(isinstance(each, dict) for each in inner)
        is_short = len(inline) + len(self._unit * depth) <= _MAX_INLINE
        if not isinstance(value, dict) or self._is_inline or (is_flat and is_short and depth > 1):
            return inline
        indent = self._newline + self._unit * (depth + 1)
        pairs = (f"{_inline(key)}: {self._written(each, depth + 1)}" for key, each in value.items())
        return "{" + indent + f",{indent}".join(pairs) + self._newline + self._unit * depth + "}"


def _inline(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    for key, count in Counter(key for key, _ in pairs).items():
        if count > 1:
            raise ValueError(f"has the key {key!r} twice in one object")
    return dict(pairs)
