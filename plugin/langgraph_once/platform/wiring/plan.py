"""What has to change in a `langgraph.json` so that its server uses this package."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langgraph_once.manifest import APP, GRAPHS_MODULE, SAVER, STORE, TARGET
from langgraph_once.platform.wiring.find_graphs import module_name
from langgraph_once.platform.wiring.json_text import JsonText


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
