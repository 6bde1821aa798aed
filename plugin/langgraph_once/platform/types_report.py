"""Which types the database and the graphs of a project hold, and how each stands.

The report is for people and for machines. It holds names, never values or keys.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Final

from langgraph_once.checkpoint import EmptyDatabaseError, OnceSaver, ReadCell, Source, backend_of
from langgraph_once.errors import SerdeError, printable
from langgraph_once.manifest import Manifest
from langgraph_once.platform.startup import serializer_for
from langgraph_once.platform.targets import CodeTypes, types_of_code
from langgraph_once.serde import (
    RANKS,
    Codec,
    Mention,
    Tag,
    TypeStatus,
    TypeStatusChecker,
    Word,
    environment_line,
    is_yours,
    manifest_line,
    mentions_in,
    proposed,
)
from langgraph_once.settings import Settings

_MAX_TYPES: Final = 10_000
"""Bounds the memory that a database takes which is made to name ever new types."""


_packages = cache(packages_distributions)


@dataclass(slots=True)
class TypeFinding:
    """One type."""

    name: str
    word: Word
    reason: str = ""
    to_list: dict[str, None] = field(default_factory=dict)
    in_code: bool = False
    values: int = 0
    """How many stored values hold it."""
    thread_id: str | None = None
    """Where it was met first."""
    channel: str = ""

    @property
    def owner(self) -> str | None:
        """Whose it is, as "of the package langmem"; None where that is not known."""
        top = self.name.partition(":")[0].partition(".")[0]
        if top in sys.stdlib_module_names:
            return "of the standard library"
        packages = sorted({*_packages().get(top, ())})
        if packages:
            return f"of {'the package' if len(packages) == 1 else 'one of'} {', '.join(packages)}"
        return "of this project" if top in sys.modules else None

    @property
    def needs_attention(self) -> bool:
        """Whether a new process cannot rebuild it under these settings."""
        return self.word in ("line", "lost")

    def take(self, standing: TypeStatus) -> None:
        """Take how it stands in another use of it; the worst counts, and what is surest of it."""
        is_surer = standing.word == self.word and len(standing.reason) < len(self.reason)
        if RANKS[standing.word] > RANKS[self.word] or is_surer:
            self.word, self.reason = standing.word, standing.reason
        if standing.to_list:
            self.to_list[standing.to_list] = None


@dataclass(slots=True)
class TypesReport:
    """What was found."""

    database: str
    exists: bool
    enforcement: str
    allowed_types: tuple[str, ...]
    problems: list[str]
    """Why graphs could not be asked."""
    findings: dict[str, TypeFinding] = field(default_factory=dict)
    values: int = 0
    """How many the database has."""
    unread: Counter[str] = field(default_factory=Counter)
    """How many values could not be looked into, by the reason."""
    dropped: int = 0

    def sorted(self) -> list[TypeFinding]:
        """Return what was found, what needs attention first."""
        return sorted(self.findings.values(), key=lambda each: (-RANKS[each.word], each.name))

    @property
    def attention(self) -> list[TypeFinding]:
        """What a new process cannot rebuild."""
        return [each for each in self.sorted() if each.needs_attention]

    @property
    def proposal(self) -> list[str]:
        """What `allowed_types` should hold; empty if it need not change."""
        met = [name for each in self.attention if each.word == "line" for name in each.to_list]
        if not any(is_yours(name) for name in met):
            return []
        return proposed(met, self.allowed_types)


def report_types(
    settings: Settings, manifest: Manifest, *, config: Path, read_database: bool = True
) -> TypesReport:
    """Return which types the database and the graphs of a project hold.

    Nothing is written, and nothing of a row is built; the graphs are imported.

    Args:
        settings: The settings in force.
        manifest: The `langgraph.json`.
        config: Its path.
        read_database: Or only ask the graphs.

    Raises:
        ConfigError: The settings are wrong.
        StorageError: The database cannot be read.
    """
    serializer = serializer_for(settings, file=config, manifest=manifest)
    serde = serializer.config
    code = types_of_code(manifest)
    backend = backend_of(settings.database)
    name = settings.database.removeprefix("sqlite:///")
    report = TypesReport(
        database=name if backend.file else backend.kind,
        exists=backend.is_there,
        enforcement=serde.enforcement,
        allowed_types=serde.allowed_types,
        problems=code.problems,
    )
    standings = TypeStatusChecker(serde, code.listed)
    _add_code(report, code, standings)
    if read_database and report.exists:
        with backend.open_to_read(config=settings.checkpoint, serde=serializer) as saver:
            try:
                _DatabaseTypes(report, standings).read(saver)
            except EmptyDatabaseError:
                report.exists = False
    return report


def _add_code(report: TypesReport, code: CodeTypes, standings: TypeStatusChecker) -> None:
    for module, *_, name in sorted(code.listed | code.by_file):
        standing = standings.of_class(module, name)
        _finding(report, standing).in_code = True


def _finding(report: TypesReport, standing: TypeStatus) -> TypeFinding:
    found = report.findings.get(standing.name)
    if found is None:
        found = report.findings[standing.name] = TypeFinding(standing.name, "always")
    found.take(standing)
    return found


class _DatabaseTypes:
    """Adds to a report what the rows of a database name."""

    def __init__(self, report: TypesReport, standings: TypeStatusChecker) -> None:
        self._report = report
        self._standings = standings
        self._known: dict[Mention, TypeStatus] = {}

    def read(self, saver: OnceSaver) -> None:
        """Read all of it.

        Raises:
            StorageError: It cannot be read.
        """
        source = Source(saver)
        for thread_id in source.thread_ids():
            for cell in source.cells(thread_id):
                self._report.values += 1
                self._read(thread_id, cell)

    def _read(self, thread_id: str, cell: ReadCell) -> None:
        met: set[str] = set()
        try:
            for channel, tag, data in cell.encoded():
                codec = Tag.parse(tag).codec
                if codec == "pickle":
                    self._report.unread["pickle, which is refused"] += 1
                    continue
                self._take(thread_id, channel, codec, data, met)
        except SerdeError as error:
            self._report.unread[type(error).__name__] += 1
        except (ValueError, TypeError):
            self._report.unread["damaged"] += 1

    def _take(
        self, thread_id: str, channel: str | None, codec: Codec, data: bytes, met: set[str]
    ) -> None:
        for mention, inner in mentions_in(codec, data).items():
            standing = self._standing(mention)
            if standing is None:
                continue
            finding = _finding(self._report, standing)
            finding.values += standing.name not in met
            met.add(standing.name)
            if finding.thread_id is None:
                finding.thread_id, finding.channel = thread_id, channel or inner

    def _standing(self, mention: Mention) -> TypeStatus | None:
        standing = self._known.get(mention)
        if standing is None:
            if len(self._known) >= _MAX_TYPES:
                self._report.dropped += 1
                return None
            standing = self._known[mention] = self._standings.of(mention)
        return standing


_WORDS: Final[dict[Word, str]] = {
    "always": "always allowed",
    "schema": "listed: a graph's state names it",
    "storable": "listed: marked `@storable`",
    "listed": "listed in `allowed_types`",
    "known": "safe: data of a package that is imported",
    "line": "needs a line",
    "lost": "cannot be rebuilt",
}
# Ids and names of channels are texts of users: the line has more to say.
_MAX_CHARS: Final = 60


def as_text(report: TypesReport) -> str:
    """Return the report for people: each type, and the setting to paste."""
    shown = [each for each in report.sorted() if each.word != "always"]
    hidden = len(report.findings) - len(shown)
    rows = [_row(each) for each in shown]
    table = _lines(rows)
    always = (
        f"{hidden} more are always allowed: of Python, LangChain and LangGraph" if hidden else ""
    )
    parts = [_about_database(report), table, always, *_notes(report), *_advice(report)]
    return "\n\n".join(part for part in parts if part)


def as_json(report: TypesReport) -> str:
    """Return the report for machines."""
    proposal = report.proposal
    return json.dumps(
        {
            "database": report.database if report.exists else None,
            "values": report.values,
            "unread": dict(report.unread),
            "enforcement": report.enforcement,
            "problems": report.problems,
            "types": [
                {
                    "name": each.name,
                    "owner": each.owner,
                    "standing": each.word,
                    "reason": each.reason,
                    "needs_attention": each.needs_attention,
                    "in_code": each.in_code,
                    "values": each.values,
                    "thread_id": each.thread_id,
                    "channel": each.channel or None,
                }
                for each in report.sorted()
            ],
            "allowed_types": proposal or None,
        },
        indent=2,
    )


def summary(report: TypesReport) -> str:
    """Return one line about the types that the graphs hold."""
    count = sum(each.word != "always" for each in report.findings.values())
    needy = len(report.attention)
    verdict = (
        f"{needy} cannot be rebuilt in a new process: see `langgraph-once types`"
        if needy
        else "none needs a setting"
    )
    unknown = f"; {len(report.problems)} graph(s) could not be asked" if report.problems else ""
    return f"types: the graphs' states name {count} of their own, {verdict}{unknown}"


def _about_database(report: TypesReport) -> str:
    if not report.exists:
        return f"There is no database yet ({report.database}): these are the types of the graphs."
    return f"{report.database}: {report.values} stored values"


def _row(each: TypeFinding) -> tuple[str, str, str, str]:
    standing = f"{_WORDS[each.word]}: {each.reason}" if each.reason else _WORDS[each.word]
    return each.name, each.owner or "not known", _where(each), standing


def _where(each: TypeFinding) -> str:
    places = ["code"] if each.in_code else []
    if each.thread_id is not None:
        channel = f", channel {printable(each.channel, _MAX_CHARS)}" if each.channel else ""
        thread = printable(each.thread_id, _MAX_CHARS)
        places.append(f"{each.values} values, first in thread {thread}{channel}")
    return "; ".join(places)


def _lines(rows: list[tuple[str, str, str, str]]) -> str:
    lines = []
    for name, owner, where, standing in rows:
        lines += [f"{name} ({owner})", f"    {standing}", f"    in {where}"]
    return "\n".join(map(printable, lines))


def _notes(report: TypesReport) -> list[str]:
    notes = [*report.problems]
    notes += [f"{count} values were not looked into: {why}" for why, count in report.unread.items()]
    if report.dropped:
        notes.append("There are more types than are counted here.")
    if report.enforcement in ("warn", "open"):
        notes.append(f'Under "{report.enforcement}" all types are read; this is for "safe".')
    return ["\n".join(map(printable, notes))] if notes else []


def _advice(report: TypesReport) -> list[str]:
    if not report.attention:
        return ["Nothing to do: no type needs a line."]
    advice = []
    if report.proposal:
        advice.append(
            "To have all of these read, if you trust who writes to the database, put one of these "
            "into `checkpointer.once.serde` of langgraph.json, or into .env:\n\n"
            f"{manifest_line(report.proposal)}\n{environment_line(report.proposal)}"
        )
    if any(each.word == "lost" for each in report.attention):
        advice.append("No line helps those that cannot be rebuilt; the table says what does.")
    return advice
