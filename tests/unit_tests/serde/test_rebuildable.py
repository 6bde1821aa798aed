"""How a type stands is what reading answers."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import BaseModel

from langgraph_once.config import SerdeConfig
from langgraph_once.serde import OnceSerializer, storable
from langgraph_once.serde.format import head_bytes
from langgraph_once.serde.opaque import STAND_INS
from langgraph_once.serde.types_in_rows import (
    RANKS,
    Mention,
    TypeStatus,
    TypeStatusChecker,
    mentions_in,
)
from tests.unit_tests.serde.fidelity import kinds as k

HERE = __name__
T = TypeVar("T")


class Page(BaseModel, Generic[T]):
    items: list[T]


@dataclass
class Simple:
    x: int


@storable
@dataclass
class Marked:
    x: int


class Restored:
    def __init__(self) -> None:
        self.x = 1

    def __setstate__(self, state: Any) -> None:
        vars(self).update(state)


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
    "of Python": ({1, 2.5}, "always"),
    "a dataclass": (Simple(1), "known"),
    "marked": (Marked(1), "storable"),
    "with a finalizer": (Hooked(1), "line"),
    "restored by its own code": (Restored(), "line"),
    "a class by itself": ([k.Point], "known"),
    "a function by itself": ([local], "line"),
    "parametrised": (Page[k.Plain](items=[]), "known"),
    "of a class in need": (Page[Hooked](items=[]), "line"),
    "local": (local(), "lost"),
}


def worst(checker: TypeStatusChecker, row: tuple[str, bytes]) -> TypeStatus:
    """Return how the type stands that stands worst of those in a row."""
    found = [TypeStatus("always", "")]
    found += [checker.of(mention) for mention in mentions_in(*row)]
    return max(found, key=lambda each: RANKS[each.word])


def is_stand_in(value: Any) -> bool:
    return type(value[0] if type(value) is list else value) in STAND_INS


@pytest.mark.parametrize("kind", VALUES)
def test_the_status_of_a_type_is_what_reading_finds(kind: str) -> None:
    value, word = VALUES[kind]
    row = OnceSerializer(SerdeConfig(compression="none")).dumps_typed(value)
    assert worst(TypeStatusChecker(SerdeConfig()), row).word == word
    assert is_stand_in(OnceSerializer().loads_typed(row)) == (word in ("line", "lost"))


@pytest.mark.parametrize("kind", VALUES)
def test_the_status_of_a_type_in_langgraphs_rows_is_what_reading_finds(kind: str) -> None:
    try:
        row = JsonPlusSerializer().dumps_typed(VALUES[kind][0])
    except TypeError:  # LangGraph does not write it
        return
    status = worst(TypeStatusChecker(SerdeConfig()), row)
    assert is_stand_in(OnceSerializer().loads_typed(row)) == (status.word in ("line", "lost"))


@pytest.mark.parametrize("kind", [kind for kind in VALUES if VALUES[kind][1] == "line"])
def test_the_line_that_is_proposed_helps(kind: str) -> None:
    row = OnceSerializer(SerdeConfig(compression="none")).dumps_typed(VALUES[kind][0])
    line = worst(TypeStatusChecker(SerdeConfig()), row).to_list
    config = SerdeConfig(allowed_types=(line,))
    assert worst(TypeStatusChecker(config), row).word in ("listed", "known")
    assert not is_stand_in(OnceSerializer(config).loads_typed(row))


def test_under_strict_only_what_is_listed_is_read() -> None:
    mention = Mention.of_head(head_bytes("record", f"{HERE}:Simple"))
    status = TypeStatusChecker(SerdeConfig(enforcement="strict")).of(mention)
    assert (status.word, status.to_list) == ("line", f"{HERE}:Simple")
    listed = SerdeConfig(enforcement="strict", allowed_types=(status.to_list,))
    assert TypeStatusChecker(listed).of(mention).word == "listed"
    types = TypeStatusChecker(SerdeConfig(enforcement="strict"), [(HERE, "Simple")])
    assert types.of(mention).word == "schema"


def test_a_class_that_moved_is_called_as_it_is_today() -> None:
    moved = Mention.of_head(head_bytes("record", "old.place:Thing"))
    assert TypeStatusChecker(SerdeConfig()).of(moved).word == "lost"
    aliases = {"old.place:Thing": f"{HERE}:Marked"}
    assert TypeStatusChecker(SerdeConfig(aliases=aliases)).of(moved) == TypeStatus(
        "storable", f"{HERE}:Marked"
    )


@pytest.mark.parametrize(
    ("name", "form", "reason"),
    [
        ("json:JSONDecoder", "own:nobody's", "was it an adapter?"),
        (f"{HERE}:Marked", "enum", "another kind of class today"),
        ("json:Gone", "record", "gone"),
        ("json.no_such:Gone", "record", "cannot be imported"),
        (f"{HERE}:Marked(", "model", "gone"),
        ("not_there_at_all:Thing", "model", "gone"),
        (f"{HERE}:local.<locals>.Local", "record", "made in a function"),
    ],
)
def test_what_is_lost_has_a_reason(name: str, form: str, reason: str) -> None:
    status = TypeStatusChecker(SerdeConfig()).of(Mention.of_head(head_bytes(form, name)))
    assert status.word == "lost"
    assert reason in status.reason


def test_a_package_that_is_there_and_not_imported_needs_a_line_and_stays_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [each for each in sys.modules if each.split(".")[0] == "wsgiref"]:
        monkeypatch.delitem(sys.modules, name)  # some other test needs it
    head = head_bytes("object", "wsgiref.util:FileWrapper")
    status = TypeStatusChecker(SerdeConfig()).of(Mention.of_head(head))
    assert (status.word, status.to_list) == ("line", "wsgiref.util:FileWrapper")
    assert "wsgiref" not in sys.modules


@pytest.mark.parametrize("name", ["leaf", "other"])
def test_a_module_in_folders_without_init_is_looked_for(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "outermost" / "middle" / "inner"
    folder.mkdir(parents=True)
    (folder / "leaf.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    mention = Mention.of_head(head_bytes("record", f"outermost.middle.inner.{name}:Thing"))
    word = "line" if name == "leaf" else "lost"
    assert TypeStatusChecker(SerdeConfig()).of(mention).word == word


def test_upstreams_names_lead_to_the_class_that_is_nested() -> None:
    mention = Mention(f"{HERE}:Inner", "msgpack", 5)
    assert TypeStatusChecker(SerdeConfig()).of(mention) == TypeStatus(
        "known", f"{HERE}:Outer.Inner"
    )
    assert TypeStatusChecker(SerdeConfig()).of_class(HERE, "Inner").name == f"{HERE}:Outer.Inner"


@pytest.mark.parametrize("name", ["pandas:Timestamp", "builtins:int", "langchain_core.load:x"])
def test_no_line_is_proposed_that_the_setting_refuses_or_that_does_not_help(name: str) -> None:
    status = TypeStatusChecker(SerdeConfig()).of(Mention(name, "msgpack", 0))
    assert status.to_list == "" or status.word == "always"


def test_asking_tells_nobody(caplog: pytest.LogCaptureFixture) -> None:
    TypeStatusChecker(SerdeConfig()).of(Mention.of_head(head_bytes("record", "not_there:Thing")))
    assert not caplog.records
