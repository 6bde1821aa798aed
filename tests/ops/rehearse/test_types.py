"""Classes of the state that move, change or go, in rows of a stock saver."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command

from langgraph_once import OnceSerializer, SerdeConfig
from langgraph_once.checkpoint import open_sqlite_saver
from langgraph_once.serde import Adapter
from langgraph_once_ops.rehearse import Report
from tests.ops.rehearse.rehearsed import kinds, rehearsed

PAGES = """
from typing import Generic, TypeVar
from pydantic import BaseModel

T = TypeVar("T")

class Item(BaseModel):
    count: int = 1

class Page(BaseModel, Generic[T]):
    items: list[T]

PageOfItems = Page[Item]
item = Item()
page = PageOfItems(items=[item])
"""


class Holding(TypedDict, total=False):
    held: Any


THREAD: Any = {"configurable": {"thread_id": "thread"}}

MODULE = """
import enum
from dataclasses import dataclass
from typing import Optional, TypedDict
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from pydantic import BaseModel

class Colour(enum.Enum):
    RED = 1
    {colours}

{classes}

class State(TypedDict, total=False):
    order: {order}
    note: {note}
    colour: Colour
    reply: str

def take(state):
    return {{"order": Order(3), "note": Note(text="t"), "colour": Colour.RED}}

def ask(state):
    return {{"reply": interrupt("?") + str(state["order"].count)}}

