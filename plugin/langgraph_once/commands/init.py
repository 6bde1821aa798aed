"""`langgraph-once init`: a project's `langgraph.json`, written or completed, and undone."""

from __future__ import annotations

import difflib
import json
import os
import sys
from pathlib import Path
from typing import Any

import click

from langgraph_once.commands.project import CONFIG, parsed_json, prepare, read_file
from langgraph_once.config import CheckpointConfig
from langgraph_once.errors import ConfigError
from langgraph_once.floors import old_packages, told
from langgraph_once.platform import Plan, find_graphs, tried_plan

_RECORD = Path(".langgraph_once", "init.json")
"""What the file was before and after, for `--undo`."""

_OLD_DATA = Path(".langgraph_api")
_DATABASE_URL = "ONCE_DATABASE_URL"
_DEFAULT_DATABASE = CheckpointConfig().path


@click.command("init", short_help="Wire a project: write or complete langgraph.json.")
@click.option(
    "--database",
    metavar="PATH|URL",
    help=f"Where threads go: a file of SQLite, or postgresql://…  [default: {_DEFAULT_DATABASE}]",
)
@click.option(
    "--graph",
    "graphs",
    multiple=True,
    metavar="ID=PATH",
    help="A graph, where langgraph.json names none; else they are looked for.",
)
@click.option("--store", is_flag=True, help="Keep long-term memory in our database, too.")
@click.option("--yes", is_flag=True, help="Write without asking.")
@click.option("--undo", is_flag=True, help="Take back what `init` has written.")
def init_command(
    database: str | None, graphs: tuple[str, ...], store: bool, yes: bool, undo: bool
) -> None:
    """Write or complete the langgraph.json of the project in this folder.

    Your graphs are wrapped, threads go to a database of ours, and event streams are compressed.
    What you have configured yourself stays as it is. The change is tried, shown and asked for
    before it is written. A graph that would not load any more is left as it is.

    \b
    Examples:
      langgraph-once init
      langgraph-once init --database postgresql://user@host/threads
      langgraph-once init --store
      langgraph-once init --graph agent=./src/agent/graph.py:graph --yes
      langgraph-once init --undo
    """
    if undo:
        _undo(yes)
        return
    if old := [each for each in old_packages() if not each.is_optional]:
        raise ConfigError(CONFIG, f"nothing is written: {told(old)}")
    before = _read()
    parsed = json.loads(before or "{}")
    _refuse_what_is_there(parsed, database, graphs)
    path, environ = _database(database)
    found = {} if parsed.get("graphs") else _graphs(graphs)
    plan = tried_plan(before, found, database=path, has_store=store, environ=environ)
    _tell_plan(plan)
    if database is None and not store:
        _refuse_without_graphs(plan)
    if plan.text == before:
        click.echo(f"{CONFIG}: nothing to change")
        return
    if not _is_agreed(before, plan.text, yes):
        return
    _record(before, plan.text)  # first: whatever is written can be taken back
    _write(plan.text)
    _tell_next(parsed, plan.text, environ)


def _read() -> str | None:
    """The file, after preparing this process for its project; None if there is none."""
    data = read_file(CONFIG) if Path(CONFIG).exists() else None
    prepare(parsed_json(CONFIG, b"{}" if data is None else data))
    return None if data is None else data.decode()


def _refuse_what_is_there(
    parsed: dict[str, Any], database: str | None, graphs: tuple[str, ...]
) -> None:
    if graphs and parsed.get("graphs"):
        raise click.UsageError(f"--graph is for a project without graphs; {CONFIG} has some")
    if database is not None and parsed.get("checkpointer"):
        raise click.UsageError(
            f"{CONFIG} has a checkpointer: write the file as its `once.path`, or set a URL as "
            f"{_DATABASE_URL}; `langgraph-once migrate --into` copies the threads there"
        )


def _graphs(given: tuple[str, ...]) -> dict[str, str]:
    pairs = [each.partition("=") for each in given]
    if wrong := [name for name, sign, path in pairs if not (name and sign and path)]:
        raise click.UsageError(f"--graph is written as ID=PATH, got {wrong[0]!r}")
    found = {name: path for name, _, path in pairs} or find_graphs(Path.cwd())
    if not found:
        raise ConfigError(
            CONFIG,
            "names no graph, and none was found in this folder; name one, as with "
            "`langgraph-once init --graph agent=./agent.py:graph`",
        )
    return found


def _database(given: str | None) -> tuple[str, dict[str, str]]:
    """What `checkpointer.once.path` is to say, and the variables that say the rest."""
    if given is None:
        return ("" if os.environ.get(_DATABASE_URL) else _DEFAULT_DATABASE), {}
    try:
        return CheckpointConfig(path=given).path, {}
    except ConfigError:
        return "", {_DATABASE_URL: given}  # it holds a password, which no file may


