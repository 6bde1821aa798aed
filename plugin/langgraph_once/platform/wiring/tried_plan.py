"""A plan that was tried: under it nothing stops that did not stop before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph_once.errors import ConfigError
from langgraph_once.platform.wiring.plan import Plan, make_plan, with_graphs
from langgraph_once.platform.wiring.trial import Trouble, troubles

__all__ = ["tried_plan"]


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
