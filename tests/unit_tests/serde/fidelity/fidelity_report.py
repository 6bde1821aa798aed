"""Writes build/proof/fidelity.md: `python -m tests.unit_tests.serde.fidelity.fidelity_report`."""

from __future__ import annotations

import logging
import sys
import warnings
from importlib.metadata import version
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from tests.proof import place, table
from tests.unit_tests.serde.fidelity.sameness import difference
from tests.unit_tests.serde.fidelity.table import ROWS, once2

if TYPE_CHECKING:
    from langgraph.checkpoint.serde.base import SerializerProtocol

Outcome = Literal["same", "equal", "changed", "lost", "raises"]

_PACKAGES: Final = (
    "langgraph-checkpoint",
    "langchain-core",
    "pydantic",
    "attrs",
    "numpy",
    "pandas",
    "pyarrow",
    "polars",
)

HEADS: Final = ("value", "JsonPlusSerializer", "once2")

_INTRODUCTION: Final = """\
# What comes back from a checkpoint

Each value of `tests/unit_tests/serde/fidelity/rows_*.py`, written and read by LangGraph's
`JsonPlusSerializer` in its default mode and by `OnceSerializer` with codec `once2`.

- **same**: equal, of the same type, and so is every part of it: items, keys and their order,
  attributes, private ones too, fields that were set, objects that are shared, what contains
  itself.
- **equal**: of the same type and equal for `==`, which does not look at everything: fields that
  were set, private attributes, types inside (`1 == True`), what was one object and is two now.
- **changed**: it comes back, without an error, as something else.
- **lost**: it comes back, without an error, as `None`.
- **raises**: an error on writing or reading.

Left out on purpose: that two references are to one list, dictionary or text; tracebacks of
exceptions and the object of an `AttributeError`; values of cached properties, which are computed
anew; whether an array was read-only; how arrays share memory.
`tests/unit_tests/serde/fidelity/sameness.py` is the comparison.
`python -m tests.unit_tests.serde.fidelity.fidelity_report` writes this page.
"""


def outcome(serde: SerializerProtocol, value: Any) -> Outcome:
    """Return what becomes of `value`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            back = serde.loads_typed(serde.dumps_typed(value))
    except Exception:
        return "raises"
    if back is None and value is not None:
        return "lost"
    if difference(value, back) is None:
        return "same"
    return "equal" if type(back) is type(value) and _is_equal(value, back) else "changed"


def _is_equal(value: Any, back: Any) -> bool:
    try:
        return bool(value == back)
    except ValueError:  # arrays compare item by item
        return bool((value == back).all())
    except TypeError:
        return False


def report() -> str:
    """Return the whole file."""
    logging.disable()  # upstream warns of every class
    upstream, ours = JsonPlusSerializer(), once2()
    results = [(row, outcome(upstream, row.value), outcome(ours, row.value)) for row in ROWS]
    logging.disable(logging.NOTSET)
    lines = [_INTRODUCTION, *_counts(results), ""]
    for group, found in groupby(results, key=lambda result: result[0].group):
        rows = ((row.name, theirs, mine) for row, theirs, mine in found)
        lines += [f"## {group}", "", *table(HEADS, rows, rest="---"), ""]
    return "\n".join(lines).rstrip() + "\n"


def _counts(results: list[Any]) -> list[str]:
    outcomes = get_args(Outcome)
    rows = [
        (serde, *map([each[at] for each in results].count, outcomes))
        for at, serde in enumerate(HEADS[1:], 1)
    ]
    versions = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    python = ".".join(map(str, sys.version_info[:2]))
    return [
        f"Measured with Python {python}, {versions}.",
        "",
        *table([f"of {len(results)} values", *outcomes], rows, rest="---"),
    ]


if __name__ == "__main__":
    place("fidelity").write_text(report(), encoding="utf-8")