def _tell_plan(plan: Plan) -> None:
    for graph_id, target in plan.wrapped.items():
        click.echo(f"graphs.{graph_id}: {target} will stream each thing once")
    graphs = json.loads(plan.text).get("graphs") or {}
    for key, reason in plan.left.items():
        is_out = key.startswith("graphs.") and key.removeprefix("graphs.") not in graphs
        click.echo(f"{key}: left {'out' if is_out else 'as it is'}; {reason}")


def _refuse_without_graphs(plan: Plan) -> None:
    """Refuse to wire a project none of whose graphs is wrapped: its readers would gain nothing."""
    graphs = json.loads(plan.text).get("graphs") or {}
    are_wrapped = any(isinstance(entry, dict) and "once" in entry for entry in graphs.values())
    if plan.left.keys() & {f"graphs.{name}" for name in graphs} and not are_wrapped:
        problem = "nothing is written, since no graph would be wrapped; see above what each lacks"
        raise ConfigError(CONFIG, problem)


def _is_agreed(before: str | None, after: str | None, yes: bool) -> bool:
    """Show the difference, and ask where somebody can answer; None stands for no file."""
    _show(before or "", after or "")
    if yes:
        return True
    if not sys.stdin.isatty():
        click.echo("Nothing is written yet; `--yes` writes without asking.")
        return False
    return click.confirm(f"Remove {CONFIG}?" if after is None else f"Write {CONFIG}?", abort=True)


def _write(text: str | None) -> None:
    """Write the file as a whole; None removes it."""
    target = Path(CONFIG).resolve()  # a link stays one
    if text is None:
        target.unlink()
        return
    # In one step, so that a full disk leaves the file as it was and nobody reads half of it.
    draft = target.with_name(f".{target.name}.new")
    draft.write_bytes(text.encode())
    if target.exists():
        draft.chmod(target.stat().st_mode)
    draft.replace(target)


def _show(before: str, after: str) -> None:
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), CONFIG, CONFIG, lineterm=""
    )
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in lines:
        is_title = line.startswith(("+++", "---"))
        click.secho(line, fg=None if is_title else colours.get(line[:1]), bold=is_title or None)


def _record(before: str | None, after: str) -> None:
    record = _recorded()
    if record is not None and record["after"] == before:  # `--undo` takes back both
        before = record["before"]
    _RECORD.parent.mkdir(exist_ok=True)
    _RECORD.write_text(json.dumps({"before": before, "after": after}), encoding="utf-8")


def _recorded() -> Any:
    try:
        return json.loads(_RECORD.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _undo(yes: bool) -> None:
    record = _recorded()
    if record is None:
        raise ConfigError(CONFIG, "nothing to undo: `init` has written nothing in this folder")
    now = _read()
    if now != record["after"]:
        _show(record["after"], record["before"] or "")
        raise ConfigError(
            CONFIG, "has changed since `init`; take these lines back by hand, and keep yours"
        )
    if not _is_agreed(now, record["before"], yes):
        return
    _write(record["before"])
    _RECORD.unlink()
    click.echo(f"{CONFIG} is as it was. What was stored meanwhile stays in its database.")


def _tell_next(before: dict[str, Any], after: str, environ: dict[str, str]) -> None:
    click.echo(f"\n{CONFIG} is written. `langgraph-once init --undo` takes it back.")
    wired = json.loads(after)
    moved = [
        what
        for key, what in (("checkpointer", "threads"), ("store", "long-term memory"))
        if _path(wired, key) != _path(before, key)
    ]
    if moved and _OLD_DATA.is_dir():
        what = " and ".join(moved)
        click.echo(
            f"What `langgraph dev` has kept so far stays in {_OLD_DATA}, unread: {what}. Old "
            "threads are still listed, but cannot go on: delete the folder, or `--undo`."
        )
    if _path(wired, "store") is None:
        click.echo("`langgraph-once init --store` keeps long-term memory in our database, too.")
    if environ:
        click.echo(f"Set {_DATABASE_URL} for the server: it holds a password, and no file says it.")
    if not any(Path(name).is_file() for name in ("pyproject.toml", "setup.py")):
        click.echo(
            "For `langgraph build`, add a pyproject.toml: in the image, the modules of your graphs "
            "must be installed."
        )
    ignored, folder = Path(".gitignore"), _RECORD.parent.name
    is_new = ignored.is_file() and folder not in ignored.read_text(errors="replace")
    if is_new and folder in after:
        click.echo(f"Add {folder}/ to .gitignore: threads are kept there.")
    click.echo("Next: langgraph dev")


def _path(manifest: dict[str, Any], key: str) -> Any:
    component = manifest.get(key)
    return component.get("path") if isinstance(component, dict) else None
