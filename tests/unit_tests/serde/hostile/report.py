"""Writes docs/security.md: `python -m tests.unit_tests.serde.hostile.report`.

The text around the tables is kept. With `table` behind it, only the table that decides is written,
which takes no time.
"""

from __future__ import annotations

import functools
import gc
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from langgraph_once.serde.trust.policy import TABLE, Code

from .families import FAMILIES, Family
from .hooks import HOOKS, SPECIALS, Hook
from .rows import TRUSTS, Trust, findings, fires
from .zoo import specimen

__all__ = [
    "COMMAND",
    "MARK",
    "PATH",
    "TABLE_MARK",
    "cell",
    "line",
    "results",
    "row_of",
    "table_lines",
]

COMMAND: Final = "python -m tests.unit_tests.serde.hostile.report"
PATH: Final = Path(__file__).parents[4] / "docs" / "security.md"
MARK: Final = "<!-- generated below -->\n"
TABLE_MARK: Final = "<!-- generated: the table of trust/policy.py -->\n"
_HEAD: Final = (
    "| family | hooks | once1: imported | own | listed | upstream's rows: imported | own | listed |"
)


@contextmanager
def _quiet() -> Iterator[None]:
    """Let hooks fail where Python can only print that: in `__del__`."""
    shown = sys.unraisablehook
    sys.unraisablehook = lambda *_: None
    gc.freeze()
    gc.disable()  # so that what is new is young, which is collected quickly
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        gc.enable()
        gc.collect()
        sys.unraisablehook = shown


def _hooks(family: Family) -> Iterator[tuple[str, Hook, Any]]:
    own = {n: make for n, (names, make) in SPECIALS.items() if family.name.startswith(names)}
    for name, make in {**HOOKS, **own}.items():
        with suppress(Exception):  # a class of this family cannot have such a hook
            hook = make()
            cls = specimen(family, hook)
            if fires(family, hook, cls):
                yield name, hook, cls


@functools.cache
def results(
    family_name: str, trusts: tuple[Trust, ...] = TRUSTS
) -> dict[tuple[str, str], dict[str, tuple[str, tuple[str, ...]]]]:
    """Return, by codec and trust, what each hook's class came back as, and what ran of it."""
    family = FAMILIES[family_name]
    found: dict[tuple[str, str], dict[str, tuple[str, tuple[str, ...]]]] = {}
    with _quiet():
        for name, _, cls in _hooks(family):
            for each in findings(family, cls, trusts):
                found.setdefault((each.codec, each.trust), {})[name] = each.back, each.ran
    return found


def line(family_name: str) -> str:
    """Return the line of the table for a family."""
    found = results(family_name)
    count = len(next(iter(found.values())))
    return f"| {family_name} | {count} | {' | '.join(map(cell, found.values()))} |\n"


def row_of(family_name: str) -> list[str]:
    """Return the cells of the committed table for a family, without its name."""
    for text in PATH.read_text().partition(MARK)[2].splitlines():
        name, *cells = [part.strip() for part in text.strip("|").split(" | ")]
        if name == family_name:
            return cells
    return []


def cell(found: dict[str, tuple[str, tuple[str, ...]]]) -> str:
    backs = [back for back, _ in found.values()]
    if {*backs} <= {"nothing was written", "another: str"}:  # upstream writes the text of errors
        return "not written"
    refused = sum(back != "instance" for back in backs)
    ran = sorted({name.split()[-1] for name, (_, hooks) in found.items() if hooks})
    text = "none runs" if not ran else "runs " + ", ".join(f"`{name}`" for name in ran)
    return f"{text}; {refused} refused" if refused else text


def table_lines() -> Iterator[str]:
    """Yield the lines of the table that decides; types that stand alike share one."""
    names = [code.name.lower() for code in Code]
    heads = [*(f"read: {name}" for name in names), *(f"write: {name}" for name in names[:-1])]
    yield f"| `enforcement` | type | {' | '.join(heads)} |"
    yield "|---" * (2 + len(heads)) + "|"
    for enforcement, rows in TABLE.items():
        for (reading, writing), alike in groupby(rows, key=rows.__getitem__):
            types = ", ".join(trust.name.lower() for trust in alike)
            cells = (each.value for each in (*reading, *writing[:-1]))  # none is written as a call
            said = (": ".join(filter(None, value)) for value in cells)
            yield f"| `{enforcement}` | {types} | {' | '.join(said)} |"


if __name__ == "__main__":
    before, _, after = PATH.read_text().split(TABLE_MARK)
    table = "\n".join(("", *table_lines(), "", ""))
    text = TABLE_MARK.join((before, table, after))
    if sys.argv[1:] != ["table"]:
        found = [f"{_HEAD}\n", "|---|---|---|---|---|---|---|---|\n", *map(line, FAMILIES)]
        text = text.partition(MARK)[0] + MARK + "\n" + "".join(found)
    PATH.write_text(text)
