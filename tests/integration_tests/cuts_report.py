"""Cuts every stream at every event and writes what came of it to `docs/cuts.md`.

python -m tests.integration_tests.cuts_report [resumes]

With `resumes` only the last section is written anew.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from demo.dev_server import DevServer
from tests.integration_tests.cuts import (
    CASES,
    FORGOTTEN,
    RESTARTS,
    Case,
    Outcome,
    cut_once,
    cuts_of,
    finished_while_away,
    outcomes,
    restarted,
    served,
)
from tests.integration_tests.resume_kills import READERS, Killed, killed_amid_resume

REPORT = Path(__file__).parents[2] / "docs" / "cuts.md"

CUTS_HEAD = """# Cut connections

Written by `python -m tests.integration_tests.cuts_report`.

A proxy cuts the stream of a run at each of its events: behind it, amid it, amid a character of
several bytes in it, and so that the run has ended before the client is back. *Exact*: what the
client gets is what the server's log holds, each event once and in order, and folding it gives
the state of the thread. *Gap*: a part of mode `gap` says that something may be missing.

| graph | modes | subgraphs | events | cuts | exact | gap | wrong |
|---|---|---|---:|---:|---:|---:|---:|
"""

RESTARTS_HEAD = """
The server ends amid a run and starts again on the same saver: asked to stop, so that it goes on
with the run, or by SIGKILL, after which `langgraph dev` no longer knows a run younger than ten
seconds; then `StreamInterrupted` tells, and the caller goes on from the last checkpoint with the
ledger that it carries. *Folds*: what came, before and after, folds to the state of the thread.

| graph | modes | how | behind part | gap told | interrupted | folds |
|---|---|---|---:|---|---|---|
"""

FORGOTTEN_HEAD = """
The stream is cut, the run ends while its reader is away, and the server is asked to stop and
starts again: the log of `langgraph dev`, which it keeps in memory, is lost. The state of the
thread tells what was not delivered, and where it cannot prove that this was all, as of tokens, a
gap is told.

| graph | modes | gap told | folds |
|---|---|---|---|
"""

RESUMES_HEAD = """
The server is killed (SIGKILL) at a random moment amid the resume of an interrupt, and starts again.
`langgraph dev` may know the first run as running, and then runs that one again: with the stored
answer if the resume has written no checkpoint yet, else from its input. A caller whose run is lost
goes on from the last checkpoint, or answers where the graph asks again. *Folds*: the messages that
the reader has in the end are those of the thread.

| reader | graph | kills | gap told | interrupted | folds |
|---|---|---:|---:|---:|---:|
"""
KILLS = 50


def main() -> None:
    """Try all, print each row, write the report."""
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder)) as server,
        asyncio.Runner() as runner,
    ):
        if sys.argv[1:] == ["resumes"]:
            text = REPORT.read_text(encoding="utf-8").partition(RESUMES_HEAD)[0]
        else:
            text = _cuts(server, runner)
        text += RESUMES_HEAD
        for graph in ("asking", "asking_plain"):
            kills = [
                runner.run(killed_amid_resume(server, graph, seed=seed)) for seed in range(KILLS)
            ]
            text += _shown(resume_rows(graph, kills))
    REPORT.write_text(text, encoding="utf-8")


def _cuts(server: DevServer, runner: asyncio.Runner) -> str:
    text = CUTS_HEAD
    total: Counter[str] = Counter()
    for case in CASES:
        row, counts = runner.run(_cut_row(server, case))
        total += counts
        text += _shown(row)
    text += _shown(f"| all | | | | {_counts(total)} |\n")
    text += RESTARTS_HEAD
    for line in _restart_rows(server, runner):
        text += _shown(line)
    text += FORGOTTEN_HEAD
    for line in _forgotten_rows(server, runner):
        text += _shown(line)
    return text


def resume_rows(graph: str, kills: Sequence[Sequence[Killed]]) -> str:
    """The rows of one graph: for each kind of reader what came of all kills."""
    shown = "stock" if graph.endswith("_plain") else "`once`"
    rows = ""
    for reader, name in enumerate(READERS):
        found = [each[reader] for each in kills]
        counts = [len(found)]
        counts += [sum(getattr(k, fact) for k in found) for fact in ("gap", "interrupted", "folds")]
        rows += f"| {name} | {shown} | {' | '.join(map(str, counts))} |\n"
    return rows


async def _cut_row(server: DevServer, case: Case) -> tuple[str, Counter[str]]:
    _, events = await cut_once(server, case, None)
    found = await outcomes(server, case, cuts_of(events), at_once=8)
    counts = Counter(_verdict(outcome) for _, outcome in found)
    return f"{_row(case)} {_yes(case.subgraphs)} | {events} | {_counts(counts)} |\n", counts


def _restart_rows(server: DevServer, runner: asyncio.Runner) -> Iterator[str]:
    for restart in RESTARTS:
        found = runner.run(restarted(server, restart))
        facts = (found.gap, found.interrupted, found.folds)
        shown = " | ".join(map(_yes, facts))
        yield f"{_row(restart.case)} {restart.how} | {restart.after} | {shown} |\n"


def _forgotten_rows(server: DevServer, runner: asyncio.Runner) -> Iterator[str]:
    for case in FORGOTTEN:
        found = runner.run(finished_while_away(server, case))
        yield f"{_row(case)} {_yes(found.gap)} | {_yes(found.folds)} |\n"


def _row(case: Case) -> str:
    name, _, plain = case.graph.partition("_")
    graph = "stock" if plain else "`once`"
    return f"| {name}, {graph} | {', '.join(case.modes)} |"


def _verdict(outcome: Outcome) -> str:
    if outcome.exact and outcome.folds:
        return "gap" if outcome.gap else "exact"
    return "gap" if outcome.gap and outcome.folds else "wrong"


def _counts(counts: Counter[str]) -> str:
    return " | ".join(str(n) for n in (counts.total(), *(counts[k] for k in VERDICTS)))


VERDICTS = ("exact", "gap", "wrong")


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"


def _shown(line: str) -> str:
    sys.stdout.write(line)
    sys.stdout.flush()
    return line


if __name__ == "__main__":
    main()
