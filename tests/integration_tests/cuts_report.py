"""Cuts every stream at every event and writes what came of it to `build/proof/cuts.md`.

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
from tests.proof import place

CUTS_HEAD = """# Cut connections

Written by `python -m tests.integration_tests.cuts_report`.

A proxy cuts the stream of a run at each of its events: after the event, within it, within a
character of several bytes, and so that the run ends before the client reconnects. *Exact*: the
client gets each event of the server's log once and in order, and folding the events gives
the state of the thread. *Gap*: a part of mode `gap` says that something may be missing.

| graph | modes | subgraphs | events | cuts | exact | gap | wrong |
|---|---|---|---:|---:|---:|---:|---:|
"""

RESTARTS_HEAD = """
The server ends during a run and starts again on the same saver. After a normal stop it continues
the run. After SIGKILL, `langgraph dev` no longer knows a run younger than ten seconds; then
`StreamInterrupted` is raised, and the caller goes on from the last checkpoint with the ledger of
that error. *Folds*: the events before and after fold to the state of the thread.

| graph | modes | how | behind part | gap reported | interrupted | folds |
|---|---|---|---:|---|---|---|
"""

FORGOTTEN_HEAD = """
The stream is cut, the run ends without its reader, and the server stops and starts again. So the
log of `langgraph dev`, which is in memory, is lost. The client delivers what the state of the
thread proves to be missing. If the state cannot prove that this was all, as with tokens, the
client reports a gap.

| graph | modes | gap reported | folds |
|---|---|---|---|
"""

RESUMES_HEAD = """
The server is killed (SIGKILL) while threads are in the midst of resuming an interrupt, each at a
random moment of that, and starts again. `langgraph dev` may take the first run for running, and
then repeats it: with the stored answer if the resume has written no checkpoint yet, else from its
input. If the run is lost, the caller goes on from the last checkpoint, or answers again if the
graph asks again. *Folds*: in the end the reader has the messages of the thread.

| reader | graph | threads | gap reported | interrupted | folds |
|---|---|---:|---:|---:|---:|
"""
KILLS = 10
MOMENTS = 10
"""How many threads of each reader are in the midst of a resume at each kill."""


def main() -> None:
    """Try all, print each row, write the report."""
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder)) as server,
        asyncio.Runner() as runner,
    ):
        if sys.argv[1:] == ["resumes"]:
            text = place("cuts").read_text(encoding="utf-8").partition(RESUMES_HEAD)[0]
        else:
            text = _cuts(server, runner)
        text += RESUMES_HEAD
        for graph in ("asking", "asking_plain"):
            kills = [
                runner.run(killed_amid_resume(server, graph, seed=seed, moments=MOMENTS))
                for seed in range(KILLS)
            ]
            text += _shown(resume_rows(graph, kills))
    place("cuts").write_text(text, encoding="utf-8")


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
        found = [killed for each in kills for killed in each[reader :: len(READERS)]]
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