graph = StateGraph(State).add_node("take", take).add_node("ask", ask)
graph = graph.add_edge(START, "take").add_edge("take", "ask").compile()
"""
ORDER = "@dataclass\nclass Order:\n    count: int\n"
NOTE = "class Note(BaseModel):\n    text: str\n"


def module(folder: Path, name: str, classes: str = ORDER + NOTE, **given: str) -> Any:
    """A module of a project, whatever it was before."""
    shown = {"colours": "", "order": "Order", "note": "Note", **given}
    (folder / f"{name}.py").write_text(MODULE.format(classes=classes, **shown))
    sys.modules.pop(name, None)
    importlib.invalidate_caches()
    return importlib.import_module(name)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(str(tmp_path))
    old = module(tmp_path, "shop_state")
    with SqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite")) as saver:
        old.graph.copy(update={"checkpointer": saver}).invoke({}, THREAD)
    yield tmp_path
    for name in ("shop_state", "shop_moved"):
        sys.modules.pop(name, None)


def report(project: Path, new: Any) -> Report:
    return rehearsed(project / "threads.sqlite", new.graph)


def reply(project: Path, new: Any) -> Any:
    """What the thread says in the end, if it gets there."""
    with SqliteSaver.from_conn_string(str(project / "threads.sqlite")) as saver:
        graph = new.graph.copy(update={"checkpointer": saver})
        try:
            return graph.invoke(Command(resume="n"), THREAD)["reply"]
        except (AttributeError, KeyError) as error:
            return error


def test_a_class_that_moved_is_certain_and_an_alias_is_proposed(project: Path) -> None:
    (project / "shop_state.py").unlink()
    new = module(project, "shop_moved")
    del sys.modules["shop_state"]
    importlib.invalidate_caches()
    found = report(project, new)
    gone = {each.subject for each in found.sorted() if each.kind == "type-gone"}
    assert gone == {"shop_state:Order", "shop_state:Note", "shop_state:Colour"}
    assert found.aliases["shop_state:Order"] == "shop_moved:Order"
    assert found.fails_at("certain")
    assert isinstance(reply(project, new), Exception)


def test_a_class_that_is_gone(project: Path) -> None:
    new = module(project, "shop_state", NOTE + "Order = int\n", order="int")
    found = report(project, new)
    assert next((each.kind, each.subject) for each in found.sorted()) == (
        "type-gone",
        "shop_state:Order",
    )
    assert isinstance(reply(project, new), Exception)


def test_a_dataclass_that_cannot_be_rebuilt_gets_a_stub(project: Path) -> None:
    new = module(project, "shop_state", ORDER.replace("count", "number") + NOTE)
    found = report(project, new)
    assert "type-broken" in kinds(found)
    assert (
        "def upgrade_order(data: dict, from_version: int)"
        in (found.as_dict()["upgrades"]["shop_state:Order"])
    )
    assert isinstance(reply(project, new), Exception)


def test_a_model_that_now_requires_a_field(project: Path) -> None:
    new = module(project, "shop_state", ORDER + NOTE + "    lang: str\n")
    found = report(project, new)
    assert "type-incomplete" in kinds(found)
    assert not found.fails_at("certain")  # this node does not read it
    assert [*found.upgrades] == ["shop_state:Note"]


@pytest.mark.parametrize(
    ("classes", "given"),
    [
        (ORDER + NOTE, {"colours": "BLUE = 2"}),
        (ORDER + "    price: int = 0\n" + NOTE + "    lang: str = 'en'\n", {}),
        (ORDER.replace("int", "float") + NOTE, {}),
        (ORDER + NOTE, {"note": "Optional[Note]"}),
        (ORDER + "    def total(self):\n        'Says it.'\n" + NOTE, {}),
    ],
    ids=["enum member", "fields with defaults", "wider field", "optional", "method"],
)
def test_what_classes_may_gain(project: Path, classes: str, given: dict[str, str]) -> None:
    new = module(project, "shop_state", classes, **given)
    assert kinds(report(project, new)) == set()
    assert reply(project, new).startswith("n3")


def stored(path: Path, value: Any) -> Path:
    """A database of a stock saver with one thread, whose state holds a value."""
    builder: Any = StateGraph(Holding)
    builder.add_node("hold", lambda _: {"held": value})
    builder.add_edge(START, "hold")
    with SqliteSaver.from_conn_string(str(path)) as saver:
        builder.compile(checkpointer=saver).invoke({"held": None}, THREAD)
    return path


def holding() -> Any:
    builder: Any = StateGraph(Holding)
    return builder.add_node("hold", lambda _: {}).add_edge(START, "hold").compile()


def test_what_no_line_helps_gets_none(tmp_path: Path) -> None:
    adapter = Adapter(name="lost", types=(range,), encode=len, decode=range)
    path = tmp_path / "threads.sqlite"
    with open_sqlite_saver(path, serde=OnceSerializer(adapters=[adapter])) as saver:
        graph = holding().copy(update={"checkpointer": saver})
        graph.update_state(THREAD, {"held": range(3)}, as_node="hold")
    found = rehearsed(path, holding())
    assert kinds(found) == {"type-opaque"}
    assert (found.allowed_types, found.aliases) == (set(), {})
    assert not found.fails_at("likely")


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package whose generic model moves from one module to another."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(str(tmp_path))
    folder = tmp_path / "pages_project"
    folder.mkdir()
    (folder / "before.py").write_text(PAGES)
    yield folder
    for name in [each for each in sys.modules if each.startswith("pages_project")]:
        del sys.modules[name]


@pytest.mark.parametrize("value", ["page", "item"])
def test_an_alias_that_is_proposed_is_one_that_the_setting_takes_and_that_helps(
    pages: Path, value: str
) -> None:
    before = importlib.import_module("pages_project.before")
    path = stored(pages.parent / "threads.sqlite", getattr(before, value))
    (pages / "before.py").rename(pages / "after.py")
    del sys.modules["pages_project.before"]
    importlib.invalidate_caches()
    importlib.import_module("pages_project.after")
    found = rehearsed(path, holding())
    assert kinds(found) == {"type-gone"}
    config = SerdeConfig(aliases=found.aliases, allowed_types=(*found.allowed_types,))
    with open_sqlite_saver(path, serde=OnceSerializer(config)) as saver:
        held = holding().copy(update={"checkpointer": saver}).get_state(THREAD).values["held"]
    assert (type(held).__module__ == "pages_project.after") == bool(found.aliases)
    assert bool(found.aliases) == (value == "item")  # no setting names a parametrised class
