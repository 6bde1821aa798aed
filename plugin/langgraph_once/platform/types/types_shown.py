"""A report of types for people and for machines. It holds names, never values or keys."""

from __future__ import annotations

import json
from typing import Final

from langgraph_once.platform.types.types_report import TypeFinding, TypesReport
from langgraph_once.redaction import printable
from langgraph_once.serde.rebuildable import Word
from langgraph_once.serde.trust.audit import environment_line, manifest_line

_WORDS: Final[dict[Word, str]] = {
    "always": "always allowed",
    "schema": "listed: a graph's state names it",
    "storable": "listed: marked `@storable`",
    "listed": "listed in `allowed_types`",
    "known": "safe: data of a package that is imported",
    "line": "needs a line",
    "lost": "cannot be rebuilt",
}
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
