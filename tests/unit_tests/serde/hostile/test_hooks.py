"""No row runs code of a class that is merely imported; `docs/security.md` says what else runs."""

from __future__ import annotations

from typing import Any

import pytest

from .families import FAMILIES
from .report import cell, line, results, row_of

COMMAND = "python -m tests.unit_tests.serde.hostile.report"
AT_LEAST = 150
CODECS = ("once1", "msgpack")


def slow(family: str) -> Any:
    return pytest.param(family, marks=pytest.mark.slow)


SOON = ("pydantic model", "dataclass", "Enum", "subclass of set", "exception")
"""The families that are looked at each time; the others take a minute more."""

WHOLE = ("subclass of set", "Flag", "dataclass, slots", "named tuple")
"""Those of which every cell of the document is looked at: what runs of other classes, too."""

HOLDS_VALUES = ("pydantic model", "dataclass", "named tuple", "Enum")
"""Those whose instances come back whatever their methods are."""


@pytest.mark.parametrize(
    "family",
    [f if f in SOON else slow(f) for f in FAMILIES],
)
def test_nothing_of_an_imported_class_runs_and_the_document_says_so(family: str) -> None:
    found = results(family) if family in WHOLE else results(family, ("imported",))
    for codec in CODECS:
        of_codec = found[codec, "imported"]
        assert {name: ran for name, (_, ran) in of_codec.items() if ran} == {}
        assert len(of_codec) >= AT_LEAST, "hooks that do not work show nothing"
    said = row_of(family)
    cells = [cell(found[codec, "imported"]) for codec in CODECS]
    assert [said[1], said[4]] == cells, COMMAND
    if family in HOLDS_VALUES:
        assert refused_methods(found["once1", "imported"]) <= {"method __del__"}
    if family in WHOLE:
        assert line(family).strip("|\n ").split(" | ")[1:] == said, COMMAND


def refused_methods(found: dict[str, tuple[str, tuple[str, ...]]]) -> set[str]:
    return {
        name for name, (back, _) in found.items() if name[:7] == "method " and back != "instance"
    }
