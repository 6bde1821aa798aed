"""What was found, how sure it is, and how it is told. It holds names and ids, never values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, TypeAlias

from langgraph_once.errors import printable

Add: TypeAlias = Callable[[str, str], None]
"""Takes a kind of finding, and what it is about, of the thread that is looked at."""

Certainty = Literal["certain", "likely", "look"]
CERTAINTIES: Final[tuple[Certainty, ...]] = ("certain", "likely", "look")

_KINDS: Final[dict[str, tuple[Certainty, str]]] = {
    "ends": ("certain", "the thread ends without a word: {} was next"),
    "node-gone": ("certain", "the node {} is due, and is not there"),
    "not-due": ("certain", "the node {} is due, and the new graph does not start it"),
    "send-gone": ("certain", "a Send to the node {} waits, and the node is not there"),
    "later-gone": ("certain", "the node {} is to run after those that are due, and is not there"),
    "interrupt-gone": ("certain", "nobody can answer its interrupt: {} is not there"),
    "subgraph-gone": ("certain", "the subgraph {} is under way, and its node is not there"),
    "fails": ("certain", "the next step fails before it begins: {}"),
    "type-gone": ("certain", "the stored type {} is not there"),
    "type-broken": ("certain", "the stored type {} has changed, and cannot be rebuilt"),
    "delta-gone": ("certain", "the channel {} is no DeltaChannel any more: its value is lost"),
    "tool-gone": ("certain", "a call of the tool {} is due, and the tool is not there"),
    "tool-later": ("likely", "a call of the tool {} has no result, and the tool is not there"),
    "task-anew": ("likely", "a task of {} begins again: it has another id, for other triggers"),
    "join-gone": ("likely", "{} waits for several nodes, one of which has run, and is not there"),
    "join-unread": ("likely", "a join before {} cannot be read: its node is deferred, or was"),
    "join-changed": (
        "likely",
        "{} waits for other nodes now, some of which have run: it never runs",
    ),
    "subgraph-inline": ("likely", "{} is under way as a subgraph, and is none: it begins again"),
    "subgraph-new": ("likely", "{} asks, and is a subgraph now: it begins again, and asks anew"),
    "task-new": ("likely", "the node {} would run, which was not due"),
    "type-incomplete": ("likely", "values of {} lack a field that it now requires"),
    "channel-gone": ("likely", "the channel {} is not there: its value is dropped"),
    "value": ("likely", "the channel {} holds what its type does not take"),
    "reducer": ("likely", "the channel {} is updated in another way"),
    "edge-gone": ("likely", "an edge from what is due is not there: {}"),
    "context": ("likely", "a run now needs {} in its context"),
    "passed-by": ("look", "a new node is passed by, as what follows it is due: {}"),
    "run-again": ("look", "the node {} has run, and now comes after what is due: it runs again"),
    "delta-rebuilt": ("look", "{} is no DeltaChannel now: its reducer reads what was written"),
    "ways-unknown": ("look", "where {} leads is declared in one of the two graphs only"),
    "context-asked": ("look", "a run needs {} in its context; `--against` tells whether it did"),
    "subgraph-unknown": ("look", "{} called a subgraph, which cannot be seen from outside"),
    "type-refused": ("look", "the stored type {} is read once `allowed_types` names it"),
    "type-opaque": ("look", "values of the stored type {} are not rebuilt: no setting helps"),
    "unread": ("look", "its newest checkpoint cannot be read: {}"),
}
_MAX_FINDINGS: Final = 1000
"""Bounds the memory that a database takes which is made to name ever new nodes."""
_MAX_NAME: Final = 120


@dataclass(slots=True)
class Finding:
    """What a number of threads would meet.

    Attributes:
        kind: A key that stays; `docs/rehearse.md` lists them.
        certainty: "certain": it will happen; "likely": it happens if the code uses it as its
            names say; "look": the database cannot tell.
        subject: The node, channel, type or tool.
        says: One line for people.
        threads: How many meet it.
        thread_id: One of them.
        checkpoint_ns: Where in that thread.
    """

    kind: str
    certainty: Certainty
    subject: str
    says: str
    threads: int = 0
    thread_id: str = ""
    checkpoint_ns: str = ""
    last: str | None = field(default=None, repr=False)


@dataclass(slots=True)
class Report:
    """What a rehearsal found.

    Attributes:
        threads: How many were looked at.
        under_way: How many of them wait in the middle of a run.
        subgraphs: How many subgraphs under way these have.
        graphs: How many threads each graph of a server has; empty in other databases.
        aliases: What the setting could hold: old name to new one.
        allowed_types: What the setting should hold.
        upgrades: Types that need an upgrade function.
        dropped: Findings too many to keep.
    """

    threads: int = 0
    under_way: int = 0
    subgraphs: int = 0
    graphs: Counter[str] = field(default_factory=Counter)
    aliases: dict[str, str] = field(default_factory=dict)
    allowed_types: set[str] = field(default_factory=set)
    upgrades: set[str] = field(default_factory=set)
    dropped: int = 0
    _found: dict[tuple[str, str], Finding] = field(default_factory=dict)

    def add(self, kind: str, subject: str, thread_id: str, checkpoint_ns: str = "") -> None:
        """Take that a thread meets something."""
        certainty, says = _KINDS[kind]
        found = self._found.get((kind, subject))
        if found is None:
            if len(self._found) >= _MAX_FINDINGS:
                self.dropped += 1
                return
            says = says.format(f"`{printable(subject, _MAX_NAME)}`")
            found = Finding(kind, certainty, subject, says, 0, thread_id, checkpoint_ns)
            self._found[kind, subject] = found
        # Threads come one after the other, so the last one tells whether this one was counted: to
        # keep the ids of all would take memory for each thread and finding.
        found.threads += found.last != thread_id
        found.last = thread_id

    def sorted(self) -> list[Finding]:
        """What was found: what is certain first, and of that what most threads meet."""
        return sorted(self._found.values(), key=_rank)

    def fails_at(self, certainty: Certainty) -> bool:
        """Whether something was found that is at least so sure."""
        least = CERTAINTIES.index(certainty)
        return any(CERTAINTIES.index(each.certainty) <= least for each in self._found.values())

    def as_dict(self) -> dict[str, Any]:
        """For machines."""
        findings = [asdict(each) for each in self.sorted()]
        return {
            "threads": self.threads,
            "under_way": self.under_way,
            "subgraphs": self.subgraphs,
            "graphs": dict(self.graphs),
            "findings": [{k: v for k, v in each.items() if k != "last"} for each in findings],
            "aliases": self.aliases,
            "allowed_types": sorted(self.allowed_types),
            "upgrades": self.stubs(),
            "dropped": self.dropped,
        }

    def stubs(self) -> dict[str, str]:
        """Upgrade functions to be filled in, by the types that need one."""
        return {name: _stub(printable(name)) for name in sorted(self.upgrades)}

    def lines(self) -> list[str]:
        """For people."""
        found = self.sorted()
        under_way = f"{self.under_way:,} of them under way, with {self.subgraphs:,} subgraphs"
        told = [f"{_threads(self.threads)}, {under_way}"]
        for certainty in CERTAINTIES:
            some = [each for each in found if each.certainty == certainty]
            told += ["", f"{certainty}:"] if some else []
            for each in some:
                ns = (
                    f", namespace {printable(each.checkpoint_ns, _MAX_NAME)}"
                    if each.checkpoint_ns
                    else ""
                )
                told.append(f"  {_threads(each.threads)}: {each.says}")
                told.append(f"    e.g. thread {printable(each.thread_id, _MAX_NAME)}{ns}")
        return told if found else [*told, "", "Nothing found."]


def _rank(each: Finding) -> tuple[int, int, str, str]:
    return CERTAINTIES.index(each.certainty), -each.threads, each.kind, each.says


def _stub(name: str) -> str:
    """An upgrade function to be filled in."""
    function = f"upgrade_{name.rpartition(':')[2].replace('.', '_').lower()}"
    return (
        f"def {function}(data: dict, from_version: int) -> dict:\n"
        f'    """Rows of {name} that were stored before."""\n'
        "    return data\n"
    )


def _threads(count: int) -> str:
    return f"{count:,} thread{'s' if count != 1 else ''}"
