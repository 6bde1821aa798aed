"""`langgraph-once init`: a project's `langgraph.json`, written or completed, and undone."""

from __future__ import annotations

import difflib
import json
import os
import sys
from pathlib import Path
from typing import Any

import click

from langgraph_once.commands.project import CONFIG, prepare
from langgraph_once.config import CheckpointConfig
from langgraph_once.errors import ConfigError
from langgraph_once.platform.wiring import Plan, find_graphs, make_plan, new_manifest, troubles

__all__ = ["init_command"]

_RECORD = Path(".langgraph_once", "init.json")
"""What the file was before and after, for `--undo`."""

_OLD_THREADS = Path(".langgraph_api")
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
    help="A graph, where there is no langgraph.json yet; else they are looked for.",
)
@click.option("--yes", is_flag=True, help="Write without asking.")
@click.option("--undo", is_flag=True, help="Take back what `init` has written.")
def init_command(database: str | None, graphs: tuple[str, ...], yes: bool, undo: bool) -> None:
    """Write or complete the langgraph.json of the project in this folder.

    Your graphs are wrapped, threads go to a database of ours, and event streams are compressed.
    What you have configured yourself stays as it is. The change is tried, shown and asked for
    before it is written. A graph that would not load any more is left as it is.

    \b
    Examples:
      langgraph-once init
      langgraph-once init --database postgresql://user@host/threads
      langgraph-once init --graph agent=./src/agent/graph.py:graph --yes
      langgraph-once init --undo
    """
    if undo:
        _undo(yes)
        return
    file = Path(CONFIG)
    before = _read(file)
    if before is not None and graphs:
        raise click.UsageError(f"--graph is for a project without {CONFIG}; there is one")
    text = new_manifest(_graphs(graphs), Path.cwd()) if before is None else before
    path, environ = _database(database)
    plan = _tried_plan(text, is_new=before is None, database=path, environ=environ)
    _tell_left(plan)
    if plan.text == before:
        click.echo(f"{CONFIG}: nothing to change")
        return
    _write(file, before, plan.text, yes)
    _record(before, plan.text)
    _tell_next(text, plan.text, environ)


def _read(file: Path) -> str | None:
    try:
        text = file.read_bytes().decode("utf-8") if file.exists() else None
        parsed = json.loads(text) if text is not None else {}
    except OSError as error:
        raise ConfigError(CONFIG, f"cannot be read: {error.strerror}") from None
    except ValueError as error:
        problem = f"is not valid JSON: {error}"
    else:
        if isinstance(parsed, dict):
            prepare(parsed)
            return text
        problem = "must be a JSON object"
    raise ConfigError(CONFIG, problem)


def _graphs(given: tuple[str, ...]) -> dict[str, str]:
    pairs = [each.partition("=") for each in given]
    if wrong := [name for name, sign, path in pairs if not (name and sign and path)]:
        raise click.UsageError(f"--graph is written as ID=PATH, got {wrong[0]!r}")
    found = {name: path for name, _, path in pairs} or find_graphs(Path.cwd())
    if not found:
        raise ConfigError(
            CONFIG,
            "there is none, and no graph was found in this folder; name one, as with "
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


def _tried_plan(text: str, *, is_new: bool, database: str, environ: dict[str, str]) -> Plan:
    """Return a plan under which nothing stops that did not stop before."""
    try:
        plan = make_plan(text, database=database, leave={})
        known: set[tuple[str, str]] | None = set() if is_new else None
        while plan.text != text:
            new = troubles(plan.text, environ)
            if new and known is None:
                known = troubles(text, {})
            new -= known or set()
            leave = {
                f"graphs.{graph_id}": problem
                for graph_id in plan.wrapped
                for where, problem in new
                if where == f"langgraph.json: graphs.{graph_id}.once.target"
            }
            if not leave:
                _refuse(new)
                break
            plan = make_plan(text, database=database, leave=leave | plan.left)
    except ValueError as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(CONFIG, str(error)) from None
    return plan


def _refuse(new: set[tuple[str, str]]) -> None:
    lines = sorted(": ".join(filter(None, each)) for each in new)
    if lines:
        raise ConfigError(
            CONFIG, "nothing is written, since the server would not start: " + "; ".join(lines)
        )


def _tell_left(plan: Plan) -> None:
    for graph_id, target in plan.wrapped.items():
        click.echo(f"graphs.{graph_id}: {target} will stream each thing once")
    for key, reason in plan.left.items():
        click.echo(f"{key}: left as it is; {reason}")


def _write(file: Path, before: str | None, after: str | None, yes: bool) -> None:
    """Show the difference, ask, and write; `after` None removes the file."""
    _show(before or "", after or "")
    if not yes:
        if not sys.stdin.isatty():
            raise ConfigError(CONFIG, "nothing is written; `--yes` writes without asking")
        click.confirm(f"Write {CONFIG}?" if after else f"Remove {CONFIG}?", abort=True)
    target = file.resolve()
    if after is None:
        target.unlink()
        return
    draft = target.with_name(f".{target.name}.new")
    draft.write_bytes(after.encode())
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
    if record is not None and record["after"] == before:
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
    now = _read(Path(CONFIG))
    if now != record["after"]:
        _show(record["after"], record["before"] or "")
        raise ConfigError(
            CONFIG, "has changed since `init`; take these lines back by hand, and keep yours"
        )
    _write(Path(CONFIG), now, record["before"], yes)
    _RECORD.unlink()
    click.echo(f"{CONFIG} is as it was. Threads that were stored meanwhile stay in their database.")


def _tell_next(before: str, after: str, environ: dict[str, str]) -> None:
    click.echo(f"\n{CONFIG} is written. `langgraph-once init --undo` takes it back.")
    is_new_saver = "checkpointer" not in json.loads(before) and "checkpointer" in json.loads(after)
    if is_new_saver and _OLD_THREADS.is_dir():
        click.echo(f"Threads that `langgraph dev` has kept so far stay in {_OLD_THREADS}, unread.")
    if environ:
        click.echo(f"Set {_DATABASE_URL} for the server: it holds a password, and no file says it.")
    if not any(Path(name).is_file() for name in ("pyproject.toml", "setup.py")):
        click.echo(
            "For `langgraph build`, add a pyproject.toml: in the image, the modules of your graphs "
            "must be installed."
        )
    ignored = Path(".gitignore")
    if ignored.is_file() and _RECORD.parent.name not in ignored.read_text(errors="replace"):
        click.echo(f"Add {_RECORD.parent}/ to .gitignore: threads are kept there.")
    click.echo("Next: langgraph dev")
