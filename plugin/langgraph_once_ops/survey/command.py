"""`langgraph-once survey`: what is in a database, and how much of it is redundant.

The report holds names of channels and ids, never a value.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

import click

from langgraph_once.commands import (
    config_option,
    database_of,
    database_option,
    json_option,
    sized,
    tell,
)
from langgraph_once.errors import printable
from langgraph_once_ops.progress import progress_bar
from langgraph_once_ops.survey.report import Estimate, Survey, Thread, survey
from langgraph_once_ops.survey.sizes import StoreSize, Week, open_snapshot


@click.command("survey", short_help="Say what a database holds, and what it could be without.")
@database_option
@click.option("--exact", is_flag=True, help="Read every thread, instead of a sample.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    default=30.0,
    show_default=True,
    help="For how long threads of the sample are read at most.",
)
@json_option
@config_option
def survey_command(
    database: str | None, exact: bool, seconds: float, for_machines: bool, config: str
) -> None:
    """Say what a database holds, and what it could be without. Nothing is written.

    It reads databases of LangGraph's own savers and of ours, in one snapshot; a role that may
    SELECT is enough, and servers may be running. No value and no key is printed.

    \b
    Examples:
      langgraph-once survey --database threads.sqlite
      langgraph-once survey --database postgresql://reader@host/threads --json
    """
    asked = database_of(config, database)
    with (
        open_snapshot(asked.url, schema=asked.config.schema) as snapshot,
        progress_bar() as progress,
    ):
        found = survey(
            snapshot,
            asked.serde,
            store_once=asked.config.store_once,
            seconds=None if exact else seconds,
            progress=progress,
        )
    tell(as_json(found) if for_machines else as_text(found))


_MOST_CHANNELS: Final = 12
_MOST_WEEKS: Final = 12
_NAME_CHARS: Final = 36
_BAR_CHARS: Final = 30


def as_json(found: Survey) -> str:
    """The report for machines; of what is estimated, with the bounds of 95 %."""
    return json.dumps(
        {
            "threads": found.threads,
            "checkpoints": found.checkpoints,
            "bytes": found.total,
            "bytes_on_disk": found.disk,
            "tables": {
                name: {"rows": found.rows[name], "bytes": size}
                for name, size in found.bytes.items()
            },
            "sampled_threads": found.sampled,
            "sampled_bytes": found.sampled_bytes,
            "exact": found.is_exact,
            "stored_once": {**_bounds(found.after), "bytes_on_disk": round(found.disk_after)},
            "channels": {name: _bounds(each) for name, each in _largest(found.channels)},
            "kinds": {name: _bounds(each) for name, each in _largest(found.kinds)},
            "weeks": {monday: week._asdict() for monday, week in found.weeks.items()},
            "largest": [_thread(each) for each in found.largest],
            "rules": {
                **{
                    f"idle_{days}_days": {"threads": count, **_bounds(Estimate.exactly(size))}
                    for days, (count, size) in found.idle.items()
                },
                **{f"keep_last_{count}": _bounds(each) for count, each in found.kept.items()},
            },
            "leftovers": {
                name: {"count": each.many, **_bounds(each.bytes)}
                for name, each in found.leftovers.items()
            },
            "store": {name: each._asdict() for name, each in found.store.items()},
            "unread": dict(found.unread),
            "unknown_rows": found.unknown,
            "rights": found.rights,
        },
        indent=2,
    )


def _thread(each: Thread) -> dict[str, Any]:
    return {**each._asdict(), "newest": each.newest and each.newest.isoformat()}


def _bounds(each: Estimate) -> dict[str, int]:
    return {"bytes": round(each.value), "low": round(each.low), "high": round(each.high)}


def as_text(found: Survey) -> str:
    """The report for people, at most 80 characters wide."""
    parts = [_head(found)]
    if found.threads:
        parts += [
            _part("If each thing were stored once, and compressed", _after(found)),
            _part("By channel, before compression", _shares(found.channels)),
            _part("By kind of value", _shares(found.kinds)),
            _part("Growth by week", _weeks(found.weeks)),
            _part("Largest threads", _threads(found)),
            _part("What a rule would free", _rules(found)),
            _part("Leftovers, which nobody reads", _leftovers(found)),
        ]
    if found.store:
        parts.append(_part("The store, by namespace", _store(found.store)))
    return "\n\n".join([*parts, "\n".join(_notes(found))]).rstrip()


def _part(title: str, lines: Iterable[str]) -> str:
    return "\n".join([title, *(f"  {line}" for line in lines)])


def _head(found: Survey) -> str:
    return (
        f"{found.threads:,} threads, {found.checkpoints:,} checkpoints: "
        f"{sized(found.total)} of values, {sized(found.disk)} on disk"
    )


def _after(found: Survey) -> Iterator[str]:
    share = found.after.value / max(1, found.total)
    yield f"{sized(found.after.value)} of values instead of {sized(found.total)}: {share:.1%}"
    if not found.is_exact:
        yield f"between {sized(found.after.low)} and {sized(found.after.high)}, in 19 of 20 samples"
    yield f"about {sized(found.disk_after)} on disk, once that is tidied up (VACUUM)"


def _shares(each: dict[str, Estimate]) -> Iterator[str]:
    total = max(1, sum(size.value for size in each.values()))
    ordered = _largest(each)
    for name, size in ordered[:_MOST_CHANNELS]:
        share = size.value / total
        yield f"{_clean(name):{_NAME_CHARS}} {sized(size.value):>9} {share:>6.1%}{_around(size)}"
    if rest := ordered[_MOST_CHANNELS:]:
        left = sum(one.value for _, one in rest)
        yield f"{f'{len(rest)} more':{_NAME_CHARS}} {sized(left):>9} {left / total:>6.1%}"


def _weeks(weeks: dict[str, Week]) -> Iterator[str]:
    shown = sorted(weeks.items())[-_MOST_WEEKS:]
    most = max(1, *(week.bytes for _, week in shown))
    for monday, (count, size) in shown:
        bar = "#" * round(_BAR_CHARS * size / most)
        yield f"{monday or 'not told':10} {count:>13,} checkpoints {sized(size):>9} {bar}".rstrip()
    if len(weeks) > len(shown):
        yield f"and {len(weeks) - len(shown)} weeks before"


def _threads(found: Survey) -> Iterator[str]:
    for each in found.largest:
        day = each.newest.date().isoformat() if each.newest else ""
        size = f"{_clean(each.thread_id):{_NAME_CHARS}} {sized(each.bytes):>9}"
        yield f"{size} {each.checkpoints:>8,} checkpoints {day}".rstrip()


def _rules(found: Survey) -> Iterator[str]:
    for days, (count, size) in found.idle.items():
        name = f"delete {count:,} threads idle for {days} days"
        yield f"{name:{_NAME_CHARS}} {sized(size):>9}"
    for kept, estimate in sorted(found.kept.items(), reverse=True):
        name = (
            f"keep the last {kept} of each thread" if kept > 1 else "keep the last of each thread"
        )
        yield f"{name:{_NAME_CHARS}} {sized(estimate.value):>9}{_around(estimate)}"


def _leftovers(found: Survey) -> Iterator[str]:
    for name, each in found.leftovers.items():
        counted = f"{each.many:,} {name}" if each.many else name
        yield f"{counted:{_NAME_CHARS + 8}} {sized(each.bytes.value):>9}{_around(each.bytes)}"


def _store(store: dict[str, StoreSize]) -> Iterator[str]:
    for name, each in [*store.items()][:_MOST_CHANNELS]:
        line = f"{_clean(name):{_NAME_CHARS}} {sized(each.bytes):>9} {each.items:>8,} items"
        yield line + (f", {each.expired:,} expired" if each.expired else "")
    if all(each.lasting == each.items for each in store.values()):
        yield "no item expires"


def _notes(found: Survey) -> Iterator[str]:
    if found.is_exact and found.threads:
        yield f"All {found.threads:,} threads were read."
    elif found.threads:
        yield (
            f"{found.sampled:,} threads ({sized(found.sampled_bytes)}) were read; what has a ± is "
            "estimated from them."
        )
        yield "--exact reads all."
    if found.unknown:
        yield f"{found.unknown:,} rows are of no thread: what names them is no text."
    for reason, count in found.unread.items():
        yield f"{count:,} values could not be read: {_clean(reason)}"
    if found.rights:
        yield f"This role may also {', '.join(found.rights)}; SELECT is enough for this command."


def _largest(each: dict[str, Estimate]) -> list[tuple[str, Estimate]]:
    return sorted(each.items(), key=lambda one: (-one[1].value, one[0]))


def _around(size: Estimate) -> str:
    half = (size.high - size.low) / 2
    return f"  ± {sized(half)}" if half else ""


def _clean(text: str) -> str:
    """Text of a row that a terminal may show."""
    return printable(text, _NAME_CHARS)
