"""No row runs code of a class that is merely imported; `docs/security.md` says what else runs."""

from __future__ import annotations

import pytest

from .families import FAMILIES
from .report import MARK, PATH, line, results

COMMAND = "python -m tests.unit_tests.serde.hostile.report > /tmp/new.md, then move it to docs"
_AT_LEAST = 150


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("codec", ["once1", "msgpack"])
def test_nothing_of_an_imported_class_runs(family: str, codec: str) -> None:
    found = results(family)[codec, "imported"]
    assert {name: ran for name, (_, ran) in found.items() if ran} == {}
    assert len(found) >= _AT_LEAST, "hooks that do not work show nothing"


@pytest.mark.parametrize("family", FAMILIES)
def test_the_document_says_what_runs(family: str) -> None:
    assert line(family) in PATH.read_text().partition(MARK)[2], COMMAND


@pytest.mark.parametrize("family", ["pydantic model", "dataclass", "named tuple", "Enum", "str"])
def test_what_only_holds_values_comes_back_whatever_its_methods_are(family: str) -> None:
    name = f"subclass of {family}" if family == "str" else family
    found = results(name)["once1", "imported"]
    methods = {each: back for each, (back, _) in found.items() if each.startswith("method ")}
    assert {each for each, back in methods.items() if back != "instance"} <= {"method __del__"}
