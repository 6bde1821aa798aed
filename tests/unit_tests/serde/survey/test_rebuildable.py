"""How a type stands is what reading answers."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import pytest
from pydantic import BaseModel

from langgraph_once.config import SerdeConfig
from langgraph_once.serde import OnceSerializer, Opaque, storable
from langgraph_once.serde.codecs.once1.format.layout import Ext
from langgraph_once.serde.survey.rebuildable import RANKS, TypeStatus, TypeStatusChecker
from langgraph_once.serde.survey.type_names import Mention, mentions_in
from tests.unit_tests.serde.fidelity import kinds as k

HERE = __name__
T = TypeVar("T")


class Page(BaseModel, Generic[T]):
    items: list[T]


@storable
@dataclass
class Marked:
    x: int


class Plainest:
    def __init__(self) -> None:
        self.x = 1


@dataclass
class Hooked:
    x: int

    def __del__(self) -> None:
        pass


class Outer:
    class Inner(BaseModel):
        x: int = 1


def local() -> Any:
    @dataclass
    class Local:
        x: int

    return Local(1)


VALUES: dict[str, tuple[Any, str]] = {
    "imported": (k.Point(1, 2), "imported"),
    "marked": (Marked(1), "storable"),
    "hooked": (Hooked(1), "line"),
    "an object of any kind": (Plainest(), "line"),
    "a class by itself": ([k.Point], "line"),
    "a function by itself": ([local], "line"),
    "parametrised": (Page[k.Plain](items=[]), "imported"),
    "of a class in need": (Page[Hooked](items=[]), "line"),
    "local": (local(), "lost"),
}


def worst(standings: TypeStatusChecker, row: tuple[str, bytes]) -> TypeStatus:
    """Return how the type stands that stands worst of those in a row."""
    found = [standings.of(mention) for mention in mentions_in("once1", row[1])]
    return max(found, key=lambda each: RANKS[each.word])


@pytest.mark.parametrize("kind", VALUES)
def test_the_status_of_a_type_is_what_reading_finds(kind: str) -> None:
    value, word = VALUES[kind]
    row = OnceSerializer(SerdeConfig(compression="none")).dumps_typed(value)
    standing = worst(TypeStatusChecker(SerdeConfig()), row)
    assert standing.word == word
    read = OnceSerializer(SerdeConfig()).loads_typed(row)
    read = read[0] if type(read) is list else read
    assert (type(read) is Opaque) == (word in ("line", "lost"))


@pytest.mark.parametrize("kind", [kind for kind in VALUES if VALUES[kind][1] == "line"])
def test_the_line_that_is_proposed_helps(kind: str) -> None:
    row = OnceSerializer(SerdeConfig(compression="none")).dumps_typed(VALUES[kind][0])
    line = worst(TypeStatusChecker(SerdeConfig()), row).to_list
    config = SerdeConfig(allowed_types=(line,))
    assert worst(TypeStatusChecker(config), row).word in ("listed", "imported")
    read = OnceSerializer(config).loads_typed(row)
    assert type(read[0] if type(read) is list else read) is not Opaque


def test_a_class_that_moved_is_called_as_it_is_today() -> None:
    moved = Mention("old.place:Thing", "once1", "record")
    assert TypeStatusChecker(SerdeConfig()).of(moved).word == "lost"
    aliases = {"old.place:Thing": f"{HERE}:Marked"}
    assert TypeStatusChecker(SerdeConfig(aliases=aliases)).of(moved) == TypeStatus(
        "storable", f"{HERE}:Marked"
    )


@pytest.mark.parametrize(
    ("name", "kind", "reason"),
    [
        ("json:JSONDecoder", "nobody's", 'no family "nobody\'s" is registered'),
        (f"{HERE}:Marked", "enum", "no class of the family 'enum' any more"),
        ("json:Gone", "record", "gone"),
        ("json.no_such:Gone", "record", "gone"),
        (f"{HERE}:Marked(", "model", "gone"),
        (f"{HERE}:Marked", 14, "nobody taught the codec"),
    ],
)
def test_what_is_lost_has_a_reason(name: str, kind: str | int, reason: str) -> None:
    standing = TypeStatusChecker(SerdeConfig()).of(Mention(name, "once1", kind))
    assert standing.word == "lost"
    assert reason in standing.reason


def test_a_module_that_is_there_and_not_imported_needs_a_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "wsgiref.util", raising=False)  # some other test needs it
    standing = TypeStatusChecker(SerdeConfig()).of(
        Mention("wsgiref.util:FileWrapper", "once1", "record")
    )
    assert (standing.word, standing.to_list) == ("line", "wsgiref.util:FileWrapper")


@pytest.mark.parametrize("name", ["leaf", "other"])
def test_a_module_in_folders_without_init_is_looked_for(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "outermost" / "middle" / "inner"
    folder.mkdir(parents=True)
    (folder / "leaf.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    mention = Mention(f"outermost.middle.inner.{name}:Thing", "once1", "record")
    word = "line" if name == "leaf" else "lost"
    assert TypeStatusChecker(SerdeConfig()).of(mention).word == word


def test_upstreams_names_lead_to_the_class_that_is_nested() -> None:
    mention = Mention(f"{HERE}:Inner", "msgpack", 5)
    assert TypeStatusChecker(SerdeConfig()).of(mention) == TypeStatus(
        "imported", f"{HERE}:Outer.Inner"
    )
    assert TypeStatusChecker(SerdeConfig()).of_class(HERE, "Inner").name == f"{HERE}:Outer.Inner"


@pytest.mark.parametrize("config", [SerdeConfig(), SerdeConfig(allowed_types=("re:compile",))])
def test_a_safe_type_needs_no_line(config: SerdeConfig) -> None:
    def word(name: str) -> str:
        return TypeStatusChecker(config).of(Mention(name, "once1", Ext.FUNCTION)).word

    assert word("re:compile") == "always"
    assert word("re:compile.compile") != "always"
    assert TypeStatusChecker(config).of_class("datetime", "datetime").word == "always"
