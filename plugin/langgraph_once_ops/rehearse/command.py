"""`langgraph-once rehearse`: what the threads of a database would meet under a new graph."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, Final

import click
from langgraph.graph import StateGraph
from langgraph.pregel import Pregel

from langgraph_once.checkpoint import Source
from langgraph_once.commands import (
    config_option,
    database_of,
    database_option,
    json_option,
    load_if_there,
    tell,
)
from langgraph_once.errors import ConfigError, OnceError, printable
from langgraph_once.platform import graph_types, load_file, load_name, load_object
from langgraph_once.serde import TypeStatusChecker, proposed
from langgraph_once_ops.progress import progress_bar
from langgraph_once_ops.rehearse import CERTAINTIES, Certainty, Rehearsal, Report, Shape, shape_of

_USAGE: Final = 2


@click.command("rehearse", short_help="Tell what a new graph would do to stored threads.")
@database_option
@click.option(
    "--graph", metavar="GRAPH", required=True, help="The new one: module:name, or ./file.py:name."
)
@click.option("--against", metavar="GRAPH", help="The one before, or what --describe printed.")
@click.option("--graph-id", help="Only threads of this graph, in a server's database.")
@click.option(
    "--fail-on",
    type=click.Choice(CERTAINTIES),
    default="certain",
    show_default=True,
    help="Exit with 1 if something so sure is found.",
)
@json_option
@click.option("--describe", is_flag=True, help="Print the shape of --graph, for a later --against.")
@config_option
def rehearse_command(
    database: str | None,
    graph: str,
    against: str | None,
    graph_id: str | None,
    fail_on: Certainty,
    for_machines: bool,
    describe: bool,
    config: str,
) -> None:
    """Tell what the threads of a database would meet if this graph were deployed.

    Nothing is written, no node runs, no value is printed; a server may be running. The exit
    code is 0 if nothing certain was found, 1 if something was, 2 if it could not be done.

    \b
    Examples:
      langgraph-once rehearse --graph agent.graph:graph
      langgraph-once rehearse --graph ./agent.py:graph --describe > deployed.json
      langgraph-once rehearse --graph agent.graph:graph --against deployed.json
    """
    try:
        if describe:
            load_if_there(config)  # this process is what a server's would be
            tell(json.dumps(shape_of(_graph(graph)).as_dict(), indent=2))
            return
        report, setting = _rehearsed(database, graph, against, graph_id, config)
    except OnceError as error:
        tell(f"langgraph-once: {error}", err=True)
        sys.exit(_USAGE)
    if for_machines:
        tell(json.dumps({**report.as_dict(), "allowed_types": setting}, indent=2))
    else:
        tell("\n".join([*report.lines(), *_advice(report, setting, graph_id)]))
    if not report.threads and report.sorted():  # or a missing key would pass for a sound graph
        why = "no thread could be read, as without its key; `langgraph-once verify` says why"
        tell(f"langgraph-once: {why}", err=True)
        sys.exit(_USAGE)
    sys.exit(report.fails_at(fail_on))


def _rehearsed(
    database: str | None, name: str, against: str | None, graph_id: str | None, config: str
) -> tuple[Report, list[str]]:
    opened = database_of(config, database).lenient()  # and this process is what a server's would be
    graph = _graph(name)
    old = None if against is None else _shape(against, config)
    types = graph_types(graph)
    serde = opened.serde.with_msgpack_allowlist(types)
    type_status = TypeStatusChecker(serde.config, types)
    with opened._replace(serde=serde).to_read() as saver, progress_bar() as progress:
        rehearsal = Rehearsal(
            saver, graph, old=old, type_status=type_status, types=types, graph_id=graph_id
        )
        for thread_id in Source(saver).each_thread(progress):
            rehearsal.thread(thread_id)
    report = rehearsal.report
    setting = proposed(sorted(report.allowed_types), serde.config.allowed_types)
    return report, setting if report.allowed_types else []


def _graph(name: str) -> Pregel[Any, Any, Any, Any]:
    try:
        with redirect_stdout(sys.stderr):
            found = _loaded(name)
            if callable(found) and not isinstance(found, Pregel | StateGraph):
                found = found()
            found = found.compile() if isinstance(found, StateGraph) else found
    except OnceError:
        raise
    except (Exception, SystemExit) as error:  # whatever the user's code raises
        raise ConfigError("--graph", f"{name} cannot be loaded: {type(error).__name__}") from error
    if not isinstance(found, Pregel):
        raise ConfigError("--graph", f"{name} is no graph, nor what makes one without arguments")
    return found


def _loaded(name: str) -> Any:
    """What a name stands for, in the two forms that `langgraph.json` takes."""
    file, _, attribute = name.rpartition(":")
    if "/" not in name:
        return load_object(name, "--graph")
    if not file.endswith(".py"):
        raise ConfigError("--graph", f"{name!r} names no graph of a file, as ./agent.py:graph does")
    return load_name(load_file(file, "--graph"), attribute, "--graph")


def _shape(against: str, config: str) -> Shape:
    """The shape of the graph before: of a file, or asked in a process of its own.

    What that graph imports must not make types known that the new code lacks.
    """
    if not against.endswith(".json"):
        command = [sys.executable, "-m", "langgraph_once", "rehearse", "--describe", "--graph"]
        asked = subprocess.run(  # noqa: S603
            [*command, against, "--config", config], capture_output=True, check=False
        )
        if asked.returncode:
            last = asked.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            raise ConfigError("--against", last.partition("--graph: ")[2] or "cannot be loaded")
        return Shape.of_json(asked.stdout)
    try:
        return Shape.of_json(Path(against).read_bytes())
    except OSError as error:
        raise ConfigError("--against", f"{against} cannot be read: {error.strerror}") from None
    except ValueError:
        raise ConfigError("--against", f"{against} is not what --describe printed") from None


def _advice(report: Report, setting: list[str], graph_id: str | None) -> list[str]:
    told: list[str] = []
    most = report.graphs.most_common(5)
    known = ", ".join(f"{printable(name)} ({count})" for name, count in most)
    if graph_id is None and len(report.graphs) > 1:
        told += ["", f"Threads of several graphs: {known}. Choose by --graph-id."]
    elif graph_id is not None and not report.threads:
        others = f"those here are of {known}" if known else "none here names its graph"
        told += ["", f"No thread is of the graph {graph_id!r}: {others}."]
    if report.aliases or setting:
        told += ["", "For `checkpointer.once.serde` of langgraph.json, if you trust these names:"]
        told += [f'"aliases": {json.dumps(report.aliases)}'] if report.aliases else []
        told += [f'"allowed_types": {json.dumps(setting)}'] if setting else []
    for stub in report.stubs().values():
        told += ["", "An upgrade function, for `upgrades`:", stub.rstrip()]
    if report.dropped:
        told += ["", f"{report.dropped} more findings were too many to keep."]
    return told
